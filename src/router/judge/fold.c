/* A search in the generated table. ASCII never comes here: callers handle it themselves. */
#include "router/judge/fold.h"

#include "base/utf8.h"

#include <assert.h>
#include <string.h>

enum fold_kind { FOLD_DISTANCE, FOLD_ONE, FOLD_POOL };

/* In 8 bytes, because there are thousands: a code point has 21 bits, the distance of two 22. */
struct fold_run {
    uint64_t first : 21;
    int64_t value : 22;
    uint64_t count : 16;
    uint64_t stride : 2, kind : 2; /* of enum fold_kind */
};
static_assert(sizeof(struct fold_run) == 8, "runs of the table are packed");

#include "router/fold_table.h" /* generated in the build */

static const struct fold_run *find_run(uint32_t code_point)
{
    uint32_t page = code_point / FOLD_PAGE;
    if (page >= 8 * sizeof fold_pages || !(fold_pages[page / 8] >> page % 8 & 1))
        return NULL;
    size_t low = 0, high = FOLD_RUN_COUNT; /* the last run that begins at or before it */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (fold_runs[middle].first <= code_point)
            low = middle;
        else
            high = middle;
    }
    const struct fold_run *run = &fold_runs[low];
    uint32_t distance = code_point - (uint32_t)run->first;
    bool inside = code_point >= run->first && distance % run->stride == 0 &&
                  distance / run->stride < run->count;
    return inside ? run : NULL;
}

size_t fold_character(uint32_t code_point, char out[static FOLD_BYTES_MAX])
{
    const struct fold_run *run = find_run(code_point);
    if (!run)
        return utf8_encode(code_point, out);
    if (run->kind == FOLD_POOL) {
        const char *text = (const char *)fold_pool + run->value;
        size_t len = strlen(text);
        memcpy(out, text, len);
        return len;
    }
    int64_t target = run->kind == FOLD_ONE ? run->value : (int64_t)code_point + run->value;
    return target == 0 ? 0 : utf8_encode((uint32_t)target, out);
}

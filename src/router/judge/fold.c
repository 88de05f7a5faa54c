/* A search in the generated table. ASCII never comes here: callers handle it themselves. */
#include "router/judge/fold.h"

#include "base/bytes/packed.h"
#include "base/text/utf8.h"

#include <pthread.h>
#include <string.h>

enum fold_kind { FOLD_DISTANCE, FOLD_ONE, FOLD_POOL };

struct fold_run {
    uint32_t first;
    int32_t value;
    uint16_t count;
    uint8_t stride, kind; /* of enum fold_kind */
};

#include "router/fold_table.h" /* generated in the build */

static struct fold_run runs[FOLD_RUN_COUNT];
static const char *pool;

/* The generator says how they are written. */
static void read_runs(void)
{
    enum { N = FOLD_RUN_COUNT };
    const char *packed = packed_open(&fold_packed);
    const unsigned char *at = (const unsigned char *)packed;
    uint32_t first = 0;
    for (size_t i = 0; i < N; i++, at++) {
        first += at[0] | (uint32_t)at[N] << 8 | (uint32_t)at[2 * N] << 16;
        int32_t value = (int32_t)(at[3 * N] | (uint32_t)at[4 * N] << 8 | (uint32_t)at[5 * N] << 16);
        uint8_t kind = at[8 * N] >> 4;
        runs[i] = (struct fold_run){.first = first,
                                    .value = kind == FOLD_DISTANCE ? value - (int32_t)first : value,
                                    .count = (uint16_t)(at[6 * N] | at[7 * N] << 8),
                                    .stride = at[8 * N] & 15,
                                    .kind = kind};
    }
    pool = packed + 9 * N;
}

static const struct fold_run *find_run(uint32_t code_point)
{
    uint32_t page = code_point / FOLD_PAGE;
    if (page >= 8 * sizeof fold_pages || !(fold_pages[page / 8] >> page % 8 & 1))
        return NULL;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_runs);
    size_t low = 0, high = FOLD_RUN_COUNT; /* the last run that begins at or before it */
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (runs[middle].first <= code_point)
            low = middle;
        else
            high = middle;
    }
    const struct fold_run *run = &runs[low];
    uint32_t distance = code_point - run->first;
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
        const char *text = pool + run->value;
        size_t len = strlen(text);
        memcpy(out, text, len);
        return len;
    }
    int64_t target = run->kind == FOLD_ONE ? run->value : (int64_t)code_point + run->value;
    return target == 0 ? 0 : utf8_encode((uint32_t)target, out);
}

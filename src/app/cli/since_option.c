/* A span is turned into a moment when it is read, so that all parts of a verb use the same one. */
#include "app/cli/since_option.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/time/clock.h"

bool since_option_span(struct td_str text, uint64_t *ms)
{
    static const struct {
        char unit;
        uint64_t ms;
    } units[] = {{'s', 1000}, {'m', 60000}, {'h', 3600000}, {'d', 86400000}};
    uint64_t number;
    if (text.len < 2 || !str_to_u64(str_slice(text, 0, text.len - 1), &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].unit != text.data[text.len - 1])
            continue;
        if (number > UINT64_MAX / units[i].ms)
            return false;
        *ms = number * units[i].ms;
        return true;
    }
    return false;
}

static bool take(void *ctx, const char *text)
{
    struct since_option *since = ctx;
    uint64_t span_ms = UINT64_MAX, now_ms = clock_wall_ms(NULL);
    if (strcmp(text, "all") != 0 && !since_option_span(str_from(text), &span_ms))
        return false;
    since->text = text;
    since->wall_ms = span_ms > now_ms ? 0 : now_ms - span_ms;
    return true;
}

void since_option_init(struct since_option *since, const char *otherwise)
{
    since->each = (struct option_each){take, since, "90s, 15m, 24h, 7d or all"};
    bool read = take(since, otherwise);
    ASSERT(read);
    (void)read;
}

#include "router/learn/json_lines.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

enum td_status json_lines_each(struct td_str text, json_lines_fn *fn, void *ctx,
                               struct td_error *err)
{
    struct td_str line;
    ASSERT(fn != NULL);
    for (size_t number = 1; str_next(&text, '\n', &line); number++) {
        struct json *value = NULL;
        struct td_error wrong = {0};
        if (str_trim(line).len == 0)
            continue;
        enum td_status status = json_parse(line, &value, &wrong);
        if (status == TD_OK)
            status = fn(ctx, value, &wrong);
        json_free(value);
        if (status != TD_OK)
            return error_set(err, status, "line %zu: %s", number, wrong.message);
    }
    return TD_OK;
}

/* Reading a table of outcomes, one JSON object a line. Every number is checked for its range, so
 * that sums over all rows stay exact enough. */
#include "router/learn/outcomes.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "router/learn/json_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Money and time beyond are a slip, and sums of a million of them stay exact enough. */
#define NUMBER_MAX 1e9

static bool read_number(const struct json *value, double max, double *out)
{
    enum json_kind kind = json_kind_of(value);
    *out = kind == JSON_KIND_BOOL ? json_bool(value, false) : json_number(value, -1);
    return (kind == JSON_KIND_BOOL || kind == JSON_KIND_INT || kind == JSON_KIND_DOUBLE) &&
           *out >= 0 && *out <= max;
}

static enum td_status read_tier(const struct json *line, const char *name, struct tier_outcome *out,
                                struct td_error *err)
{
    const struct json *tier = json_get(line, name);
    if (json_kind_of(tier) != JSON_KIND_OBJECT)
        return error_set(err, TD_INVALID, "no \"%s\" with right, cost_usd and ms", name);
    if (!read_number(json_get(tier, "right"), 1, &out->right))
        return error_set(err, TD_INVALID, "%s.right is neither true, false nor from 0 to 1", name);
    if (!read_number(json_get(tier, "cost_usd"), NUMBER_MAX, &out->cost_usd))
        return error_set(err, TD_INVALID, "%s.cost_usd is no amount of US dollars", name);
    if (!read_number(json_get(tier, "ms"), NUMBER_MAX, &out->ms))
        return error_set(err, TD_INVALID, "%s.ms is no time in milliseconds", name);
    return TD_OK;
}

static enum td_status read_score(const struct json *object, const char *name, double *out,
                                 struct td_error *err)
{
    const struct json *value = json_get(object, name);
    enum json_kind kind = json_kind_of(value);
    *out = NAN;
    if (kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL)
        return TD_OK;
    if (kind == JSON_KIND_BOOL || !read_number(value, 1, out))
        return error_set(err, TD_INVALID, "\"%s\" is no number from 0 to 1", name);
    return TD_OK;
}

static enum td_status read_row(const struct json *line, struct outcome_row *out,
                               struct td_error *err)
{
    const struct json *id = json_get(line, "id");
    struct td_str text = json_text(id);
    memset(out, 0, sizeof *out);
    if (json_kind_of(line) != JSON_KIND_OBJECT)
        return error_set(err, TD_INVALID, "not an object");
    if ((json_kind_of(id) != JSON_KIND_ABSENT && json_kind_of(id) != JSON_KIND_TEXT) ||
        text.len >= sizeof out->id || (text.len && memchr(text.data, '\0', text.len)))
        return error_set(err, TD_INVALID, "\"id\" is no text of at most %zu bytes",
                         sizeof out->id - 1);
    if (text.len)
        memcpy(out->id, text.data, text.len);
    enum td_status status = read_tier(line, "local", &out->local, err);
    if (status == TD_OK)
        status = read_tier(line, "cloud", &out->cloud, err);
    if (status == TD_OK)
        status = read_score(json_get(line, "local"), "confidence", &out->confidence, err);
    if (status == TD_OK)
        status = read_score(line, "probe", &out->probe, err);
    if (status == TD_OK)
        status = read_score(line, "p_local", &out->p_local, err);
    return status;
}

static enum td_status add_row(void *ctx, const struct json *line, struct td_error *err)
{
    struct outcomes *out = ctx;
    if (out->count == OUTCOMES_MAX)
        return error_set(err, TD_LIMIT, "more than %u lines", OUTCOMES_MAX);
    if (out->count == out->capacity) {
        size_t capacity = out->capacity ? 2 * out->capacity : 256;
        void *grown = realloc(out->rows, capacity * sizeof *out->rows);
        if (!grown)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu outcomes", capacity);
        out->rows = grown;
        out->capacity = capacity;
    }
    enum td_status status = read_row(line, &out->rows[out->count], err);
    out->count += status == TD_OK;
    return status;
}

enum td_status outcomes_read(struct td_str jsonl, struct outcomes *out, struct td_error *err)
{
    memset(out, 0, sizeof *out);
    enum td_status status = json_lines_each(jsonl, add_row, out, err);
    if (status == TD_OK && out->count == 0)
        return error_set(err, TD_INVALID, "no outcomes in it");
    return status;
}

void outcomes_deinit(struct outcomes *outcomes)
{
    free(outcomes->rows);
    memset(outcomes, 0, sizeof *outcomes);
}

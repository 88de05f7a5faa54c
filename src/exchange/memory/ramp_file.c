/* Written whole and put in the place of the old file, so that a crash leaves either of the two. */
#include "exchange/memory/ramp_file.h"

#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 20)
#define PLAN_DIGITS 16

/* --- writing --- */

static struct json *numbers_json(const double *numbers, size_t count)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < count; i++)
        json_push(list, json_new_double(numbers[i]));
    return list;
}

static struct json *bets_json(const struct ramp_bets *bets)
{
    struct json *object = json_new_object();
    json_put(object, "judged", json_new_int(bets->judged));
    json_put(object, "loss_sum", json_new_double(bets->loss_sum));
    json_put(object, "over", numbers_json(bets->over, RAMP_BETS));
    json_put(object, "under", numbers_json(bets->under, RAMP_BETS));
    json_put(object, "waiting", numbers_json(bets->waiting, 2));
    return object;
}

static struct json *saved_json(const struct ramp_saved *saved)
{
    struct json *object = json_new_object(), *bets = json_new_array();
    char plan[PLAN_DIGITS + 1];
    snprintf(plan, sizeof plan, "%016" PRIx64, saved->plan);
    json_put(object, "route", json_new_cstr(saved->route));
    json_put(object, "plan", json_new_cstr(plan));
    json_put(object, "step", json_new_int(saved->state.step));
    json_put(object, "stopped", json_new_bool(saved->state.stopped));
    json_put(object, "cause", json_new_int((int64_t)saved->state.cause));
    json_put(object, "cause_loss", json_new_double(saved->state.cause_loss));
    json_put(object, "changed_ms", json_new_int((int64_t)saved->changed_wall_ms));
    for (int i = 0; i < RAMP_EVIDENCE_COUNT; i++)
        json_push(bets, bets_json(&saved->state.bets[i]));
    json_put(object, "bets", bets);
    return object;
}

enum td_status ramp_file_write(const char *path, const struct ramp_saved *list, size_t count,
                               struct td_error *err)
{
    struct buf text;
    struct json *array = json_new_array();
    buf_init(&text, FILE_BYTES_MAX);
    for (size_t i = 0; i < count; i++)
        json_push(array, saved_json(&list[i]));
    json_write(array, &text);
    json_free(array);
    enum td_status status = text.failed
                                ? error_set(err, TD_NO_MEMORY, "no memory to write the ramps")
                                : file_replace(path, buf_view(&text), 0600, err);
    buf_deinit(&text);
    return status;
}

/* --- reading --- */

static bool read_number(const struct json *value, double *out)
{
    *out = json_number(value, (double)NAN);
    return isfinite(*out);
}

static bool read_numbers(const struct json *list, double *out, size_t count)
{
    if (json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!read_number(json_at(list, i), &out[i]))
            return false;
    return true;
}

static bool read_count(const struct json *value, int64_t max, int64_t *out)
{
    *out = json_int(value, -1);
    return *out >= 0 && *out <= max;
}

static bool read_bets(const struct json *object, struct ramp_bets *out)
{
    int64_t judged;
    if (!read_count(json_get(object, "judged"), UINT32_MAX, &judged))
        return false;
    out->judged = (uint32_t)judged;
    return read_number(json_get(object, "loss_sum"), &out->loss_sum) &&
           read_numbers(json_get(object, "over"), out->over, RAMP_BETS) &&
           read_numbers(json_get(object, "under"), out->under, RAMP_BETS) &&
           read_numbers(json_get(object, "waiting"), out->waiting, 2);
}

static bool read_plan(struct td_str text, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        *out = *out << 4 | (uint64_t)digit;
    }
    return text.len == PLAN_DIGITS;
}

static bool read_saved(const struct json *object, struct ramp_saved *out)
{
    struct td_str route = json_text(json_get(object, "route"));
    const struct json *stopped = json_get(object, "stopped"), *bets = json_get(object, "bets");
    int64_t step, cause, changed;
    if (route.len == 0 || route.len >= sizeof out->route || memchr(route.data, '\0', route.len) ||
        !read_plan(json_text(json_get(object, "plan")), &out->plan) ||
        !read_count(json_get(object, "step"), RAMP_STEPS_MAX - 1, &step) ||
        !read_count(json_get(object, "cause"), RAMP_EVIDENCE_COUNT - 1, &cause) ||
        !read_count(json_get(object, "changed_ms"), INT64_MAX, &changed) ||
        !read_number(json_get(object, "cause_loss"), &out->state.cause_loss) ||
        json_kind_of(stopped) != JSON_KIND_BOOL || json_kind_of(bets) != JSON_KIND_ARRAY ||
        json_count(bets) != RAMP_EVIDENCE_COUNT)
        return false;
    memcpy(out->route, route.data, route.len);
    out->changed_wall_ms = (uint64_t)changed;
    out->state.step = (uint32_t)step;
    out->state.stopped = json_bool(stopped, false);
    out->state.cause = (enum ramp_evidence)cause;
    for (size_t i = 0; i < RAMP_EVIDENCE_COUNT; i++)
        if (!read_bets(json_at(bets, i), &out->state.bets[i]))
            return false;
    return true;
}

enum td_status ramp_file_parse(struct td_str text, struct ramp_saved **out, size_t *count,
                               struct td_error *err)
{
    struct json *list = NULL;
    *out = NULL;
    *count = 0;
    enum td_status status = json_parse(text, &list, err);
    if (status != TD_OK)
        return status;
    if (json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) > RAMP_FILE_MAX)
        status = error_set(err, TD_CORRUPT, "it is no list of at most %d ramps", RAMP_FILE_MAX);
    struct ramp_saved *saved = status == TD_OK ? calloc(json_count(list) + 1, sizeof *saved) : NULL;
    if (status == TD_OK && !saved)
        status = error_set(err, TD_NO_MEMORY, "no memory for ramps");
    for (size_t i = 0; status == TD_OK && i < json_count(list); i++)
        if (!read_saved(json_at(list, i), &saved[i]))
            status = error_set(err, TD_CORRUPT, "ramp %zu is malformed", i);
    if (status == TD_OK) {
        *count = json_count(list);
        *out = saved;
    } else {
        free(saved);
    }
    json_free(list);
    return status;
}

enum td_status ramp_file_read(const char *path, struct ramp_saved **out, size_t *count,
                              struct td_error *err)
{
    struct buf text;
    *out = NULL;
    *count = 0;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return TD_OK;
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&text, path, err);
    if (status == TD_OK) {
        status = ramp_file_parse(buf_view(&text), out, count, err);
        if (status != TD_OK)
            error_prefix(err, "%s (mend it, or move it away and all ramps begin again)", path);
    }
    buf_deinit(&text);
    return status;
}

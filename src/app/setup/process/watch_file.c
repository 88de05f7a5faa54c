/* Only what observations made is written. What follows from constants (levels, steps) comes from
 * the program that reads, so that a newer one may change it. Numbers are checked: an infinite sum
 * would be an alarm for ever. */
#include "app/setup/process/watch_file.h"

#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define FILE_BYTES_MAX (1u << 20)
#define VERSION 1
#define SUM_MAX 1e9

#define AT(member) offsetof(struct watch_kept, member)
static const struct number {
    const char *name;
    size_t at; /* of a double */
} numbers[] = {
    {"usual", AT(usual)},
    {"share", AT(share.cusum.sum)},
    {"sure_wrong", AT(sure_wrong.cusum.sum)},
    {"above", AT(calibration.above.sum)},
    {"below", AT(calibration.below.sum)},
    {"recent_share", AT(recent_share.value)},
    {"recent_error", AT(recent_error.value)},
    {"psi", AT(scores.psi)},
};
static const struct number counts[] = {
    /* of a uint32_t */
    {"seen", AT(seen)},
    {"escalated", AT(escalated)},
    {"recent_share_count", AT(recent_share.count)},
    {"recent_error_count", AT(recent_error.count)},
    {"scores_seen", AT(scores.seen)},
};
static const struct number flags[] = {
    /* of a bool */
    {"share_alarm", AT(share.cusum.alarm)},       {"sure_wrong_alarm", AT(sure_wrong.cusum.alarm)},
    {"above_alarm", AT(calibration.above.alarm)}, {"below_alarm", AT(calibration.below.alarm)},
    {"scores_learnt", AT(scores.learnt)},         {"scores_alarm", AT(scores.alarm)},
};
#undef AT
#define COUNT_OF(table) (sizeof(table) / sizeof *(table))

static void *at(struct watch_kept *kept, const struct number *row)
{
    return (char *)kept + row->at;
}

/* --- writing --- */

static struct json *time_json(uint64_t wall_ms)
{
    char iso[25];
    clock_format_iso8601(wall_ms, iso);
    return wall_ms ? json_new_cstr(iso) : json_new_null();
}

struct json *watch_file_alarm(const struct watch_alarm *alarm)
{
    struct json *object = json_new_object();
    json_put(object, "alarm", json_new_int((int64_t)alarm->number));
    json_put(object, "kind", json_new_cstr(watch_kind_name(alarm->kind)));
    json_put(object, "subject", json_new_cstr(*alarm->subject ? alarm->subject : NULL));
    json_put(object, "begun", time_json(alarm->begin_wall_ms));
    json_put(object, "ended", time_json(alarm->end_wall_ms));
    json_put(object, "value", json_new_double(alarm->value));
    json_put(object, "usual", json_new_double(alarm->usual));
    json_put(object, "text", json_new_cstr(alarm->text));
    return object;
}

static struct json *kept_alarm(const struct watch_alarm *alarm)
{
    struct json *object = watch_file_alarm(alarm);
    json_put(object, "caller", json_new_cstr(alarm->caller));
    json_put(object, "begin_ms", json_new_int((int64_t)alarm->begin_wall_ms));
    json_put(object, "end_ms", json_new_int((int64_t)alarm->end_wall_ms));
    json_put(object, "told", json_new_int((int64_t)alarm->told));
    return object;
}

/* The scores as they came, until there are enough to compare with. */
static void put_scores(struct json *root, const struct drift_scores *scores)
{
    struct json *first = json_new_array(), *bound = json_new_array();
    struct json *expected = json_new_array(), *actual = json_new_array();
    for (size_t i = 0; !scores->learnt && i < scores->seen; i++)
        json_push(first, json_new_double(scores->first[i]));
    for (size_t i = 0; i < DRIFT_BINS; i++) {
        if (i + 1 < DRIFT_BINS)
            json_push(bound, json_new_double(scores->bound[i]));
        json_push(expected, json_new_int(scores->expected[i]));
        json_push(actual, json_new_int(scores->actual[i]));
    }
    json_put(root, "first", first);
    json_put(root, "bound", bound);
    json_put(root, "expected", expected);
    json_put(root, "actual", actual);
}

static struct json *kept_json(struct watch_kept *kept)
{
    struct json *root = json_new_object(), *alarms = json_new_array(), *begun = json_new_object();
    json_put(root, "version", json_new_int(VERSION));
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        json_put(root, numbers[i].name, json_new_double(*(double *)at(kept, &numbers[i])));
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        json_put(root, counts[i].name, json_new_int(*(uint32_t *)at(kept, &counts[i])));
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        json_put(root, flags[i].name, json_new_bool(*(bool *)at(kept, &flags[i])));
    put_scores(root, &kept->scores);
    for (size_t i = 0; i < WATCH_KIND_COUNT; i++)
        json_put(begun, watch_kind_name((enum watch_kind)i),
                 json_new_int((int64_t)kept->alarms.begun[i]));
    json_put(root, "begun", begun);
    json_put(root, "number", json_new_int((int64_t)kept->alarms.number));
    for (size_t i = 0; i < kept->alarms.count; i++)
        json_push(alarms, kept_alarm(&kept->alarms.items[i]));
    json_put(root, "alarms", alarms);
    return root;
}

enum td_status watch_file_write(const char *path, const struct watch_kept *kept,
                                struct td_error *err)
{
    struct buf text;
    struct watch_kept *copy = malloc(sizeof *copy);
    if (!copy)
        return error_set(err, TD_NO_MEMORY, "no memory to write %s", path);
    *copy = *kept;
    struct json *root = kept_json(copy);
    buf_init(&text, FILE_BYTES_MAX);
    json_write(root, &text);
    json_free(root);
    free(copy);
    enum td_status status = text.failed
                                ? error_set(err, TD_NO_MEMORY, "no memory to write %s", path)
                                : file_replace(path, buf_view(&text), 0600, err);
    buf_deinit(&text);
    return status;
}

/* --- reading --- */

static bool read_number(const struct json *value, double *out)
{
    *out = json_number(value, (double)NAN);
    return fabs(*out) <= SUM_MAX; /* false for NAN */
}

static bool read_count(const struct json *value, uint64_t max, uint64_t *out)
{
    int64_t number = json_int(value, -1);
    *out = (uint64_t)number;
    return number >= 0 && (uint64_t)number <= max;
}

static bool read_list(const struct json *list, size_t count, double *numbers_out,
                      uint32_t *counts_out)
{
    if (json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 0;
        if (numbers_out ? !read_number(json_at(list, i), &numbers_out[i])
                        : !read_count(json_at(list, i), DRIFT_WINDOW, &number))
            return false;
        if (counts_out)
            counts_out[i] = (uint32_t)number;
    }
    return true;
}

static bool read_scores(const struct json *root, struct drift_scores *out)
{
    return out->seen < DRIFT_WINDOW &&
           read_list(json_get(root, "first"), out->learnt ? 0 : out->seen, out->first, NULL) &&
           read_list(json_get(root, "bound"), DRIFT_BINS - 1, out->bound, NULL) &&
           read_list(json_get(root, "expected"), DRIFT_BINS, NULL, out->expected) &&
           read_list(json_get(root, "actual"), DRIFT_BINS, NULL, out->actual);
}

/* A text that fits, without control characters: it is printed to terminals. */
static bool read_text(const struct json *value, char *out, size_t size)
{
    struct td_str text = json_text(value);
    if (text.len >= size)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < 0x20 || text.data[i] == 0x7f)
            return false;
    if (text.len)
        memcpy(out, text.data, text.len);
    out[text.len] = '\0';
    return true;
}

static bool read_kind(const struct json *value, enum watch_kind *out)
{
    for (int kind = 0; kind < WATCH_KIND_COUNT; kind++)
        if (str_equal(json_text(value), str_from(watch_kind_name((enum watch_kind)kind)))) {
            *out = (enum watch_kind)kind;
            return true;
        }
    return false;
}

static bool read_alarm(const struct json *object, uint64_t newest, struct watch_alarm *out)
{
    uint64_t told;
    if (!read_kind(json_get(object, "kind"), &out->kind) ||
        !read_count(json_get(object, "alarm"), newest, &out->number) ||
        !read_count(json_get(object, "begin_ms"), INT64_MAX, &out->begin_wall_ms) ||
        !read_count(json_get(object, "end_ms"), INT64_MAX, &out->end_wall_ms) ||
        !read_count(json_get(object, "told"), WATCH_TOLD_BEGUN | WATCH_TOLD_ENDED, &told) ||
        !read_number(json_get(object, "value"), &out->value) ||
        !read_number(json_get(object, "usual"), &out->usual))
        return false;
    out->told = (unsigned)told;
    return read_text(json_get(object, "caller"), out->caller, sizeof out->caller) &&
           read_text(json_get(object, "subject"), out->subject, sizeof out->subject) &&
           read_text(json_get(object, "text"), out->text, sizeof out->text);
}

static bool read_alarms(const struct json *root, struct alarms *out)
{
    const struct json *list = json_get(root, "alarms"), *begun = json_get(root, "begun");
    if (!read_count(json_get(root, "number"), INT64_MAX, &out->number) ||
        json_kind_of(list) != JSON_KIND_ARRAY || json_count(list) > WATCH_ALARMS_MAX)
        return false;
    for (size_t i = 0; i < WATCH_KIND_COUNT; i++) /* a kind that is new has begun nothing */
        if (!read_count(json_get(begun, watch_kind_name((enum watch_kind)i)), INT64_MAX,
                        &out->begun[i]))
            out->begun[i] = 0;
    out->count = json_count(list);
    for (size_t i = 0; i < out->count; i++)
        if (!read_alarm(json_at(list, i), out->number, &out->items[i]))
            return false;
    return true;
}

static bool read_kept(const struct json *root, struct watch_kept *kept)
{
    uint64_t version, count;
    if (!read_count(json_get(root, "version"), VERSION, &version) || version != VERSION)
        return false;
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (!read_number(json_get(root, numbers[i].name), at(kept, &numbers[i])))
            return false;
    for (size_t i = 0; i < COUNT_OF(counts); i++) {
        if (!read_count(json_get(root, counts[i].name), UINT32_MAX, &count))
            return false;
        *(uint32_t *)at(kept, &counts[i]) = (uint32_t)count;
    }
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        *(bool *)at(kept, &flags[i]) = json_bool(json_get(root, flags[i].name), false);
    return kept->usual >= 0 && kept->usual <= 1 && read_scores(root, &kept->scores) &&
           read_alarms(root, &kept->alarms);
}

enum td_status watch_file_read(const char *path, struct watch_kept *kept, struct td_error *err)
{
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return TD_OK;
    struct buf text;
    struct json *root = NULL;
    struct watch_kept *read = malloc(sizeof *read);
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = read ? buf_read_file(&text, path, err)
                                 : error_set(err, TD_NO_MEMORY, "no memory to read %s", path);
    if (status == TD_OK)
        status = json_parse(buf_view(&text), &root, err);
    if (status == TD_OK) {
        *read = *kept;
        if (read_kept(root, read))
            *kept = *read;
        else
            status = error_set(err, TD_CORRUPT, "%s is malformed", path);
    }
    json_free(root);
    buf_deinit(&text);
    free(read);
    return status;
}

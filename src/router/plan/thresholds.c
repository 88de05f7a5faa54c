/* The file of tuned thresholds, and the table that says which setting of which gate it replaces. To
 * let a file tune another gate, add a code to enum threshold_gate and a row here. Reading refuses
 * what is not exactly the format: a wrong threshold would silently change what leaves the
 * device. */
#include "router/plan/thresholds.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define VERSION 1

#define SETTING(member) offsetof(struct gate_settings, member)
#define NO_SWITCH SIZE_MAX

static const struct {
    const char *name, *score;
    size_t bar;       /* the setting that the file's threshold replaces */
    size_t turned_on; /* the switch that a file turns on; NO_SWITCH: the bar alone decides */
    size_t given;     /* the mark that the number is the operator's; NO_SWITCH: it always is */
} gates_of[THRESHOLD_GATE_COUNT] = {
    [THRESHOLD_G0] = {"g0", "p_local", SETTING(g0_p_local_under), NO_SWITCH, NO_SWITCH},
    [THRESHOLD_G1] = {"g1", "probe", SETTING(g1_probe_min), SETTING(g1_on), NO_SWITCH},
    [THRESHOLD_G3] = {"g3", "confidence", SETTING(g3_confidence_min), SETTING(g3_on),
                      SETTING(g3_given)},
};

const char *thresholds_gate_name(enum threshold_gate gate)
{
    ASSERT((unsigned)gate < THRESHOLD_GATE_COUNT);
    return gates_of[gate].name;
}

const char *thresholds_score_name(enum threshold_gate gate)
{
    ASSERT((unsigned)gate < THRESHOLD_GATE_COUNT);
    return gates_of[gate].score;
}

bool thresholds_gate_find(const char *name, enum threshold_gate *out)
{
    for (int gate = 0; name && gate < THRESHOLD_GATE_COUNT; gate++) {
        if (strcmp(gates_of[gate].name, name) != 0)
            continue;
        *out = (enum threshold_gate)gate;
        return true;
    }
    return false;
}

/* A number from 0 to 1, or null: INFINITY. */
static bool read_threshold(const struct json *object, double *out)
{
    const struct json *value = json_get(object, "threshold");
    enum json_kind kind = json_kind_of(value);
    *out = kind == JSON_KIND_NULL ? (double)INFINITY : json_number(value, -1);
    return kind == JSON_KIND_NULL || (*out >= 0 && *out <= 1);
}

static bool read_samples(const struct json *object, uint32_t *out)
{
    int64_t number = json_int(json_get(object, "samples"), -1);
    *out = (uint32_t)number;
    return number >= 0 && number <= UINT32_MAX;
}

static enum td_status read_task(const struct json *item, size_t index, struct thresholds *out,
                                struct td_error *err)
{
    struct threshold_task *task = &out->tasks[out->task_count];
    struct td_str name = json_text(json_get(item, "task"));
    if (name.len == 0 || name.len >= sizeof task->task || memchr(name.data, '\0', name.len))
        return error_set(err, TD_INVALID, "tasks[%zu].task is no name of 1 to %zu bytes", index,
                         sizeof task->task - 1);
    memcpy(task->task, name.data, name.len);
    for (size_t i = 0; i < out->task_count; i++)
        if (strcmp(out->tasks[i].task, task->task) == 0)
            return error_set(err, TD_INVALID, "tasks[%zu]: a second threshold for '%s'", index,
                             task->task);
    if (!read_threshold(item, &task->threshold))
        return error_set(err, TD_INVALID, "tasks[%zu].threshold is neither null nor from 0 to 1",
                         index);
    if (!read_samples(item, &task->samples))
        return error_set(err, TD_INVALID, "tasks[%zu].samples is no count", index);
    out->task_count++;
    return TD_OK;
}

static enum td_status read_tasks(const struct json *root, struct thresholds *out,
                                 struct td_error *err)
{
    const struct json *tasks = json_get(root, "tasks");
    enum json_kind kind = json_kind_of(tasks);
    if (kind != JSON_KIND_ABSENT && kind != JSON_KIND_ARRAY)
        return error_set(err, TD_INVALID, "tasks is no list");
    if (json_count(tasks) > THRESHOLDS_TASKS_MAX)
        return error_set(err, TD_INVALID, "tasks has more than %d entries", THRESHOLDS_TASKS_MAX);
    enum td_status status = TD_OK;
    for (size_t i = 0; i < json_count(tasks) && status == TD_OK; i++)
        status = read_task(json_at(tasks, i), i, out, err);
    return status;
}

static enum td_status read_root(const struct json *root, struct thresholds *out,
                                struct td_error *err)
{
    int64_t version = json_int(json_get(root, "tandem_thresholds"), -1);
    if (version < 0)
        return error_set(err, TD_INVALID,
                         "not a file of thresholds: no \"tandem_thresholds\" in it; 'tandem router "
                         "tune' writes one");
    if (version != VERSION)
        return error_set(err, TD_UNSUPPORTED, "thresholds of version %lld; this program reads %d",
                         (long long)version, VERSION);
    if (!thresholds_gate_find(json_cstr(json_get(root, "gate")), &out->gate))
        return error_set(err, TD_INVALID, "gate is none of g0, g1, g3");
    out->risk = json_number(json_get(root, "risk"), -1);
    if (!(out->risk > 0 && out->risk < 1))
        return error_set(err, TD_INVALID, "risk is not between 0 and 1");
    if (!read_samples(root, &out->samples))
        return error_set(err, TD_INVALID, "samples is no count");
    if (!read_threshold(root, &out->threshold))
        return error_set(err, TD_INVALID, "threshold is neither null nor from 0 to 1");
    const struct json *bound = json_get(root, "confidence");
    struct td_str fingerprint = json_text(bound);
    bool given = json_kind_of(bound) != JSON_KIND_ABSENT && json_kind_of(bound) != JSON_KIND_NULL;
    if (given && fingerprint.len != THRESHOLDS_FINGERPRINT_BYTES - 1)
        return error_set(err, TD_INVALID, "confidence is no fingerprint of 16 digits");
    if (given)
        memcpy(out->confidence, fingerprint.data, fingerprint.len);
    return read_tasks(root, out, err);
}

enum td_status thresholds_read(struct td_str text, struct thresholds *out, struct td_error *err)
{
    struct json *root = NULL;
    memset(out, 0, sizeof *out);
    enum td_status status = json_parse(text, &root, err);
    if (status == TD_OK)
        status = read_root(root, out, err);
    json_free(root);
    return status;
}

static struct json *threshold_json(double threshold)
{
    return json_new_double(threshold); /* INFINITY becomes null */
}

void thresholds_write(const struct thresholds *thresholds, struct buf *out)
{
    struct json *root = json_new_object(), *tasks = json_new_array();
    json_put(root, "tandem_thresholds", json_new_int(VERSION));
    json_put(root, "gate", json_new_cstr(thresholds_gate_name(thresholds->gate)));
    json_put(root, "risk", json_new_double(thresholds->risk));
    json_put(root, "samples", json_new_int(thresholds->samples));
    json_put(root, "threshold", threshold_json(thresholds->threshold));
    if (*thresholds->confidence)
        json_put(root, "confidence", json_new_cstr(thresholds->confidence));
    for (size_t i = 0; i < thresholds->task_count; i++) {
        const struct threshold_task *task = &thresholds->tasks[i];
        struct json *item = json_new_object();
        json_put(item, "task", json_new_cstr(task->task));
        json_put(item, "samples", json_new_int(task->samples));
        json_put(item, "threshold", threshold_json(task->threshold));
        json_push(tasks, item);
    }
    json_put(root, "tasks", tasks);
    json_write(root, out);
    buf_append_char(out, '\n');
    json_free(root);
}

double thresholds_find(const struct thresholds *thresholds, const char *task)
{
    for (size_t i = 0; i < thresholds->task_count; i++)
        if (strcmp(thresholds->tasks[i].task, task) == 0)
            return thresholds->tasks[i].threshold;
    return thresholds->threshold;
}

void thresholds_apply(struct gate_settings *gates, const char *task)
{
    for (int gate = 0; gate < THRESHOLD_GATE_COUNT; gate++) {
        if (!gates->thresholds[gate])
            continue;
        *(double *)((char *)gates + gates_of[gate].bar) =
            thresholds_find(gates->thresholds[gate], task);
        if (gates_of[gate].turned_on != NO_SWITCH)
            *(bool *)((char *)gates + gates_of[gate].turned_on) = true;
        if (gates_of[gate].given != NO_SWITCH)
            *(bool *)((char *)gates + gates_of[gate].given) = true;
    }
}

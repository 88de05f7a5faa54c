/* Reading judged answers, one JSON object a line. Every line is checked; one broken line refuses
 * the file, because a threshold that is tuned to a part of the answers would promise too much. */
#include "router/learn/judged_answers.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "router/learn/json_lines.h"

#include <stdlib.h>
#include <string.h>

static enum td_status find_task(struct judged_answers *answers, struct td_str name, int32_t *out,
                                struct td_error *err)
{
    *out = -1;
    if (name.len == 0)
        return TD_OK;
    if (name.len >= SIGNALS_TASK_BYTES || memchr(name.data, '\0', name.len))
        return error_set(err, TD_INVALID, "\"task\" is no name of 1 to %d bytes",
                         SIGNALS_TASK_BYTES - 1);
    size_t task = 0;
    while (task < answers->task_count && !str_equal(str_from(answers->task_names[task]), name))
        task++;
    if (task == THRESHOLDS_TASKS_MAX)
        return error_set(err, TD_LIMIT, "more than %d different tasks", THRESHOLDS_TASKS_MAX);
    if (task == answers->task_count)
        memcpy(answers->task_names[answers->task_count++], name.data, name.len);
    *out = (int32_t)task;
    return TD_OK;
}

enum td_status judged_answers_add(struct judged_answers *answers, double score, double right,
                                  struct td_str task, struct td_error *err)
{
    if (!(score >= 0 && score <= 1) || !(right >= 0 && right <= 1))
        return error_set(err, TD_INVALID, "a score and its \"right\" are from 0 to 1");
    if (answers->count == JUDGED_ANSWERS_MAX)
        return error_set(err, TD_LIMIT, "more than %u answers", JUDGED_ANSWERS_MAX);
    if (answers->count == answers->capacity) {
        size_t capacity = answers->capacity ? 2 * answers->capacity : 256;
        void *grown = realloc(answers->items, capacity * sizeof *answers->items);
        if (!grown)
            return error_set(err, TD_NO_MEMORY, "no memory for %zu answers", capacity);
        answers->items = grown;
        answers->capacity = capacity;
    }
    struct judged_answer answer = {score, 1 - right, -1};
    enum td_status status = find_task(answers, task, &answer.task, err);
    if (status == TD_OK)
        answers->items[answers->count++] = answer;
    return status;
}

/* True, false or a number; NAN for anything else. */
static bool read_share(const struct json *value, double *out)
{
    enum json_kind kind = json_kind_of(value);
    if (kind == JSON_KIND_BOOL)
        *out = json_bool(value, false);
    else if (kind == JSON_KIND_INT || kind == JSON_KIND_DOUBLE)
        *out = json_number(value, -1);
    else
        return false;
    return true;
}

struct reading {
    const char *score_name;
    struct judged_answers *out;
};

static enum td_status read_line(void *ctx, const struct json *line, struct td_error *err)
{
    const struct reading *reading = ctx;
    const char *score_name = reading->score_name;
    double score, right;
    const struct json *task = json_get(line, "task");
    if (json_kind_of(line) != JSON_KIND_OBJECT)
        return error_set(err, TD_INVALID, "not an object");
    if (json_kind_of(json_get(line, score_name)) == JSON_KIND_BOOL ||
        !read_share(json_get(line, score_name), &score))
        return error_set(err, TD_INVALID, "\"%s\" is no number from 0 to 1", score_name);
    if (!read_share(json_get(line, "right"), &right))
        return error_set(err, TD_INVALID,
                         "\"right\" is neither true, false nor a number from 0 to 1");
    if (json_kind_of(task) != JSON_KIND_ABSENT && json_kind_of(task) != JSON_KIND_NULL &&
        json_kind_of(task) != JSON_KIND_TEXT)
        return error_set(err, TD_INVALID, "\"task\" is no name");
    return judged_answers_add(reading->out, score, right, json_text(task), err);
}

enum td_status judged_answers_read(struct td_str jsonl, enum threshold_gate gate,
                                   struct judged_answers *out, struct td_error *err)
{
    memset(out, 0, sizeof *out);
    struct reading reading = {.score_name = thresholds_score_name(gate), .out = out};
    enum td_status status = json_lines_each(jsonl, read_line, &reading, err);
    if (status == TD_OK && out->count == 0)
        return error_set(err, TD_INVALID, "no judged answers in it");
    return status;
}

void judged_answers_deinit(struct judged_answers *answers)
{
    free(answers->items);
    memset(answers, 0, sizeof *answers);
}

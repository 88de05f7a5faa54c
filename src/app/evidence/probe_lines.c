/* Runs each prompt through the model in blocks of rows, and keeps only what the probe will read:
 * the state of the last token, the mean over all tokens, or both. */
#include "app/evidence/probe_lines.h"

#include "app/cli/prompt_line.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

/* Rows of states read at a time. */
#define ROWS_AT_ONCE 64

struct reading {
    const struct td_model *model;
    const struct probe_input *input;
    struct td_session *session;
    float *rows; /* [ROWS_AT_ONCE, embedding] */
    double *sum; /* [embedding] */
    struct probe_lines *out;
};

static enum td_status run_prompt(struct reading *reading, const int32_t *ids, size_t count,
                                 float *out, struct td_error *err)
{
    size_t wide = td_model_get_info(reading->model)->embedding_size;
    enum td_status status = TD_OK;
    td_session_truncate(reading->session, 0);
    memset(reading->sum, 0, wide * sizeof *reading->sum);
    for (size_t at = 0, rows; status == TD_OK && at < count; at += rows) {
        rows = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        status = td_session_forward_hidden(reading->session, ids + at, rows, reading->input->layer,
                                           reading->rows, rows, err);
        for (size_t i = 0; status == TD_OK && i < rows * wide; i++)
            reading->sum[i % wide] += (double)reading->rows[i];
        if (status == TD_OK && reading->input->last && at + rows == count)
            memcpy(out, reading->rows + (rows - 1) * wide, wide * sizeof *out);
    }
    if (reading->input->mean && status == TD_OK)
        for (size_t i = 0; i < wide; i++)
            out[(reading->input->last ? wide : 0) + i] = (float)(reading->sum[i] / (double)count);
    return status;
}

static enum td_status read_line(struct reading *reading, struct td_str text, struct td_error *err)
{
    struct json *line = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    struct probe_lines *out = reading->out;
    enum td_status status = prompt_line_read(reading->model, text, &line, &ids, &count, err);
    if (status == TD_OK && json_kind_of(json_get(line, "right")) != JSON_KIND_BOOL)
        status = error_set(err, TD_INVALID, "'right' must be true or false");
    if (status == TD_OK)
        status = run_prompt(reading, ids, count, out->states + out->count * out->width, err);
    if (status == TD_OK) {
        out->right[out->count] = json_bool(json_get(line, "right"), false);
        out->right_count += out->right[out->count++];
    }
    free(ids);
    json_free(line);
    return status;
}

static size_t count_lines(struct td_str text)
{
    struct td_str line;
    size_t count = 0;
    while (str_next(&text, '\n', &line))
        count += str_trim(line).len > 0;
    return count;
}

static enum td_status prepare(struct reading *reading, size_t count, uint32_t threads,
                              struct td_error *err)
{
    struct probe_lines *out = reading->out;
    size_t wide = td_model_get_info(reading->model)->embedding_size;
    out->width = wide * ((size_t)reading->input->last + (size_t)reading->input->mean);
    if (count > PROBE_LINES_MAX || count > PROBE_STATES_BYTES_MAX / (out->width * sizeof(float)))
        return error_set(err, TD_LIMIT, "%zu lines of %zu numbers are too many", count, out->width);
    out->states = calloc(count ? count : 1, out->width * sizeof *out->states);
    out->right = calloc(count ? count : 1, sizeof *out->right);
    reading->rows = calloc(ROWS_AT_ONCE * wide, sizeof *reading->rows);
    reading->sum = calloc(wide, sizeof *reading->sum);
    if (!out->states || !out->right || !reading->rows || !reading->sum)
        return error_set(err, TD_NO_MEMORY, "no memory for the states of %zu lines", count);
    struct td_session_options options = {.thread_count = threads, .kv_type = TD_KV_F32};
    return td_session_new(reading->model, &options, &reading->session, err);
}

enum td_status probe_lines_read(const struct td_model *model,
                                const struct probe_lines_options *options,
                                const struct probe_input *input, struct probe_lines *out,
                                struct td_error *err)
{
    struct reading reading = {.model = model, .input = input, .out = out};
    *out = (struct probe_lines){0};
    enum td_status status = prepare(&reading, count_lines(options->lines), options->threads, err);
    struct td_str rest = options->lines, text;
    for (size_t number = 1; status == TD_OK && str_next(&rest, '\n', &text); number++) {
        if (str_trim(text).len == 0)
            continue;
        status = read_line(&reading, text, err);
        if (status != TD_OK)
            error_prefix(err, "%s, line %zu", options->path, number);
    }
    td_session_free(reading.session);
    free(reading.rows);
    free(reading.sum);
    return status;
}

void probe_lines_deinit(struct probe_lines *lines)
{
    free(lines->states);
    free(lines->right);
    *lines = (struct probe_lines){0};
}

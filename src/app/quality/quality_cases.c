#include "app/quality/quality_cases.h"

#include "app/cli/prompt_line.h"
#include "app/evidence/answer_check.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdlib.h>

static size_t count_lines(struct td_str text)
{
    struct td_str line;
    size_t count = 0;
    while (str_next(&text, '\n', &line))
        count += str_trim(line).len > 0;
    return count;
}

/* The last user message that is a text. */
static struct td_str question_of(const struct json *line)
{
    const struct json *messages = json_get(line, "messages");
    for (size_t i = json_count(messages); i > 0; i--) {
        const struct json *message = json_at(messages, i - 1);
        struct td_str content = json_text(json_get(message, "content"));
        if (str_equal(json_text(json_get(message, "role")), STR("user")) && content.len > 0)
            return content;
    }
    return STR("");
}

static enum td_status check_labels(const struct json *labels, struct td_error *err)
{
    if (json_absent(labels))
        return TD_OK;
    size_t count = json_count(labels);
    bool good = json_kind_of(labels) == JSON_KIND_ARRAY && count >= 2 && count <= TD_LABELS_MAX;
    for (size_t i = 0; good && i < count; i++)
        good = json_text(json_at(labels, i)).len > 0;
    return good ? TD_OK
                : error_set(err, TD_INVALID, "'labels' must be a list of 2 to %d texts",
                            TD_LABELS_MAX);
}

static enum td_status read_line(const struct td_model *model, struct td_str text,
                                struct quality_case *out, struct td_error *err)
{
    bool right;
    enum td_status status = prompt_line_read(model, text, &out->line, &out->ids, &out->count, err);
    if (status == TD_OK)
        status = check_labels(json_get(out->line, "labels"), err);
    out->is_known = !json_absent(json_get(out->line, "answer"));
    if (status == TD_OK && out->is_known) /* whether the line can be checked at all */
        status = answer_check(out->line, STR(""), &right, err);
    out->question = question_of(out->line);
    out->task = json_text(json_get(out->line, "task"));
    return status;
}

enum td_status quality_cases_read(const struct td_model *model,
                                  const struct quality_cases_options *options,
                                  struct quality_cases *out, struct td_error *err)
{
    *out = (struct quality_cases){.line_count = count_lines(options->lines)};
    size_t most = out->line_count < options->cases_max ? out->line_count : options->cases_max;
    out->items = calloc(most + 1, sizeof *out->items);
    if (out->items == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu prompts", most);
    struct td_str rest = options->lines, text;
    enum td_status status = TD_OK;
    size_t seen = 0;
    for (size_t number = 1; status == TD_OK && str_next(&rest, '\n', &text); number++) {
        if (str_trim(text).len == 0)
            continue;
        size_t at = seen++;
        if (at * most / out->line_count == seen * most / out->line_count)
            continue; /* not of the sample */
        struct quality_case *item = &out->items[out->count++];
        status = read_line(model, text, item, err);
        if (status != TD_OK)
            error_prefix(err, "%s, line %zu", options->name, number);
        if (status == TD_OK && item->count > options->tokens_max) {
            json_free(item->line);
            free(item->ids);
            *item = (struct quality_case){0};
            out->count--;
            out->long_count++;
        }
    }
    if (status == TD_OK && out->count == 0)
        status = error_set(err, TD_INVALID, "%s: no prompt%s", options->name,
                           out->long_count ? " fits the context" : "");
    return status;
}

void quality_cases_deinit(struct quality_cases *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        json_free(cases->items[i].line);
        free(cases->items[i].ids);
    }
    free(cases->items);
    *cases = (struct quality_cases){0};
}

/* Each prompt is answered at temperature 0. What the decode loop knows is kept at the end of the
 * answer, and at fixed numbers of tokens on the way, because a gate judges running answers as
 * well as complete ones. */
#include "app/evidence/confidence_answers.h"

#include "app/cli/command.h"
#include "app/cli/prompt_line.h"
#include "app/evidence/tier_answers.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "exchange/limits/confidence.h"
#include "router/plan/facts.h"

#include <stdlib.h>

#define ANSWER_BYTES_MAX (1u << 20)

struct reading {
    const struct confidence_source *source;
    const struct confidence_answers_options *options;
    struct td_session *session;
    struct confidence_answers *out;
    struct confidence confidence; /* of the answer under way */
    struct buf text;
    bool no_memory;
};

/* What counts of a character when answers are compared: its lower-case form, 0 for punctuation. */
static unsigned char plain(unsigned char c)
{
    return ascii_is_alnum(c) || c >= 0x80 ? (unsigned char)ascii_lower(c) : 0;
}

bool confidence_answers_same(struct td_str a, struct td_str b)
{
    for (size_t i = 0, j = 0;;) {
        while (i < a.len && !plain((unsigned char)a.data[i]))
            i++;
        while (j < b.len && !plain((unsigned char)b.data[j]))
            j++;
        if (i == a.len || j == b.len)
            return i == a.len && j == b.len;
        if (plain((unsigned char)a.data[i++]) != plain((unsigned char)b.data[j++]))
            return false;
    }
}

static struct confidence_sample *grow(struct confidence_sample **list, size_t *count,
                                      size_t *capacity)
{
    if (*count == *capacity) {
        size_t wanted = *capacity ? 2 * *capacity : 256;
        struct confidence_sample *grown = realloc(*list, wanted * sizeof *grown);
        if (!grown)
            return NULL;
        *list = grown;
        *capacity = wanted;
    }
    return &(*list)[(*count)++];
}

static bool on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct reading *reading = ctx;
    struct confidence_answers *out = reading->out;
    buf_append_str(&reading->text, text);
    if (!token)
        return true;
    confidence_add(&reading->confidence, &token->stats);
    uint64_t tokens = reading->confidence.token_count;
    if (tokens != 1 && tokens % CONFIDENCE_EVERY != 0)
        return true;
    struct confidence_sample *sample =
        grow(&out->running, &out->running_count, &out->running_capacity);
    if (!sample) {
        reading->no_memory = true;
        return false;
    }
    *sample = (struct confidence_sample){.answer = (uint32_t)out->whole_count};
    confidence_features(&reading->confidence, &sample->features);
    return true;
}

/* Whether the answer is the one, or one of those, that the line names. */
static enum td_status judge(const struct json *line, struct td_str text, bool *right,
                            struct td_error *err)
{
    const struct json *given = json_get(line, "right"), *answer = json_get(line, "answer");
    if ((json_kind_of(given) == JSON_KIND_ABSENT) == (json_kind_of(answer) == JSON_KIND_ABSENT))
        return error_set(err, TD_INVALID, "give exactly one of 'right' and 'answer'");
    *right = json_bool(given, false);
    if (json_kind_of(given) == JSON_KIND_BOOL)
        return TD_OK;
    if (json_kind_of(given) != JSON_KIND_ABSENT)
        return error_set(err, TD_INVALID, "'right' must be true or false");
    bool list = json_kind_of(answer) == JSON_KIND_ARRAY;
    size_t count = list ? json_count(answer) : 1;
    for (size_t i = 0; i < count; i++) {
        const struct json *one = list ? json_at(answer, i) : answer;
        if (json_kind_of(one) != JSON_KIND_TEXT)
            return error_set(err, TD_INVALID, "'answer' must be a text or a list of texts");
        *right = *right || confidence_answers_same(json_text(one), text);
    }
    return TD_OK;
}

/* The engine here answers. */
static enum td_status generate(struct reading *reading, struct td_str text, enum td_finish *finish,
                               struct td_error *err)
{
    struct json *line = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    struct td_generate_options options = {.sampling = td_sampling_default(),
                                          .tokens_max = reading->options->tokens_max};
    struct td_generate_result result = {0};
    options.sampling.temperature = 0;
    td_session_truncate(reading->session, 0);
    enum td_status status =
        prompt_line_read(reading->source->model, text, &line, &ids, &count, err);
    if (status == TD_OK)
        status =
            td_generate(reading->session, ids, count, &options, on_token, reading, &result, err);
    *finish = result.finish;
    free(ids);
    json_free(line);
    return status;
}

static enum td_status answer_prompt(struct reading *reading, struct td_str text,
                                    const struct json *line, struct td_error *err)
{
    enum td_finish finish = TD_FINISH_STOP;
    struct tier_answers *server = reading->source->server;
    buf_clear(&reading->text);
    confidence_init(&reading->confidence, 0, 0);
    enum td_status status = server ? tier_answers_ask(server, line, reading->options->tokens_max,
                                                      on_token, reading, &finish, err)
                                   : generate(reading, text, &finish, err);
    if (reading->no_memory)
        return error_set(err, TD_NO_MEMORY, "no memory for the answers");
    if (status == TD_OK && server && reading->confidence.count == 0)
        return error_set(err, TD_UNSUPPORTED,
                         "tier %s gave no log-probabilities, so nothing can be fitted",
                         tier_answers_facts(server)->name);
    if (status == TD_OK && reading->confidence.count == 0)
        return error_set(err, TD_INVALID, "the model gives no answer to this prompt");
    confidence_end(&reading->confidence, finish != TD_FINISH_LENGTH);
    return status;
}

static enum td_status read_line(struct reading *reading, struct td_str text, struct td_error *err)
{
    struct confidence_answers *out = reading->out;
    struct json *line = NULL;
    size_t running = out->running_count;
    bool right = false;
    if (out->whole_count == CONFIDENCE_ANSWERS_MAX)
        return error_set(err, TD_LIMIT, "more than %u answers", CONFIDENCE_ANSWERS_MAX);
    enum td_status status = json_parse(text, &line, err);
    if (status == TD_OK)
        status = judge(line, STR(""), &right, err); /* before the work: is the label one? */
    if (status == TD_OK)
        status = answer_prompt(reading, text, line, err);
    if (status == TD_OK)
        status = judge(line, buf_view(&reading->text), &right, err);
    struct confidence_sample *sample = NULL;
    if (status == TD_OK && !(sample = grow(&out->whole, &out->whole_count, &out->whole_capacity)))
        status = error_set(err, TD_NO_MEMORY, "no memory for the answers");
    if (sample) {
        *sample =
            (struct confidence_sample){.right = right, .answer = (uint32_t)(out->whole_count - 1)};
        confidence_features(&reading->confidence, &sample->features);
        for (size_t i = running; i < out->running_count; i++)
            out->running[i].right = right;
        out->right_count += right;
        out->token_count += reading->confidence.token_count;
    }
    json_free(line);
    return status;
}

enum td_status confidence_answers_read(const struct confidence_source *source,
                                       const struct confidence_answers_options *options,
                                       struct confidence_answers *out, struct td_error *err)
{
    struct buf file = {0};
    struct reading *reading = calloc(1, sizeof *reading);
    *out = (struct confidence_answers){0};
    if (!reading)
        return error_set(err, TD_NO_MEMORY, "no memory for the answers");
    reading->source = source;
    reading->options = options;
    reading->out = out;
    buf_init(&reading->text, ANSWER_BYTES_MAX);
    struct td_session_options session = {.thread_count = options->threads};
    enum td_status status = command_read_all(options->path, &file, err);
    if (status == TD_OK && source->model)
        status = td_session_new(source->model, &session, &reading->session, err);
    struct td_str rest = buf_view(&file), text;
    for (size_t number = 1; status == TD_OK && str_next(&rest, '\n', &text); number++) {
        if (str_trim(text).len == 0)
            continue;
        status = read_line(reading, text, err);
        if (status != TD_OK)
            error_prefix(err, "%s, line %zu", options->path, number);
    }
    td_session_free(reading->session);
    buf_deinit(&reading->text);
    buf_deinit(&file);
    free(reading);
    return status;
}

void confidence_answers_deinit(struct confidence_answers *answers)
{
    free(answers->whole);
    free(answers->running);
    *answers = (struct confidence_answers){0};
}

/* Each prompt is answered at temperature 0. What the decode loop knows is kept at the end of the
 * answer, and at fixed numbers of tokens on the way, because a gate judges running answers as
 * well as complete ones. */
#include "app/evidence/confidence_answers.h"

#include "app/cli/prompt_line.h"
#include "app/evidence/answer_check.h"
#include "app/evidence/second_answers.h"
#include "app/evidence/tier_answers.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
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
    if (reading->options->cancel && atomic_load(reading->options->cancel))
        return false;
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

/* The engine here answers. */
static enum td_status generate(struct reading *reading, struct td_str text, enum td_finish *finish,
                               struct td_error *err)
{
    struct json *line = NULL;
    int32_t *ids = NULL;
    size_t count = 0;
    struct td_generate_options options = {.sampling = td_sampling_default(),
                                          .tokens_max = reading->options->tokens_max,
                                          .exit_threshold = reading->options->exit_threshold};
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
    confidence_deinit(&reading->confidence);
    confidence_init(&reading->confidence, 0, 0);
    enum td_status status = server ? tier_answers_ask(server, line, reading->options->tokens_max,
                                                      on_token, reading, &finish, err)
                                   : generate(reading, text, &finish, err);
    if (reading->no_memory)
        return error_set(err, TD_NO_MEMORY, "no memory for the answers");
    if (reading->options->cancel && atomic_load(reading->options->cancel))
        return error_set(err, TD_CANCELLED, "stopped; nothing was written");
    if (status == TD_OK && server && reading->confidence.count == 0)
        return error_set(err, TD_UNSUPPORTED,
                         "tier %s gave no log-probabilities, so nothing can be fitted",
                         tier_answers_facts(server)->name);
    if (status == TD_OK && reading->confidence.count == 0)
        return error_set(err, TD_INVALID, "the model gives no answer to this prompt");
    confidence_end(&reading->confidence, finish != TD_FINISH_LENGTH);
    return status;
}

static enum td_status ask_again(struct reading *reading, const struct json *line,
                                struct confidence_sample *sample, struct td_error *err)
{
    const struct second_question question = {
        .model = reading->source->model,
        .session = reading->session,
        .line = line,
        .answer = buf_view(&reading->text),
        .by = reading->options->second,
        .samples = reading->options->samples,
    };
    if (question.by == SECOND_OFF)
        return TD_OK;
    double begin_ms = clock_monotonic_ms(NULL);
    enum td_status status = second_answers_ask(&question, &sample->second, err);
    reading->out->second_ms += clock_monotonic_ms(NULL) - begin_ms;
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
        status = answer_check(line, STR(""), &right, err); /* before the work: is it one? */
    if (status == TD_OK)
        status = answer_prompt(reading, text, line, err);
    if (status == TD_OK)
        status = answer_check(line, buf_view(&reading->text), &right, err);
    const struct json *said = json_get(line, "said");
    bool other = said && !answer_check_same(json_text(said), buf_view(&reading->text));
    if (other)
        out->running_count = running;
    out->other_count += status == TD_OK && other;
    struct confidence_sample *sample = NULL;
    if (status == TD_OK && !other &&
        !(sample = grow(&out->whole, &out->whole_count, &out->whole_capacity)))
        status = error_set(err, TD_NO_MEMORY, "no memory for the answers");
    if (sample) {
        *sample =
            (struct confidence_sample){.right = right, .answer = (uint32_t)(out->whole_count - 1)};
        confidence_features(&reading->confidence, &sample->features);
        status = ask_again(reading, line, sample, err);
        for (size_t i = running; i < out->running_count; i++)
            out->running[i].right = right;
        out->right_count += right;
        out->token_count += reading->confidence.token_count;
    }
    if (status == TD_OK && reading->options->on_answer)
        reading->options->on_answer(reading->options->ctx, out, line, right);
    json_free(line);
    return status;
}

enum td_status confidence_answers_read(const struct confidence_source *source,
                                       const struct confidence_answers_options *options,
                                       struct confidence_answers *out, struct td_error *err)
{
    struct reading *reading = calloc(1, sizeof *reading);
    *out = (struct confidence_answers){0};
    if (!reading)
        return error_set(err, TD_NO_MEMORY, "no memory for the answers");
    reading->source = source;
    reading->options = options;
    reading->out = out;
    buf_init(&reading->text, ANSWER_BYTES_MAX);
    struct td_session_options session = {.thread_count = options->threads,
                                         .kv_type = options->kv_type};
    enum td_status status =
        source->model ? td_session_new(source->model, &session, &reading->session, err) : TD_OK;
    struct td_str rest = options->text, text;
    for (size_t number = 1; status == TD_OK && str_next(&rest, '\n', &text); number++) {
        if (str_trim(text).len == 0)
            continue;
        status = read_line(reading, text, err);
        if (status != TD_OK && status != TD_CANCELLED)
            error_prefix(err, "%s, line %zu", options->path, number);
    }
    td_session_free(reading->session);
    buf_deinit(&reading->text);
    confidence_deinit(&reading->confidence);
    free(reading);
    return status;
}

void confidence_answers_deinit(struct confidence_answers *answers)
{
    free(answers->whole);
    free(answers->running);
    *answers = (struct confidence_answers){0};
}

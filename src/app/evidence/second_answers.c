/* The words and numbers are those of part_second.c: only then is the fit good for servers. */
#include "app/evidence/second_answers.h"

#include "app/cli/prompt_line.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "router/watch/agreement.h"

#include <stdlib.h>

#define TEXT_BYTES_MAX (1u << 20)
#define LABEL_TOKENS 8

static void add_message(struct json *messages, const char *role, struct td_str content)
{
    struct json *message = json_new_object();
    json_put(message, "role", json_new_cstr(role));
    json_put(message, "content", json_new_text(content));
    json_push(messages, message);
}

/* The line's messages as token ids; `with_question`: with the answer and the question about it. */
static enum td_status tokenize(const struct second_question *question, bool with_question,
                               int32_t **ids, size_t *count, struct td_error *err)
{
    const struct json *messages = json_get(question->line, "messages");
    struct json *line = json_new_object(), *read = NULL;
    struct json *list = messages ? json_clone(messages) : json_new_array();
    struct buf text;
    buf_init(&text, TEXT_BYTES_MAX);
    if (!messages)
        add_message(list, "user", json_text(json_get(question->line, "prompt")));
    if (with_question) {
        add_message(list, "assistant", question->answer);
        add_message(list, "user", str_from(SECOND_QUESTION));
    }
    json_put(line, "messages", list);
    json_write(line, &text);
    enum td_status status =
        text.failed ? error_set(err, TD_NO_MEMORY, "no memory for a second question")
                    : prompt_line_read(question->model, buf_view(&text), &read, ids, count, err);
    json_free(read);
    json_free(line);
    buf_deinit(&text);
    return status;
}

static enum td_status ask_p_true(const struct second_question *question, const int32_t *ids,
                                 size_t count, double *out, struct td_error *err)
{
    int32_t tokens[SECOND_LABELS][LABEL_TOKENS];
    struct td_label labels[SECOND_LABELS];
    const struct td_label_options options = {0};
    float scores[SECOND_LABELS];
    for (size_t i = 0; i < SECOND_LABELS; i++) {
        labels[i].ids = tokens[i];
        enum td_status status = td_tokenize(question->model, second_labels[i], false, false,
                                            tokens[i], LABEL_TOKENS, &labels[i].count, err);
        if (status != TD_OK)
            return status;
    }
    enum td_status status = td_score_labels(question->session, ids, count, labels, SECOND_LABELS,
                                            &options, scores, err);
    *out = status == TD_OK ? second_p_true(scores) : 0;
    return status;
}

static bool on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)token;
    buf_append_str(ctx, text);
    return true;
}

static enum td_status ask_agreement(const struct second_question *question, const int32_t *ids,
                                    size_t count, double *out, struct td_error *err)
{
    struct td_generate_options options = {.sampling = td_sampling_default(),
                                          .tokens_max = SECOND_TOKENS};
    enum td_status status = TD_OK;
    struct buf text;
    uint32_t agreed = 0;
    buf_init(&text, TEXT_BYTES_MAX);
    options.sampling.temperature = SECOND_TEMPERATURE;
    options.sampling.seed_set = true; /* the same command gives the same file */
    for (uint32_t i = 0; status == TD_OK && i < question->samples; i++) {
        struct td_generate_result result = {0};
        buf_clear(&text);
        td_session_truncate(question->session, 0);
        options.sampling.seed = i + 1;
        status =
            td_generate(question->session, ids, count, &options, on_token, &text, &result, err);
        agreed += answers_agree(COMPARE_MEANING, question->answer, buf_view(&text),
                                result.finish == TD_FINISH_LENGTH);
    }
    buf_deinit(&text);
    *out = second_agreement(agreed, question->samples);
    return status;
}

enum td_status second_answers_ask(const struct second_question *question, double *out,
                                  struct td_error *err)
{
    int32_t *ids = NULL;
    size_t count = 0;
    bool p_true = question->by == SECOND_P_TRUE;
    enum td_status status = tokenize(question, p_true, &ids, &count, err);
    td_session_truncate(question->session, 0);
    if (status == TD_OK)
        status = (p_true ? ask_p_true : ask_agreement)(question, ids, count, out, err);
    free(ids);
    return status;
}

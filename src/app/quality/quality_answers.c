#include "app/quality/quality_answers.h"

#include "app/cli/command.h"
#include "app/evidence/answer_check.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "router/watch/agreement.h"

#include <stdlib.h>

#define ANSWER_BYTES_MAX (1u << 20)

enum td_status quality_answers_init(struct quality_answers *answers, size_t count,
                                    struct td_error *err)
{
    answers->items = calloc(count + 1, sizeof *answers->items);
    answers->count = answers->items ? count : 0;
    return answers->items ? TD_OK
                          : error_set(err, TD_NO_MEMORY, "no memory for %zu answers", count);
}

void quality_answers_deinit(struct quality_answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        free(answers->items[i].text);
        free(answers->items[i].ids);
    }
    free(answers->items);
    *answers = (struct quality_answers){0};
}

/* --- generated --- */

struct listening {
    struct buf text, ids;
};

static bool on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct listening *listening = ctx;
    buf_append_str(&listening->text, text);
    if (token)
        buf_append(&listening->ids, &token->id, sizeof token->id);
    return !listening->text.failed && !listening->ids.failed;
}

static enum td_status generate(struct td_session *session, const struct quality_case *item,
                               uint32_t tokens_max, struct listening *listening, bool *was_cut,
                               struct td_error *err)
{
    struct td_generate_options how = {.sampling = td_sampling_default(), .tokens_max = tokens_max};
    struct td_generate_result result;
    how.sampling.temperature = 0;
    enum td_status status =
        td_generate(session, item->ids, item->count, &how, on_token, listening, &result, err);
    *was_cut = status == TD_OK && result.finish == TD_FINISH_LENGTH;
    return status;
}

/* --- one of the labels --- */

static enum td_status score(struct td_session *session, const struct td_model *model,
                            const struct quality_case *item, struct listening *listening,
                            size_t *best, struct td_error *err)
{
    const struct json *texts = json_get(item->line, "labels");
    size_t count = json_count(texts), tokenized = 0;
    struct td_label *labels = calloc(count, sizeof *labels);
    float *scores = calloc(count, sizeof *scores);
    enum td_status status =
        labels && scores ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for %zu labels", count);
    for (; status == TD_OK && tokenized < count; tokenized++) {
        int32_t *ids = NULL;
        status = command_tokenize(model, json_text(json_at(texts, tokenized)), false, false, &ids,
                                  &labels[tokenized].count, err);
        labels[tokenized].ids = ids;
    }
    const struct td_label_options how = {.with_end = true};
    if (status == TD_OK)
        status = td_score_labels(session, item->ids, item->count, labels, count, &how, scores, err);
    *best = 0;
    for (size_t i = 1; status == TD_OK && i < count; i++)
        if (scores[i] > scores[*best])
            *best = i;
    if (status == TD_OK) {
        buf_append_str(&listening->text, json_text(json_at(texts, *best)));
        buf_append(&listening->ids, labels[*best].ids, labels[*best].count * sizeof(int32_t));
    }
    for (size_t i = 0; labels && i < tokenized; i++) {
        void *ids;
        memcpy(&ids, &labels[i].ids, sizeof ids); /* they are ours */
        free(ids);
    }
    free(labels);
    free(scores);
    return status;
}

/* --- both --- */

enum td_status quality_answer_ask(struct td_session *session, const struct td_model *model,
                                  const struct quality_case *item, uint32_t tokens_max,
                                  struct quality_answer *out, struct td_error *err)
{
    struct listening listening;
    buf_init(&listening.text, ANSWER_BYTES_MAX);
    buf_init(&listening.ids, SIZE_MAX / 2);
    *out = (struct quality_answer){.label = SIZE_MAX};
    buf_append(&listening.ids, item->ids, item->count * sizeof *item->ids);
    td_session_truncate(session, 0);
    enum td_status status =
        json_absent(json_get(item->line, "labels"))
            ? generate(session, item, tokens_max, &listening, &out->was_cut, err)
            : score(session, model, item, &listening, &out->label, err);
    if (status == TD_OK && (listening.text.failed || listening.ids.failed))
        status = error_set(err, TD_LIMIT, "an answer of more than 1 MiB");
    if (status == TD_OK && item->is_known)
        status = answer_check(item->line, buf_view(&listening.text), &out->is_right, err);
    if (status == TD_OK) {
        out->len = listening.text.len;
        out->id_count = listening.ids.len / sizeof *out->ids;
        out->text = malloc(out->len + 1);
        out->ids = malloc(listening.ids.len + 1);
        if (out->text && out->ids) {
            memcpy(out->text, buf_view(&listening.text).data, out->len);
            memcpy(out->ids, buf_view(&listening.ids).data, listening.ids.len);
        } else {
            status = error_set(err, TD_NO_MEMORY, "no memory for an answer");
        }
    }
    buf_deinit(&listening.text);
    buf_deinit(&listening.ids);
    return status;
}

bool quality_answer_differs(const struct quality_answer *a, const struct quality_answer *b)
{
    if (a->label != SIZE_MAX)
        return a->label != b->label;
    struct agreement agreement;
    struct td_str left = {a->text, a->len}, right = {b->text, b->len};
    if (str_equal(left, right))
        return false;
    /* Both had the same limit of tokens. */
    enum agreement_end end = b->was_cut ? AGREEMENT_CUT_AS_ASKED : AGREEMENT_END_OWN;
    return !agreement_compare(left, right, end, &agreement) || !agreement.same;
}

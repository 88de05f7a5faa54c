/* The answer in a log is taken to be right, as that of a cloud is with shadows. */
#include "app/evidence/audit_answers.h"

#include "app/evidence/tier_answers.h"
#include "base/bytes/buf.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "exchange/parts/shadow_pool.h"
#include "router/watch/agreement.h"

#define ANSWER_BYTES_MAX (1u << 20)

/* The right answer of that number; an empty text when there is none. */
static struct td_str right_answer(const struct json *line, size_t number)
{
    const struct json *answer = json_get(line, "answer");
    if (json_kind_of(answer) == JSON_KIND_ARRAY)
        return json_text(json_at(answer, number));
    return number == 0 ? json_text(answer) : (struct td_str){NULL, 0};
}

bool audit_answers_known(const struct json *line)
{
    return str_trim(right_answer(line, 0)).len > 0;
}

/* **returns new** (json_free): what tier_answers_ask reads. */
static struct json *question_of(const struct json *line)
{
    struct json *question = json_new_object();
    const struct json *text = json_get(line, "text");
    if (!text)
        text = json_get(line, "prompt");
    json_put(question, text ? "prompt" : "messages",
             json_clone(text ? text : json_get(line, "messages")));
    return question;
}

static bool on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    struct buf *answer = ctx;
    (void)token;
    buf_append_str(answer, text);
    return !answer->failed;
}

static enum audit_verdict compare(const struct json *line, struct td_str answer,
                                  enum agreement_end end)
{
    enum audit_verdict verdict = AUDIT_UNKNOWN;
    struct td_str right;
    for (size_t i = 0; str_trim(right = right_answer(line, i)).len > 0; i++) {
        struct agreement agreement;
        if (!agreement_compare(right, answer, end, &agreement))
            continue;
        if (agreement.same)
            return AUDIT_RIGHT;
        verdict = AUDIT_WRONG;
    }
    return verdict;
}

enum td_status audit_answers_ask(struct tier_answers *tier, const struct json *line,
                                 enum audit_verdict *out, struct td_error *err)
{
    struct json *question = question_of(line);
    struct buf answer;
    enum td_finish finish = TD_FINISH_STOP;
    buf_init(&answer, ANSWER_BYTES_MAX);
    enum td_status status =
        tier_answers_ask(tier, question, SHADOW_TOKENS_MAX, on_token, &answer, &finish, err);
    if (status == TD_OK)
        *out = compare(line, buf_view(&answer),
                       finish == TD_FINISH_LENGTH ? AGREEMENT_CUT_SHORT : AGREEMENT_END_OWN);
    buf_deinit(&answer);
    json_free(question);
    return status;
}

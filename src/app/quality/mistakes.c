#include "app/quality/mistakes.h"

#include "app/quality/quality_answers.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/model/model.h"
#include "router/watch/agreement.h"

#include <stdlib.h>

#define LINES_MAX 100000

static enum td_status check_line(const struct quality_case *item, const char *name,
                                 struct td_error *err)
{
    return item->is_known || json_text(json_get(item->line, "said")).len
               ? TD_OK
               : error_set(err, TD_INVALID,
                           "%s: a line needs \"said\", the answer that was wrong, or \"answer\", "
                           "the right one",
                           name);
}

static bool is_repeated(const struct quality_case *item, const struct quality_answer *answer)
{
    const struct td_str now = {answer->text, answer->len};
    const struct td_str said = json_text(json_get(item->line, "said"));
    struct agreement agreement;
    if (item->is_known)
        return !answer->is_right;
    if (str_equal(said, now))
        return true;
    enum agreement_end end = answer->was_cut ? AGREEMENT_CUT_SHORT : AGREEMENT_END_OWN;
    return agreement_compare(said, now, end, &agreement) && agreement.same;
}

static enum td_status ask(struct td_session *session, const struct td_model *model,
                          const struct quality_cases *cases, const struct mistakes_options *options,
                          struct mistakes_result *out, struct td_error *err)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < cases->count; i++) {
        struct quality_answer answer = {0};
        if (options->cancel && atomic_load(options->cancel))
            return error_set(err, TD_CANCELLED, "interrupted");
        if (options->progress)
            options->progress(options->progress_ctx, i, cases->count);
        status =
            quality_answer_ask(session, model, &cases->items[i], options->tokens_max, &answer, err);
        out->count++;
        out->repeated += status == TD_OK && is_repeated(&cases->items[i], &answer);
        free(answer.text);
        free(answer.ids);
    }
    return status;
}

enum td_status mistakes_ask(const struct td_model *model, const struct mistakes_options *options,
                            struct mistakes_result *out, struct td_error *err)
{
    struct quality_cases cases = {0};
    struct td_session *session = NULL;
    *out = (struct mistakes_result){0};
    enum td_status status = model_require_decoder(model, err);
    const struct td_session_options how = {.context_tokens = model->context_size,
                                           .thread_count = options->threads};
    const struct quality_cases_options lines = {
        .lines = options->lines,
        .name = options->name,
        .cases_max = LINES_MAX,
        .tokens_max = model->context_size > options->tokens_max
                          ? model->context_size - options->tokens_max
                          : 0,
    };
    if (status == TD_OK)
        status = quality_cases_read(model, &lines, &cases, err);
    out->too_long = cases.long_count;
    for (size_t i = 0; status == TD_OK && i < cases.count; i++)
        status = check_line(&cases.items[i], options->name, err);
    if (status == TD_OK)
        status = td_session_new(model, &how, &session, err);
    if (status == TD_OK)
        status = ask(session, model, &cases, options, out, err);
    td_session_free(session);
    quality_cases_deinit(&cases);
    return status;
}

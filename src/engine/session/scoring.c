/* Scores texts and labels in a session. What of the labels runs is label_walk.h's to say. */
#include "engine/session/scoring.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/session/session.h"

#include <math.h>
#include <stdlib.h>

struct scorer {
    struct td_session *session;
    const struct td_model *model;
    float *logits; /* [SCORING_ROWS, vocab] */
    struct td_error *err;
};

enum td_status scoring_log_sum(const struct td_model *model, const float *logits, double *out,
                               struct td_error *err)
{
    ASSERT(logits != NULL && out != NULL);
    struct logit_stats stats;
    model->kernels->logit_stats(logits, model->vocab_count, &stats);
    *out = (double)stats.max + log(stats.sum_exp);
    if (isfinite(*out))
        return TD_OK;
    return error_set(err, TD_CORRUPT,
                     "the model's output is not a number: its weights are damaged");
}

enum td_status scoring_check_ids(const struct td_model *model, const int32_t *ids, size_t count,
                                 const char *what, struct td_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= model->vocab_count)
            return error_set(err, TD_INVALID, "%s: token %zu is %d, outside the vocabulary of %u",
                             what, i, ids[i], model->vocab_count);
    return TD_OK;
}

static enum td_status start(struct scorer *scorer, struct td_session *session, size_t prompt_count,
                            struct td_error *err)
{
    *scorer = (struct scorer){.session = session, .model = session->model, .err = err};
    if (prompt_count == 0)
        return error_set(err, TD_INVALID,
                         "nothing stands before what is to be scored: give a prompt, BOS at least");
    scorer->logits =
        malloc((size_t)SCORING_ROWS * scorer->model->vocab_count * sizeof *scorer->logits);
    if (scorer->logits == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %d rows of logits", SCORING_ROWS);
    return TD_OK;
}

/* Runs `count` tokens and scores next[i], which follows token i. */
static enum td_status score_run(struct scorer *scorer, const int32_t *ids, size_t count,
                                const int32_t *next, float *logprobs)
{
    size_t vocab = scorer->model->vocab_count;
    for (size_t at = 0; at < count; at += SCORING_ROWS) {
        size_t rows = count - at < SCORING_ROWS ? count - at : SCORING_ROWS;
        enum td_status status =
            td_session_forward(scorer->session, ids + at, rows, scorer->logits, rows, scorer->err);
        for (size_t r = 0; status == TD_OK && r < rows; r++) {
            const float *row = scorer->logits + r * vocab;
            double sum;
            status = scoring_log_sum(scorer->model, row, &sum, scorer->err);
            logprobs[at + r] = (float)((double)row[next[at + r]] - sum);
        }
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

enum td_status td_score_text(struct td_session *session, const int32_t *prompt, size_t prompt_count,
                             const int32_t *ids, size_t count, float *logprobs,
                             struct td_error *err)
{
    ASSERT(session != NULL && (logprobs != NULL || count == 0));
    struct scorer scorer;
    enum td_status status = scoring_check_ids(session->model, ids, count, "text", err);
    if (status == TD_OK)
        status = start(&scorer, session, prompt_count, err);
    if (status != TD_OK)
        return status;
    uint32_t before = td_session_length(session);
    if (count > 0)
        status = td_session_forward(session, prompt, prompt_count - 1, NULL, 0, err);
    /* The logits of the prompt's last token score the first token of the text. The last token of
     * the text need not run. */
    if (status == TD_OK && count > 0)
        status = score_run(&scorer, &prompt[prompt_count - 1], 1, ids, logprobs);
    if (status == TD_OK && count > 1)
        status = score_run(&scorer, ids, count - 1, ids + 1, logprobs + 1);
    if (status != TD_OK)
        td_session_truncate(session, before);
    free(scorer.logits);
    return status;
}

/* --- labels ----------------------------------------------------------------------------------- */

/* Runs the tokens of the labels, from the session's length on. */
static enum td_status walk_labels(struct scorer *scorer, struct label_walk *walk)
{
    uint32_t prompt_length = td_session_length(scorer->session);
    enum td_status status = TD_OK;
    const int32_t *ids;
    size_t count;
    while (status == TD_OK && (count = label_walk_due(walk, SCORING_ROWS, &ids)) > 0) {
        td_session_truncate(scorer->session, prompt_length + walk->depth);
        status =
            td_session_forward(scorer->session, ids, count, scorer->logits, count, scorer->err);
        if (status == TD_OK)
            status = label_walk_take(walk, scorer->logits, count, scorer->err);
    }
    td_session_truncate(scorer->session, prompt_length);
    return status;
}

enum td_status scoring_walk(struct td_session *session, const int32_t *prompt, size_t prompt_count,
                            struct label_walk *walk, struct td_error *err)
{
    struct scorer scorer;
    uint32_t before = td_session_length(session);
    enum td_status status = start(&scorer, session, prompt_count, err);
    if (status == TD_OK)
        status = td_session_forward(session, prompt, prompt_count, scorer.logits, 1, err);
    if (status == TD_OK)
        status = label_walk_take(walk, scorer.logits, 1, err);
    if (status == TD_OK)
        status = walk_labels(&scorer, walk);
    if (status != TD_OK)
        td_session_truncate(session, before);
    free(scorer.logits);
    return status;
}

enum td_status td_score_labels(struct td_session *session, const int32_t *prompt,
                               size_t prompt_count, const struct td_label *labels, size_t count,
                               const struct td_label_options *options, float *scores,
                               struct td_error *err)
{
    ASSERT(session != NULL && scores != NULL);
    static const struct td_label_options defaults = {0};
    struct label_plan *plan = NULL;
    struct label_walk walk;
    options = options ? options : &defaults;
    enum label_ends ends = options->with_end ? LABEL_ENDS_ALL : LABEL_ENDS_NONE;
    enum td_status status = label_plan_new(session->model, labels, count, ends, &plan, err);
    if (status != TD_OK)
        return status;
    double *sums = calloc(count, sizeof *sums);
    if (sums) {
        label_walk_init(&walk, plan, 0, count, sums);
        status = scoring_walk(session, prompt, prompt_count, &walk, err);
    } else {
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu scores", count);
    }
    for (size_t i = 0; status == TD_OK && i < count; i++)
        scores[i] =
            (float)(sums[i] / (options->normalise ? (double)label_plan_length(plan, i) : 1.0));
    free(sums);
    label_plan_release(plan);
    return status;
}

/* Scores texts and labels. Labels are sorted by their ids, so that those with the same beginning
 * are adjacent. Then one walk over the list keeps the logits along the current label: moving to the
 * next one truncates the session to what both share, and runs only the new tokens. */
#include "engine/session/scoring.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/str.h"
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

static enum td_status check_ids(const struct td_model *model, const int32_t *ids, size_t count,
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
    enum td_status status = check_ids(session->model, ids, count, "text", err);
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

static int compare_labels(const void *a, const void *b)
{
    const struct td_label *x = *(const struct td_label *const *)a;
    const struct td_label *y = *(const struct td_label *const *)b;
    for (size_t i = 0; i < x->count && i < y->count; i++)
        if (x->ids[i] != y->ids[i])
            return x->ids[i] < y->ids[i] ? -1 : 1;
    return (x->count > y->count) - (x->count < y->count);
}

struct label_walk {
    struct scorer *scorer;
    const struct td_label_options *options;
    uint32_t prompt_length; /* of the session after the prompt */
    const struct td_label **by_ids;
    float *path;  /* [depth_max + 1]: log-probability of the first d tokens of the current label */
    float *rows;  /* [depth_max + 1, vocab]: logits after its first d tokens */
    double *sums; /* [depth_max + 1]: scoring_log_sum of the rows */
    bool *known;  /* [depth_max + 1]: rows that are computed */
};

/* The log-probability that the answer ends after the first `depth` tokens: of all end tokens
 * together. */
static float end_logprob(const struct label_walk *walk, size_t depth)
{
    const struct td_model *model = walk->scorer->model;
    const float *row = walk->rows + depth * model->vocab_count;
    double sum = 0;
    for (uint32_t id = 0; id < model->vocab_count; id++)
        if (tokenizer_is_end(model->tokenizer, (int32_t)id))
            sum += exp((double)row[id] - walk->sums[depth]);
    return (float)log(sum);
}

/* Makes walk->rows[depth], the logits after the first `depth` tokens of a label. Runs the tokens
 * that are missing. */
static enum td_status row_after(struct label_walk *walk, const struct td_label *label, size_t depth)
{
    size_t vocab = walk->scorer->model->vocab_count, from = depth;
    while (!walk->known[from])
        from--;
    if (from == depth)
        return TD_OK;
    td_session_truncate(walk->scorer->session, walk->prompt_length + (uint32_t)from);
    enum td_status status =
        td_session_forward(walk->scorer->session, label->ids + from, depth - from,
                           walk->rows + (from + 1) * vocab, depth - from, walk->scorer->err);
    for (size_t d = from + 1; status == TD_OK && d <= depth; d++) {
        walk->known[d] = true;
        status = scoring_log_sum(walk->scorer->model, walk->rows + d * vocab, &walk->sums[d],
                                 walk->scorer->err);
    }
    return status;
}

static enum td_status score_label(struct label_walk *walk, const struct td_label *label,
                                  const struct td_label *before, float *score)
{
    size_t vocab = walk->scorer->model->vocab_count, shared = 0, depth;
    while (before && shared < label->count && shared < before->count &&
           label->ids[shared] == before->ids[shared])
        shared++;
    for (depth = shared + 1; before && depth <= before->count; depth++)
        walk->known[depth] = false;
    bool end = walk->options->with_end;
    enum td_status status = row_after(walk, label, end ? label->count : label->count - 1);
    for (depth = shared; status == TD_OK && depth < label->count; depth++)
        walk->path[depth + 1] =
            walk->path[depth] +
            (float)((double)walk->rows[depth * vocab + label->ids[depth]] - walk->sums[depth]);
    if (status != TD_OK)
        return status;
    *score = walk->path[label->count] + (end ? end_logprob(walk, label->count) : 0);
    if (walk->options->normalise)
        *score /= (float)(label->count + end);
    return status;
}

static enum td_status walk_labels(struct label_walk *walk, const struct td_label *labels,
                                  size_t count, float *scores)
{
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < count; i++)
        status = score_label(walk, walk->by_ids[i], i ? walk->by_ids[i - 1] : NULL,
                             &scores[walk->by_ids[i] - labels]);
    return status;
}

static enum td_status check_labels(struct td_session *session, const struct td_label *labels,
                                   size_t count, size_t *depth_max, struct td_error *err)
{
    enum td_status status = TD_OK;
    *depth_max = 0;
    if (count == 0 || count > TD_LABELS_MAX)
        return error_set(err, TD_INVALID, "%zu labels: 1 to %d", count, TD_LABELS_MAX);
    for (size_t i = 0; status == TD_OK && i < count; i++) {
        if (labels[i].count == 0 || labels[i].count > TD_LABEL_TOKENS_MAX)
            return error_set(err, TD_INVALID, "label %zu has %zu tokens: 1 to %d", i,
                             labels[i].count, TD_LABEL_TOKENS_MAX);
        status = check_ids(session->model, labels[i].ids, labels[i].count, "label", err);
        *depth_max = labels[i].count > *depth_max ? labels[i].count : *depth_max;
    }
    return status;
}

enum td_status td_score_labels(struct td_session *session, const int32_t *prompt,
                               size_t prompt_count, const struct td_label *labels, size_t count,
                               const struct td_label_options *options, float *scores,
                               struct td_error *err)
{
    ASSERT(session != NULL && scores != NULL);
    static const struct td_label_options defaults = {0};
    struct scorer scorer = {.session = session, .model = session->model, .err = err};
    struct label_walk walk = {.scorer = &scorer, .options = options ? options : &defaults};
    size_t depth_max, vocab = session->model->vocab_count;
    uint32_t before = td_session_length(session);
    enum td_status status = check_labels(session, labels, count, &depth_max, err);
    if (status == TD_OK && prompt_count == 0)
        status = error_set(err, TD_INVALID, "the prompt has no tokens");
    if (status != TD_OK)
        return status;
    walk.by_ids = calloc(count, sizeof *walk.by_ids);
    walk.path = calloc(depth_max + 1, sizeof *walk.path);
    walk.rows = malloc((depth_max + 1) * vocab * sizeof *walk.rows);
    walk.sums = calloc(depth_max + 1, sizeof *walk.sums);
    walk.known = calloc(depth_max + 1, sizeof *walk.known);
    if (walk.by_ids && walk.path && walk.rows && walk.sums && walk.known) {
        for (size_t i = 0; i < count; i++)
            walk.by_ids[i] = &labels[i];
        qsort(walk.by_ids, count, sizeof *walk.by_ids, compare_labels);
        status = td_session_forward(session, prompt, prompt_count, walk.rows, 1, err);
        if (status == TD_OK)
            status = scoring_log_sum(session->model, walk.rows, &walk.sums[0], err);
        walk.known[0] = true;
        walk.prompt_length = td_session_length(session);
        if (status == TD_OK)
            status = walk_labels(&walk, labels, count, scores);
        td_session_truncate(session, status == TD_OK ? walk.prompt_length : before);
    } else {
        status = error_set(err, TD_NO_MEMORY, "no memory for %zu rows of logits", depth_max + 1);
    }
    free(walk.by_ids);
    free(walk.path);
    free(walk.rows);
    free(walk.sums);
    free(walk.known);
    return status;
}

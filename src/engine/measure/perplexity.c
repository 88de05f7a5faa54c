/* Scores a text window by window, as llama.cpp's perplexity tool does when it scores every token,
 * so the figures can be compared. Logits are taken a few rows at a time, because the rows of a
 * whole window would need gigabytes for a large vocabulary. */
#include "engine/measure/perplexity.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "engine/session/session.h"

#include <math.h>
#include <stdlib.h>

/* Rows of logits at a time: 16 x 128k floats are 8 MiB. */
#define ROWS 16

struct scorer {
    struct td_session *session;
    float *logits; /* [ROWS, vocab] */
    struct perplexity_result *result;
    float *nll;
    size_t nll_count;
};

static enum td_status score_row(struct scorer *scorer, const float *logits, int32_t id,
                                struct td_error *err)
{
    const struct td_model *model = scorer->session->model;
    struct logit_stats stats;
    model->kernels->logit_stats(logits, model->vocab_count, &stats);
    double nll = log(stats.sum_exp) - (double)(logits[id] - stats.max);
    if (!isfinite(nll))
        return error_set(err, TD_CORRUPT,
                         "the model's output is not a number: its weights are damaged");
    if (scorer->nll && scorer->result->scored_count < scorer->nll_count)
        scorer->nll[scorer->result->scored_count] = (float)nll;
    scorer->result->scored_count++;
    scorer->result->nll_sum += nll;
    return TD_OK;
}

static enum td_status score_window(struct scorer *scorer, const int32_t *ids, size_t count,
                                   struct td_error *err)
{
    td_session_truncate(scorer->session, 0);
    for (size_t at = 0; at + 1 < count; at += ROWS) {
        size_t rows = count - 1 - at < ROWS ? count - 1 - at : ROWS;
        enum td_status status =
            td_session_forward(scorer->session, ids + at, rows, scorer->logits, rows, err);
        for (size_t r = 0; status == TD_OK && r < rows; r++)
            status = score_row(scorer, scorer->logits + r * scorer->session->model->vocab_count,
                               ids[at + r + 1], err);
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

/* It changes `ids`: the first token of each later window becomes BOS. That token was scored in the
 * window before. */
static enum td_status score_text(struct scorer *scorer, int32_t *ids, size_t count,
                                 uint32_t windows_max, struct td_error *err)
{
    const struct td_model *model = scorer->session->model;
    size_t window = scorer->session->sequence.context_size;
    bool bos = tokenizer_adds_bos(model->tokenizer) && tokenizer_bos(model->tokenizer) >= 0;
    size_t step =
        window > 1 ? window - 1 : 1; /* the last token of a window is the first of the next */
    for (size_t at = 0, done = 0; at + 1 < count && (!windows_max || done < windows_max);
         at += step, done++) {
        size_t len = count - at < window ? count - at : window;
        if (at > 0 && bos)
            ids[at] = tokenizer_bos(model->tokenizer);
        enum td_status status = score_window(scorer, ids + at, len, err);
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

enum td_status perplexity_measure(const struct td_model *model, struct td_str text,
                                  const struct perplexity_options *options,
                                  struct perplexity_result *result, float *nll, size_t nll_count,
                                  struct td_error *err)
{
    ASSERT(nll != NULL || nll_count == 0);
    *result = (struct perplexity_result){0};
    struct scorer scorer = {.result = result, .nll = nll, .nll_count = nll_count};
    struct buf ids;
    buf_init(&ids, SIZE_MAX / 2);
    const struct tokenizer_options tokenizer = {.add_special = true};
    enum td_status status = tokenizer_encode(model->tokenizer, text, &tokenizer, &ids, err);
    result->token_count = ids.len / sizeof(int32_t);
    if (status == TD_OK && result->token_count < 2)
        status = error_set(err, TD_INVALID, "the text has %llu tokens; perplexity needs two",
                           (unsigned long long)result->token_count);
    if (status == TD_OK)
        status = td_session_new(model, &options->session, &scorer.session, err);
    if (status == TD_OK) {
        scorer.logits = malloc((size_t)ROWS * model->vocab_count * sizeof *scorer.logits);
        if (scorer.logits == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for %d rows of logits", ROWS);
    }
    double begin_ms = clock_monotonic_ms(NULL);
    if (status == TD_OK)
        status = score_text(&scorer, (int32_t *)(void *)ids.data, result->token_count,
                            options->windows_max, err);
    result->seconds = (clock_monotonic_ms(NULL) - begin_ms) / 1000.0;
    if (status == TD_OK)
        result->perplexity = exp(result->nll_sum / (double)result->scored_count);
    free(scorer.logits);
    td_session_free(scorer.session);
    buf_deinit(&ids);
    return status;
}

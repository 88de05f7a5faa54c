#include "engine/measure/divergence.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of logits at a time: 32 x 128k floats are 16 MiB. */
#define ROWS 32
#define CONTEXT_DEFAULT 512

/* Tokens of one text, read with an empty cache; those after the first `given` are predicted. */
struct window {
    const int32_t *ids;
    uint32_t count, given; /* 1 <= given < count */
    size_t text;
};

struct divergence {
    struct divergence_options options;
    struct window *windows;
    size_t window_count;
    uint64_t token_count;
    uint64_t *text_tokens; /* [text_count] */
    float *kept;           /* [token_count, vocab]: the reference's logits, or NULL */
    float *rows;           /* [2, ROWS, vocab] */
};

/* --- texts --- */

/* Adds the window of a text that begins at `at`. False: no more tokens are wanted. */
static bool cut_window(struct divergence *divergence, size_t text, size_t at)
{
    const struct divergence_options *options = &divergence->options;
    size_t count = options->counts[text] - at, given = options->given ? options->given[text] : 1;
    uint64_t left =
        options->tokens_max ? options->tokens_max - divergence->token_count : UINT64_MAX;
    count = count < options->context_tokens ? count : options->context_tokens;
    given = given > at + 1 ? given - at : 1;
    if (left == 0 || given >= count)
        return left != 0;
    count = count - given < left ? count : given + (size_t)left;
    divergence->windows[divergence->window_count++] =
        (struct window){options->texts[text] + at, (uint32_t)count, (uint32_t)given, text};
    divergence->token_count += count - given;
    divergence->text_tokens[text] += count - given;
    return true;
}

static enum td_status cut_windows(struct divergence *divergence, struct td_error *err)
{
    const struct divergence_options *options = &divergence->options;
    size_t context = options->context_tokens, most = 0;
    for (size_t i = 0; i < options->text_count; i++)
        most += options->counts[i] / context + 1;
    divergence->windows = calloc(most + 1, sizeof *divergence->windows);
    divergence->text_tokens = calloc(options->text_count + 1, sizeof *divergence->text_tokens);
    if (divergence->windows == NULL || divergence->text_tokens == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu windows", most);
    for (size_t i = 0; i < options->text_count; i++)
        for (size_t at = 0; at + 1 < options->counts[i]; at += context)
            if (!cut_window(divergence, i, at))
                break;
    if (divergence->token_count == 0)
        return error_set(err, TD_INVALID, "no text has two tokens: there is nothing to predict");
    return TD_OK;
}

static enum td_status open_session(const struct divergence *divergence,
                                   const struct divergence_subject *subject,
                                   struct td_session **out, struct td_error *err)
{
    struct td_session_options options = {.context_tokens = divergence->options.context_tokens,
                                         .thread_count = divergence->options.thread_count,
                                         .kv_type = subject->kv_type};
    enum td_status status = td_session_new(subject->model, &options, out, err);
    if (status == TD_OK && subject->adapter_count)
        status = td_session_set_adapters(*out, subject->adapters, subject->adapter_count, err);
    return status;
}

/* Reads what is given of a window. The last given token is the first that predicts. */
static enum td_status read_given(struct td_session *session, const struct window *window,
                                 struct td_error *err)
{
    td_session_truncate(session, 0);
    return window->given == 1
               ? TD_OK
               : td_session_forward(session, window->ids, window->given - 1, NULL, 0, err);
}

/* --- the reference --- */

static struct divergence_subject reference_of(const struct divergence *divergence)
{
    const struct divergence_options *options = &divergence->options;
    return (struct divergence_subject){options->reference, options->kv_type, options->adapters,
                                       options->adapter_count};
}

static enum td_status go_on(const struct divergence *divergence, struct td_error *err)
{
    const atomic_bool *cancel = divergence->options.cancel;
    return cancel && atomic_load(cancel) ? error_set(err, TD_CANCELLED, "interrupted") : TD_OK;
}

static enum td_status keep_reference(struct divergence *divergence, struct td_error *err)
{
    struct td_session *session = NULL;
    size_t vocab = divergence->options.reference->vocab_count;
    const struct divergence_subject reference = reference_of(divergence);
    enum td_status status = open_session(divergence, &reference, &session, err);
    float *to = divergence->kept;
    for (size_t w = 0; status == TD_OK && w < divergence->window_count; w++) {
        const struct window *window = &divergence->windows[w];
        status = go_on(divergence, err);
        if (status == TD_OK)
            status = read_given(session, window, err);
        for (uint32_t at = window->given - 1; status == TD_OK && at + 1 < window->count;
             at += ROWS) {
            uint32_t rows = window->count - 1 - at < ROWS ? window->count - 1 - at : ROWS;
            status = td_session_forward(session, window->ids + at, rows, to, rows, err);
            to += rows * vocab;
        }
    }
    td_session_free(session);
    return status;
}

enum td_status divergence_new(const struct divergence_options *options, struct divergence **out,
                              struct td_error *err)
{
    ASSERT(options->reference != NULL);
    struct divergence *divergence = calloc(1, sizeof *divergence);
    if (divergence == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory to compare models");
    divergence->options = *options;
    uint32_t *context = &divergence->options.context_tokens;
    *context = *context ? *context : CONTEXT_DEFAULT;
    if (*context > options->reference->context_size)
        *context = options->reference->context_size;
    size_t vocab = options->reference->vocab_count;
    enum td_status status = model_require_decoder(options->reference, err);
    if (status == TD_OK)
        status = cut_windows(divergence, err);
    if (status == TD_OK) {
        divergence->rows = malloc(2 * ROWS * vocab * sizeof *divergence->rows);
        uint64_t bytes = divergence->token_count * vocab * sizeof *divergence->kept;
        if (bytes <= DIVERGENCE_KEPT_BYTES_MAX)
            divergence->kept = malloc((size_t)bytes);
        if (divergence->rows == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for %d rows of logits", 2 * ROWS);
    }
    if (status == TD_OK && divergence->kept)
        status = keep_reference(divergence, err);
    if (status != TD_OK) {
        divergence_free(divergence);
        return status;
    }
    *out = divergence;
    return TD_OK;
}

void divergence_free(struct divergence *divergence)
{
    if (divergence == NULL)
        return;
    free(divergence->windows);
    free(divergence->text_tokens);
    free(divergence->kept);
    free(divergence->rows);
    free(divergence);
}

uint64_t divergence_tokens(const struct divergence *divergence)
{
    return divergence->token_count;
}

uint64_t divergence_text_tokens(const struct divergence *divergence, size_t text)
{
    return divergence->text_tokens[text];
}

/* --- comparing --- */

/* Sums of a comparison. */
struct sums {
    double kld, kld_square, kld_max, nll_reference, nll;
    uint64_t tokens, same_top;
};

/* KLD of one token: sum of p (log p - log q), with log p = logit - max - log(sum of exp). */
static double token_divergence(const float *p, const float *q, size_t vocab,
                               const struct logit_stats *p_stats, const struct logit_stats *q_stats)
{
    double p_log = log(p_stats->sum_exp) + (double)p_stats->max;
    double q_log = log(q_stats->sum_exp) + (double)q_stats->max;
    double sum = 0;
    for (size_t i = 0; i < vocab; i++) {
        double log_p = (double)p[i] - p_log;
        if (log_p > -30) /* below it a term is under 1e-11 */
            sum += exp(log_p) * (log_p - ((double)q[i] - q_log));
    }
    return sum > 0 ? sum : 0;
}

static enum td_status compare_token(const struct kernels *kernels, const float *p, const float *q,
                                    size_t vocab, int32_t id, struct sums *sums, float *each,
                                    struct td_error *err)
{
    struct logit_stats p_stats, q_stats;
    kernels->logit_stats(p, vocab, &p_stats);
    kernels->logit_stats(q, vocab, &q_stats);
    double kld = token_divergence(p, q, vocab, &p_stats, &q_stats);
    sums->nll_reference += log(p_stats.sum_exp) - (double)(p[id] - p_stats.max);
    sums->nll += log(q_stats.sum_exp) - (double)(q[id] - q_stats.max);
    if (!isfinite(kld) || !isfinite(sums->nll) || !isfinite(sums->nll_reference))
        return error_set(err, TD_CORRUPT,
                         "the model's output is not a number: its weights are damaged");
    each[sums->tokens++] = (float)kld;
    sums->kld += kld;
    sums->kld_square += kld * kld;
    sums->kld_max = kld > sums->kld_max ? kld : sums->kld_max;
    sums->same_top += p_stats.argmax == q_stats.argmax;
    return TD_OK;
}

static enum td_status compare_window(const struct divergence *divergence,
                                     const struct window *window, struct td_session *reference,
                                     struct td_session *session, struct sums *sums, float *each,
                                     struct td_error *err)
{
    size_t vocab = session->model->vocab_count;
    float *q = divergence->rows + ROWS * vocab;
    enum td_status status = read_given(session, window, err);
    if (status == TD_OK && reference)
        status = read_given(reference, window, err);
    for (uint32_t at = window->given - 1; status == TD_OK && at + 1 < window->count; at += ROWS) {
        uint32_t rows = window->count - 1 - at < ROWS ? window->count - 1 - at : ROWS;
        const float *p = divergence->rows;
        if (divergence->kept)
            p = divergence->kept + sums->tokens * vocab;
        else
            status =
                td_session_forward(reference, window->ids + at, rows, divergence->rows, rows, err);
        if (status == TD_OK)
            status = td_session_forward(session, window->ids + at, rows, q, rows, err);
        for (uint32_t r = 0; status == TD_OK && r < rows; r++)
            status = compare_token(session->model->kernels, p + r * vocab, q + r * vocab, vocab,
                                   window->ids[at + r + 1], sums, each, err);
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left > right) - (left < right);
}

static void summarise(const struct sums *sums, float *sorted, struct divergence_result *result)
{
    double n = (double)sums->tokens, mean = sums->kld / n;
    double variance = sums->kld_square / n - mean * mean;
    qsort(sorted, sums->tokens, sizeof *sorted, by_value);
    *result = (struct divergence_result){
        .token_count = sums->tokens,
        .kld_mean = mean,
        .kld_p99 = (double)sorted[(size_t)(0.99 * (n - 1))],
        .kld_max = sums->kld_max,
        .kld_error = variance > 0 ? sqrt(variance / n) : 0,
        .same_top = (double)sums->same_top / n,
        .perplexity_reference = exp(sums->nll_reference / n),
        .perplexity = exp(sums->nll / n),
    };
}

enum td_status divergence_measure(struct divergence *divergence,
                                  const struct divergence_subject *subject,
                                  struct divergence_result *result, float *each,
                                  struct td_error *err)
{
    const struct divergence_subject original = reference_of(divergence);
    const struct td_model *model = subject->model, *reference = original.model;
    if (model->vocab_count != reference->vocab_count)
        return error_set(err, TD_INVALID,
                         "%s has a vocabulary of %u, the reference %s one of %u: they cannot be "
                         "compared",
                         model->name, model->vocab_count, reference->name, reference->vocab_count);
    struct td_session *session = NULL, *other = NULL;
    struct sums sums = {0};
    float *values = malloc(divergence->token_count * sizeof *values);
    enum td_status status = TD_OK;
    if (values == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for %llu tokens",
                           (unsigned long long)divergence->token_count);
    if (status == TD_OK)
        status = open_session(divergence, subject, &session, err);
    if (status == TD_OK && !divergence->kept)
        status = open_session(divergence, &original, &other, err);
    for (size_t w = 0; status == TD_OK && w < divergence->window_count; w++) {
        status = go_on(divergence, err);
        if (status == TD_OK)
            status = compare_window(divergence, &divergence->windows[w], other, session, &sums,
                                    values, err);
    }
    if (status == TD_OK && each)
        memcpy(each, values, sums.tokens * sizeof *values);
    if (status == TD_OK)
        summarise(&sums, values, result);
    td_session_free(session);
    td_session_free(other);
    free(values);
    return status;
}

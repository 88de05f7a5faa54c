/* Measures how far a model's predictions are from those of a reference with the same vocabulary:
 * what compression costs. Kullback-Leibler divergence KLD(P || Q) = sum of p log(p / q) for each
 * token, P being the reference (2407.09141: it tells flips of answers, which perplexity hides). One
 * thread. */
#ifndef ENGINE_DIVERGENCE_H
#define ENGINE_DIVERGENCE_H

#include "tandem/engine.h"

#include <stdatomic.h>

struct divergence_result {
    uint64_t token_count;              /* predictions that were compared */
    double kld_mean, kld_p99, kld_max; /* nats */
    double kld_error;                  /* standard error of the mean */
    double same_top;                   /* share of tokens whose likeliest token is the same */
    double perplexity_reference, perplexity;
};

/* One text after the other; what is before a token of a text counts for it, up to the context. */
struct divergence;

struct divergence_options {
    uint32_t context_tokens; /* of a window; 0 = 512 */
    uint32_t tokens_max;     /* predictions to compare at most; 0 = all */
    uint32_t thread_count;
    const struct td_model *reference;
    /* [text_count] token ids of each text; fewer than two are passed over */
    const int32_t *const *texts;
    const size_t *counts;
    size_t text_count;
    /* [text_count]: the first tokens of each are given, such as a prompt, and no prediction of them
     * counts; NULL = all but the first token are predicted */
    const size_t *given;
    const struct td_adapter_use *adapters; /* [adapter_count] the reference runs with them */
    size_t adapter_count;
    enum td_kv_type kv_type;   /* of the reference's cache */
    const atomic_bool *cancel; /* looked at before each window; NULL = never */
};

/* The predictions of the reference are computed once and kept: [token_count, vocab] floats, or
 * anew for every comparison when they would take more than this. */
#define DIVERGENCE_KEPT_BYTES_MAX ((uint64_t)1 << 30)

/* **borrows** the options' texts and reference until divergence_free. **returns new**
 * (divergence_free). TD_INVALID: no text has two tokens. */
TD_MUST_CHECK enum td_status divergence_new(const struct divergence_options *options,
                                            struct divergence **out, struct td_error *err);
void divergence_free(struct divergence *divergence);

/* What is compared: a model, which may be the reference itself after its weights were changed or
 * with another type of cache. */
struct divergence_subject {
    const struct td_model *model;
    enum td_kv_type kv_type;
    const struct td_adapter_use *adapters; /* [adapter_count] */
    size_t adapter_count;
};

/* TD_INVALID: another vocabulary. TD_CANCELLED. each: NULL, or [divergence_tokens] for the KLD of
 * each token, text after text. */
TD_MUST_CHECK enum td_status divergence_measure(struct divergence *divergence,
                                                const struct divergence_subject *subject,
                                                struct divergence_result *result, float *each,
                                                struct td_error *err);
uint64_t divergence_tokens(const struct divergence *divergence);
/* Of them those of one text. */
uint64_t divergence_text_tokens(const struct divergence *divergence, size_t text);

#endif

/* Measures how well a model predicts a text: mean negative log-likelihood and perplexity, for
 * `tandem perplexity`. One thread. */
#ifndef ENGINE_PERPLEXITY_H
#define ENGINE_PERPLEXITY_H

#include "tandem/engine.h"

struct perplexity_options {
    struct td_session_options session;
    uint32_t windows_max; /* 0 = the whole text */
};

struct perplexity_result {
    uint64_t token_count;  /* of the text, including BOS */
    uint64_t scored_count; /* predicted tokens: all except the first of each window */
    double nll_sum;        /* nats */
    double perplexity;     /* exp(nll_sum / scored_count) */
    double seconds;
};

/* The text is tokenised once, with BOS first if the vocabulary asks for it, and cut into windows of
 * the session's context. A window starts with an empty cache and, if there is BOS, with BOS in
 * place of one token. All its tokens except the first are scored. nll: NULL, or [nll_count] for the
 * values of the first scored tokens. TD_INVALID for a text of fewer than two tokens. */
TD_MUST_CHECK enum td_status perplexity_measure(const struct td_model *model, struct td_str text,
                                                const struct perplexity_options *options,
                                                struct perplexity_result *result, float *nll,
                                                size_t nll_count, struct td_error *err);

#endif

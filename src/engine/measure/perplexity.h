/* How well a model predicts a text: mean negative log-likelihood and perplexity, for `tandem
 * perplexity`. */
#ifndef ENGINE_PERPLEXITY_H
#define ENGINE_PERPLEXITY_H

#include "tandem/engine.h"

struct perplexity_options {
    struct td_session_options session;
    uint32_t windows_max; /* 0 = the whole text */
};

struct perplexity_result {
    uint64_t token_count;  /* of the text, BOS included */
    uint64_t scored_count; /* predicted tokens: all but each window's first */
    double nll_sum;        /* nats */
    double perplexity;     /* exp(nll_sum / scored_count) */
    double seconds;
};

/* The text is tokenised once, BOS first where the vocabulary asks for it, and cut into windows of
 * the session's context; a window starts from an empty cache (a later one begins with BOS again, in
 * place of one token) and every token but its first is scored. nll: NULL, or room for the scored
 * tokens' values up to nll_count. TD_INVALID for a text of less than two tokens. */
TD_MUST_CHECK enum td_status perplexity_measure(const struct td_model *model, struct td_str text,
                                                const struct perplexity_options *options,
                                                struct perplexity_result *result, float *nll,
                                                size_t nll_count, struct td_error *err);

#endif

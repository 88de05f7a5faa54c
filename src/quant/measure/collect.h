/* Gathers the importance of a model's columns (imatrix.h) by running texts through it. One
 * thread. */
#ifndef QUANT_COLLECT_H
#define QUANT_COLLECT_H

#include "quant/measure/imatrix.h"
#include "quant/measure/texts.h"

#include <stdatomic.h>

struct collect_options {
    uint32_t context_tokens; /* of a chunk; 0 = 512 */
    uint32_t chunks_max;     /* 0 = all */
    uint32_t thread_count;
    const atomic_bool *cancel;
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* tokens; may be NULL */
    void *progress_ctx;
};

struct collect_result {
    uint32_t chunk_count, chunk_size;
    uint64_t token_count;
    double perplexity; /* of the texts: a sign that the model reads them as its own */
};

/* **returns new** (imatrix_free). TD_INVALID: there is nothing to read. */
TD_MUST_CHECK enum td_status collect_importance(const struct td_model *model,
                                                const struct texts *texts,
                                                const struct collect_options *options,
                                                struct imatrix **out, struct collect_result *result,
                                                struct td_error *err);

#endif

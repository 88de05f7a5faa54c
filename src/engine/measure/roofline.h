/* What this machine could do with a model, what the engine's parts should come to, and what bounds
 * it: the roofline model (Williams, Waterman, Patterson 2009) with read bandwidth and multiply-add
 * peak measured here and now. */
#ifndef ENGINE_ROOFLINE_H
#define ENGINE_ROOFLINE_H

#include "tandem/engine.h"

struct roofline_options {
    uint32_t prompt_tokens, decode_tokens; /* as they are measured; 0 = left out */
    uint32_t depth;                        /* positions that are in the cache before */
    uint32_t thread_count;                 /* 0 = one a core */
};

struct roofline_phase {
    double limit_tokens_per_s; /* that memory and multiply-adds allow; nothing else costs time */
    double predicted_tokens_per_s; /* sum of what the parts take; 0 = not predicted */
    const char *bottleneck;        /* "memory", "compute", "overhead" */
    const char *reason;            /* a sentence */
};

struct roofline {
    uint32_t thread_count;
    double read_bytes_per_s; /* 8 streams a thread */
    double peak_ops_per_s;   /* multiply-adds (2 operations) of the variant */
    bool peak_is_float;      /* of float; else int8 */
    double bytes_per_token; /* read to decode one: weights and the cache at the middle of the run */
    double ops_per_token;   /* of a prompt: products with the layers' weights */
    struct roofline_phase prefill, decode;
};

/* Measures for about two seconds and some passes through one and two layers. */
TD_MUST_CHECK enum td_status roofline_measure(const struct td_model *model,
                                              const struct roofline_options *options,
                                              struct roofline *out, struct td_error *err);

#endif

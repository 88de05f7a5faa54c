/* How fast this machine could run a model, how fast the engine's parts should be together, and what
 * limits them. This is the roofline model (Williams, Waterman, Patterson 2009); read bandwidth and
 * the peak of multiply-adds are measured. One thread calls. */
#ifndef ENGINE_ROOFLINE_H
#define ENGINE_ROOFLINE_H

#include "tandem/engine.h"

struct roofline_options {
    uint32_t prompt_tokens, decode_tokens; /* of the measured run; prompt_tokens 0 = no prompt */
    uint32_t depth;                        /* cached positions before the run */
    uint32_t thread_count;                 /* 0 = one for each fast core */
};

struct roofline_phase {
    double limit_tokens_per_s;     /* what memory and multiply-adds allow */
    double predicted_tokens_per_s; /* from the times of the parts; 0 = not predicted */
    const char *bottleneck;        /* "memory", "compute" or "overhead" */
    const char *reason;            /* a sentence for the user */
};

struct roofline {
    uint32_t thread_count;
    double read_bytes_per_s; /* with 8 streams for each thread */
    double peak_ops_per_s;   /* of the variant; a multiply-add is 2 operations */
    bool peak_is_float;      /* of floats; otherwise of int8 */
    double bytes_per_token;  /* to decode one: weights, and the cache in the middle of the run */
    double ops_per_token;    /* of a prompt: products with the weights of the layers */
    struct roofline_phase prefill, decode;
};

/* Measures for about two seconds and some passes through one and two layers. */
TD_MUST_CHECK enum td_status roofline_measure(const struct td_model *model,
                                              const struct roofline_options *options,
                                              struct roofline *out, struct td_error *err);

#endif

/* Activation-aware scaling (AWQ: Lin et al. 2024, section 3.2). The columns of a matrix that meet
 * large inputs are multiplied by s > 1 before rounding, so that their rounding error counts less,
 * and what makes those inputs is divided by s: the norm before the matrix, or the rows of the
 * matrix before. The model computes the same, but for what rounding does to it. s is a power of the
 * inputs' size; the power is one that brings the whole model nearer to the original. */
#ifndef QUANT_SCALING_H
#define QUANT_SCALING_H

#include "engine/measure/divergence.h"
#include "quant/quantize/quantize.h"

struct scaling;

struct scaling_options {
    const char *path;              /* of the plan's model, written without scales; it is changed */
    struct divergence *divergence; /* from the original */
    struct thread_pool *threads;
    void (*progress)(void *ctx, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_ctx;
};

struct scaling_result {
    uint32_t groups, scaled; /* that were tried, and that gained */
    bool refused;            /* some seemed to gain, but the whole model did not */
    double kld_plain, kld;   /* nats, without and with scales, on tokens that chose nothing */
};

/* Searches scales for all groups of the model and puts them into the plan's items, which need
 * importance. **returns new** (scaling_free); it owns what the items point to. What the file has
 * then is not the plan's model: write it anew. TD_INVALID: the text has too few tokens to choose
 * and to judge. TD_IO: the file cannot be written. TD_CANCELLED: by the divergence. After a
 * failure the plan has no scales. */
TD_MUST_CHECK enum td_status scaling_search(struct quantize_plan *plan,
                                            const struct scaling_options *options,
                                            struct scaling **out, struct scaling_result *result,
                                            struct td_error *err);
/* Takes all scales out of the plan. */
void scaling_clear(struct quantize_plan *plan);
/* Accepts NULL. The plan must not be used after it unless it was cleared. */
void scaling_free(struct scaling *scaling);

#endif

/* Activation-aware scaling (AWQ: Lin et al. 2024, section 3.2). The columns of a matrix that meet
 * large inputs are multiplied by s > 1 before rounding, so that their rounding error counts less,
 * and what makes those inputs is divided by s: the norm before the matrix, or the rows of the
 * matrix before. The model computes the same, but for what rounding does to it. s is a power of the
 * inputs' size; the power is the one that makes the expected error of the outputs smallest. */
#ifndef QUANT_SCALING_H
#define QUANT_SCALING_H

#include "quant/quantize.h"

struct scaling;

struct scaling_result {
    uint32_t groups, scaled; /* that were tried, and that gained */
    double gain;             /* share of the expected error that went away, mean over the groups */
};

/* Searches scales for all groups of the model and puts them into the plan's items, which need
 * importance. **returns new** (scaling_free); it owns what the items point to, and the plan must
 * not be used after it is freed. progress may be NULL. */
TD_MUST_CHECK enum td_status
scaling_search(struct quantize_plan *plan, struct thread_pool *threads,
               void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx,
               struct scaling **out, struct scaling_result *result, struct td_error *err);
void scaling_free(struct scaling *scaling);

#endif

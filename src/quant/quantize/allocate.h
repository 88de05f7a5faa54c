/* A bit width for each tensor: chosen so that the model is as near to the original as a size
 * allows, or as small as a divergence allows.
 *
 * For each tensor the divergence of the whole model is measured with that tensor alone rounded to
 * four bits. How it grows with fewer bits follows from the tensor's own rounding error, because a
 * small divergence grows with the square of the error. Divergences of tensors add up, nearly. So
 * the choice is a knapsack: of all upgrades the one that takes away the most divergence for a byte
 * comes first (the greedy solution is within one tensor of the best). */
#ifndef QUANT_ALLOCATE_H
#define QUANT_ALLOCATE_H

#include "engine/measure/divergence.h"
#include "engine/model/model.h"
#include "quant/quantize/quantize.h"

#define ALLOCATE_TYPES 7

/* What is known of one item. */
struct allocate_item {
    enum tensor_type types[ALLOCATE_TYPES]; /* fewer bits first */
    uint64_t bytes[ALLOCATE_TYPES];
    double kld[ALLOCATE_TYPES]; /* nats: expected share of the divergence */
    unsigned type_count;        /* 0 = nothing to choose */
};

struct allocation {
    struct allocate_item *items; /* [plan->item_count] */
    size_t item_count;
};

/* Measures all items of the plan. `model` is the plan's own file opened as a model, which nobody
 * else uses; its weights are exchanged for the time of a measurement. **returns new**
 * (allocation_deinit, also after a failure). TD_NO_MEMORY, TD_CANCELLED. */
TD_MUST_CHECK enum td_status
allocate_measure(struct allocation *allocation, const struct quantize_plan *plan,
                 struct td_model *model, struct divergence *divergence, const atomic_bool *cancel,
                 void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx,
                 struct td_error *err);
void allocation_deinit(struct allocation *allocation);

/* Choose the types of the plan's items. Give the divergence that is expected; TD_LIMIT when even
 * the fewest bits are more than that, or the most bits diverge more. */
TD_MUST_CHECK enum td_status allocate_by_size(const struct allocation *allocation,
                                              struct quantize_plan *plan, uint64_t tensor_bytes,
                                              double *kld, struct td_error *err);
TD_MUST_CHECK enum td_status allocate_by_kld(const struct allocation *allocation,
                                             struct quantize_plan *plan, double kld_max,
                                             double *kld, struct td_error *err);

#endif

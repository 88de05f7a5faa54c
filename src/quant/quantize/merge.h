/* Adapters merged into a model: W' = W + scale * alpha / rank * B A for each matrix that they
 * change, row by row, in float; then the row is rounded to the type of its tensor. So a change that
 * is smaller than a type's steps is lost, which the caller measures. One thread calls; several make
 * rows. */
#ifndef QUANT_MERGE_H
#define QUANT_MERGE_H

#include "quant/quantize/quantize.h"
#include "tandem/engine.h"

struct merge;

struct merge_adapter {
    const char *path;
    float scale;
};

/* Reads the adapters for the items of a plan. model: the plan's file, opened; it says whether an
 * adapter fits. **borrows** the plan. **returns new** (merge_free). TD_UNSUPPORTED: an adapter
 * changes the embedding, and the model's output is the same matrix. */
TD_MUST_CHECK enum td_status merge_new(const struct td_model *model,
                                       const struct quantize_plan *plan,
                                       const struct merge_adapter *adapters, size_t count,
                                       struct merge **out, struct td_error *err);
void merge_free(struct merge *merge);
/* Gives items that are changed and whose type cannot be written the type Q8_0. Returns how many
 * items are changed. */
size_t merge_settle(const struct merge *merge, struct quantize_plan *plan);

/* For quantize_options: ctx is the struct merge. */
void merge_edit(void *ctx, size_t item, uint64_t row, float *x, size_t cols);
bool merge_edits(void *ctx, size_t item);

#endif

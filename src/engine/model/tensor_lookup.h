/* Looks up tensors of a model by name, type and shape while it is loaded. The first one that is
 * missing or wrong is an error that names it. So is a tensor that nobody takes: a model whose extra
 * bias or expert is silently left out would compute something, but not what it was trained for. One
 * thread. */
#ifndef ENGINE_TENSOR_LOOKUP_H
#define ENGINE_TENSOR_LOOKUP_H

#include "engine/model/model.h"

struct tensor_lookup {
    const struct td_model *model;
    struct td_error *err;
    enum td_status status; /* the first failure; later look-ups do nothing */
    bool *used;            /* [tensor count] */
};

/* **borrows** the model, whose gguf and kernels must be set. Call tensor_lookup_deinit in any
 * case. */
TD_MUST_CHECK enum td_status tensor_lookup_init(struct tensor_lookup *lookup,
                                                const struct td_model *model, struct td_error *err);
void tensor_lookup_deinit(struct tensor_lookup *lookup);

/* NULL when the tensor is absent, which is a failure if it is required, and after a failure.
 * **borrows** from the file. */
const struct gguf_tensor *tensor_take(struct tensor_lookup *lookup, const char *name,
                                      bool required);
/* Checks that the shape is [experts, rows, cols]. Otherwise it is a failure and false. */
bool tensor_has_shape(struct tensor_lookup *lookup, const struct gguf_tensor *tensor, uint64_t cols,
                      uint64_t rows, uint64_t experts);
/* Takes a vector, which must be F32 [len]. */
const float *tensor_take_vector(struct tensor_lookup *lookup, const char *name, uint32_t len,
                                bool required);
/* The F32 tensor `.scale` beside a `.weight`: what its products are multiplied with, one number for
 * the matrix or one for each expert. Files in NVFP4 have it, whose blocks have scales of 8 bits.
 * Takes `.input_scale` as well, and has no use for it. NULL = there is none. */
const float *tensor_take_scales(struct tensor_lookup *lookup, const struct gguf_tensor *tensor);

/* The rows [row_begin, row_begin + rows) of the tensor (of its first expert), without a number. */
struct weight tensor_weight(const struct tensor_lookup *lookup, const struct gguf_tensor *tensor,
                            uint32_t row_begin, uint32_t rows);
/* Fails if nobody took a tensor, unless its name begins with one of `allowed` (NULL-terminated). */
void tensor_lookup_refuse_unused(struct tensor_lookup *lookup, const char *const *allowed);

#endif

/* Tensors of a model by name, type and shape, on the way of loading: the first that is not as it
 * should be ends it with an error that names it, and so does one that nobody asked for: a model with
 * an extra bias or expert that is silently left out computes something, only not what it was trained
 * to. One thread. */
#ifndef ENGINE_TENSOR_LOOKUP_H
#define ENGINE_TENSOR_LOOKUP_H

#include "engine/model/model.h"

struct tensor_lookup {
    const struct td_model *model;
    struct td_error *err;
    enum td_status status; /* the first failure; later look-ups do nothing */
    bool *used;            /* [tensor count] */
};

/* **borrows** the model, whose file and kernels must be there. Deinit in any case. */
TD_MUST_CHECK enum td_status tensor_lookup_init(struct tensor_lookup *lookup,
                                                const struct td_model *model, struct td_error *err);
void tensor_lookup_deinit(struct tensor_lookup *lookup);

/* NULL where it is not there, which is a failure when it is required, and after a failure.
 * **borrows** from the file. */
const struct gguf_tensor *tensor_take(struct tensor_lookup *lookup, const char *name,
                                      bool required);
/* False, and a failure, for another shape than [experts, rows, cols]. */
bool tensor_has_shape(struct tensor_lookup *lookup, const struct gguf_tensor *tensor, uint64_t cols,
                      uint64_t rows, uint64_t experts);
/* F32 [len]. */
const float *tensor_take_vector(struct tensor_lookup *lookup, const char *name, uint32_t len,
                                bool required);
/* `rows` of the tensor's, from row_begin on (of the first expert's), with no number. */
struct weight tensor_weight(const struct tensor_lookup *lookup, const struct gguf_tensor *tensor,
                            uint32_t row_begin, uint32_t rows);
/* Fails at a tensor that nobody took, but those of `allowed` prefixes (NULL at the end). */
void tensor_lookup_refuse_unused(struct tensor_lookup *lookup, const char *const *allowed);

#endif

/* Looks up tensors while a model is loaded. The first failure is kept and makes every later look-up
 * do nothing, so that the lists of tensors in model.c and bert.c read as lists, without a check
 * after each line. */
#include "engine/model/tensor_lookup.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "engine/model/model_keys.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum td_status tensor_lookup_init(struct tensor_lookup *lookup, const struct td_model *model,
                                  struct td_error *err)
{
    ASSERT(model->gguf != NULL && model->kernels != NULL);
    *lookup = (struct tensor_lookup){.model = model, .err = err};
    lookup->used = calloc(gguf_tensor_count(model->gguf) + 1, sizeof *lookup->used);
    if (lookup->used == NULL)
        lookup->status = model_fail(model, err, TD_NO_MEMORY, "no memory for a list of %zu tensors",
                                    gguf_tensor_count(model->gguf));
    return lookup->status;
}

void tensor_lookup_deinit(struct tensor_lookup *lookup)
{
    free(lookup->used);
    lookup->used = NULL;
}

const struct gguf_tensor *tensor_take(struct tensor_lookup *lookup, const char *name, bool required)
{
    const struct gguf *gguf = lookup->model->gguf;
    if (lookup->status != TD_OK)
        return NULL;
    const struct gguf_tensor *tensor = gguf_find_tensor(gguf, name);
    if (tensor)
        lookup->used[tensor - gguf_tensor_at(gguf, 0)] = true;
    else if (required)
        lookup->status =
            model_fail(lookup->model, lookup->err, TD_CORRUPT, "tensor '%s' is missing", name);
    return tensor;
}

bool tensor_has_shape(struct tensor_lookup *lookup, const struct gguf_tensor *tensor, uint64_t cols,
                      uint64_t rows, uint64_t experts)
{
    if (tensor->dims[0] == cols && tensor->dims[1] == rows && tensor->dims[2] == experts &&
        tensor->dims[3] == 1)
        return true;
    lookup->status =
        model_fail(lookup->model, lookup->err, TD_CORRUPT,
                   "tensor '" STR_FMT "' is [%llu, %llu, %llu, %llu], expected [%llu, %llu, %llu]",
                   STR_ARG(tensor->name), (unsigned long long)tensor->dims[0],
                   (unsigned long long)tensor->dims[1], (unsigned long long)tensor->dims[2],
                   (unsigned long long)tensor->dims[3], (unsigned long long)cols,
                   (unsigned long long)rows, (unsigned long long)experts);
    return false;
}

const float *tensor_take_vector(struct tensor_lookup *lookup, const char *name, uint32_t len,
                                bool required)
{
    const struct gguf_tensor *tensor = tensor_take(lookup, name, required);
    if (tensor == NULL || !tensor_has_shape(lookup, tensor, len, 1, 1))
        return NULL;
    if (tensor->type != TENSOR_F32) {
        lookup->status = model_fail(lookup->model, lookup->err, TD_UNSUPPORTED,
                                    "tensor '%s' is not F32, as vectors must be", name);
        return NULL;
    }
    return tensor->data;
}

struct weight tensor_weight(const struct tensor_lookup *lookup, const struct gguf_tensor *tensor,
                            uint32_t row_begin, uint32_t rows)
{
    ASSERT((uint64_t)row_begin + rows <= tensor->dims[1]);
    size_t row_bytes = tensor->bytes / (size_t)(tensor->dims[1] * tensor->dims[2]);
    enum tensor_type type = (enum tensor_type)tensor->type;
    return (struct weight){.data = (const uint8_t *)tensor->data + row_begin * row_bytes,
                           .row_bytes = row_bytes,
                           .rows = rows,
                           .cols = (uint32_t)tensor->dims[0],
                           .type = type,
                           .form = lookup->model->kernels->form_of(type),
                           .expert_bytes =
                               tensor->dims[2] > 1 ? (size_t)tensor->dims[1] * row_bytes : 0,
                           .number = WEIGHT_UNNUMBERED};
}

/* Of "blk.0.attn_q.weight" "blk.0.attn_q.<what>"; NULL when there is none. */
static const struct gguf_tensor *take_beside(struct tensor_lookup *lookup,
                                             const struct gguf_tensor *tensor, const char *what)
{
    char name[96];
    struct td_str stem = tensor->name;
    if (!str_ends_with(stem, STR(".weight")) || stem.len + strlen(what) >= sizeof name)
        return NULL;
    stem.len -= strlen("weight");
    snprintf(name, sizeof name, STR_FMT "%s", STR_ARG(stem), what);
    return tensor_take(lookup, name, false);
}

const float *tensor_take_scales(struct tensor_lookup *lookup, const struct gguf_tensor *tensor)
{
    take_beside(lookup, tensor, "input_scale"); /* of activations in 4 bits: ours keep 8 */
    const struct gguf_tensor *scales = take_beside(lookup, tensor, "scale");
    uint64_t count = tensor->dims[2];
    if (!scales || !tensor_has_shape(lookup, scales, count, 1, 1))
        return NULL;
    const float *values = scales->data;
    bool usable = scales->type == TENSOR_F32;
    for (uint64_t i = 0; usable && i < count; i++)
        usable = isfinite(values[i]);
    if (usable)
        return values;
    lookup->status =
        model_fail(lookup->model, lookup->err, TD_CORRUPT,
                   "tensor '" STR_FMT "' is not of finite F32 numbers", STR_ARG(scales->name));
    return NULL;
}

static bool is_allowed(struct td_str name, const char *const *allowed)
{
    while (*allowed && !str_starts_with(name, str_from(*allowed)))
        allowed++;
    return *allowed != NULL;
}

void tensor_lookup_refuse_unused(struct tensor_lookup *lookup, const char *const *allowed)
{
    const struct td_model *model = lookup->model;
    for (size_t i = 0; lookup->status == TD_OK && i < gguf_tensor_count(model->gguf); i++) {
        struct td_str name = gguf_tensor_at(model->gguf, i)->name;
        if (!lookup->used[i] && !is_allowed(name, allowed))
            lookup->status = model_fail(model, lookup->err, TD_UNSUPPORTED,
                                        "architecture '%s' has no use for tensor '" STR_FMT "'",
                                        model->architecture->name, STR_ARG(name));
    }
}

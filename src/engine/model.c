/* The tensors of a model, with every shape checked before the forward pass trusts it.
 *
 * A tensor that nobody asked for is an error too: a model with an extra bias or expert that is
 * silently left out computes something, only not what it was trained to. */
#include "engine/model.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/bert.h"
#include "engine/heads.h"

#include <stdio.h>
#include <stdlib.h>

struct lookup {
    struct td_model *model;
    struct td_error *err;
    enum td_status status; /* the first failure; later look-ups do nothing */
    bool *used;            /* [tensor count] */
};

static const struct gguf_tensor *take(struct lookup *lookup, const char *name, bool required)
{
    if (lookup->status != TD_OK)
        return NULL;
    const struct gguf_tensor *tensor = gguf_find_tensor(lookup->model->gguf, name);
    if (tensor)
        lookup->used[tensor - gguf_tensor_at(lookup->model->gguf, 0)] = true;
    else if (required)
        lookup->status = error_set(lookup->err, TD_CORRUPT, "%s: tensor '%s' is missing",
                                   gguf_path(lookup->model->gguf), name);
    return tensor;
}

static bool has_shape(struct lookup *lookup, const struct gguf_tensor *tensor, uint64_t cols,
                      uint64_t rows, uint64_t experts)
{
    if (tensor->dims[0] == cols && tensor->dims[1] == rows && tensor->dims[2] == experts &&
        tensor->dims[3] == 1)
        return true;
    lookup->status = error_set(
        lookup->err, TD_CORRUPT,
        "%s: tensor '" STR_FMT "' is [%llu, %llu, %llu, %llu], expected [%llu, %llu, %llu]",
        gguf_path(lookup->model->gguf), STR_ARG(tensor->name), (unsigned long long)tensor->dims[0],
        (unsigned long long)tensor->dims[1], (unsigned long long)tensor->dims[2],
        (unsigned long long)tensor->dims[3], (unsigned long long)cols, (unsigned long long)rows,
        (unsigned long long)experts);
    return false;
}

/* Matrices of a layer with experts (q, k, v, o, router, gate, up, down), and of the ends. */
#define LAYER_MATRICES_MAX 8
#define END_MATRICES 2

/* `rows` of the tensor's, from row_begin on (of the first expert's). */
static void fill_weight(struct lookup *lookup, const struct gguf_tensor *tensor, uint32_t row_begin,
                        uint32_t rows, struct weight *out)
{
    size_t row_bytes = tensor->bytes / (size_t)(tensor->dims[1] * tensor->dims[2]);
    *out = (struct weight){.data = (const uint8_t *)tensor->data + row_begin * row_bytes,
                           .row_bytes = row_bytes,
                           .rows = rows,
                           .cols = (uint32_t)tensor->dims[0],
                           .type = (enum tensor_type)tensor->type};
    if (tensor->dims[2] > 1)
        out->expert_bytes = (size_t)tensor->dims[1] * row_bytes;
    out->form = lookup->model->kernels->form_of(out->type);
    struct td_model *model = lookup->model;
    out->number = model->matrix_count++;
    model->matrices[out->number] = (struct matrix){tensor, row_begin, rows};
}

static void take_matrix(struct lookup *lookup, const char *name, uint32_t rows, uint32_t cols,
                        struct weight *out)
{
    const struct gguf_tensor *tensor = take(lookup, name, true);
    if (tensor && has_shape(lookup, tensor, cols, rows, 1))
        fill_weight(lookup, tensor, 0, rows, out);
}

/* One tensor whose rows are those of several matrices, one after the other. */
struct part {
    uint32_t rows;
    struct weight *out;
};

static void take_fused(struct lookup *lookup, const char *name, uint32_t cols,
                       const struct part *parts, size_t part_count)
{
    uint32_t rows = 0;
    for (size_t i = 0; i < part_count; i++)
        rows += parts[i].rows;
    const struct gguf_tensor *tensor = take(lookup, name, true);
    if (tensor == NULL || !has_shape(lookup, tensor, cols, rows, 1))
        return;
    for (size_t i = 0, begin = 0; i < part_count; begin += parts[i++].rows)
        fill_weight(lookup, tensor, (uint32_t)begin, parts[i].rows, parts[i].out);
}

static void take_experts(struct lookup *lookup, const char *name, uint32_t rows, uint32_t cols,
                         struct weight *out)
{
    const struct gguf_tensor *tensor = take(lookup, name, true);
    if (tensor && has_shape(lookup, tensor, cols, rows, lookup->model->expert_count))
        fill_weight(lookup, tensor, 0, rows, out);
}

static const float *take_vector(struct lookup *lookup, const char *name, uint32_t len,
                                enum presence presence)
{
    if (presence == PRESENCE_NEVER)
        return NULL;
    const struct gguf_tensor *tensor = take(lookup, name, presence == PRESENCE_REQUIRED);
    if (tensor == NULL || !has_shape(lookup, tensor, len, 1, 1))
        return NULL;
    if (tensor->type != TENSOR_F32) {
        lookup->status =
            error_set(lookup->err, TD_UNSUPPORTED, "%s: tensor '%s' is not F32, as vectors must be",
                      gguf_path(lookup->model->gguf), name);
        return NULL;
    }
    return tensor->data;
}

static const char *block_name(char out[static 64], uint32_t layer, const char *part)
{
    snprintf(out, 64, "blk.%u.%s", layer, part);
    return out;
}

static bool has_tensor(const struct lookup *lookup, const char *name)
{
    return gguf_find_tensor(lookup->model->gguf, name) != NULL;
}

static void take_attention(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    const struct architecture *traits = model->architecture;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, head = model->head_size;
    uint32_t q_rows = model->head_count * head, kv_rows = model->kv_head_count * head;
    char name[64];
    layer->attention_norm =
        take_vector(lookup, block_name(name, index, "attn_norm.weight"), wide, PRESENCE_REQUIRED);
    if (traits->fused && has_tensor(lookup, block_name(name, index, "attn_qkv.weight"))) {
        const struct part parts[] = {
            {q_rows, &layer->q}, {kv_rows, &layer->k}, {kv_rows, &layer->v}};
        take_fused(lookup, name, wide, parts, 3);
    } else {
        take_matrix(lookup, block_name(name, index, "attn_q.weight"), q_rows, wide, &layer->q);
        take_matrix(lookup, block_name(name, index, "attn_k.weight"), kv_rows, wide, &layer->k);
        take_matrix(lookup, block_name(name, index, "attn_v.weight"), kv_rows, wide, &layer->v);
    }
    take_matrix(lookup, block_name(name, index, "attn_output.weight"), wide, q_rows, &layer->o);
    enum presence bias = traits->qkv_bias, norm = traits->qk_norm;
    layer->q_bias = take_vector(lookup, block_name(name, index, "attn_q.bias"), q_rows, bias);
    layer->k_bias = take_vector(lookup, block_name(name, index, "attn_k.bias"), kv_rows, bias);
    layer->v_bias = take_vector(lookup, block_name(name, index, "attn_v.bias"), kv_rows, bias);
    layer->q_norm = take_vector(lookup, block_name(name, index, "attn_q_norm.weight"), head, norm);
    layer->k_norm = take_vector(lookup, block_name(name, index, "attn_k_norm.weight"), head, norm);
    layer->attention_output_norm = take_vector(
        lookup, block_name(name, index, "post_attention_norm.weight"), wide, traits->post_norm);
}

static void take_ffn(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    const struct architecture *traits = model->architecture;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, ffn = model->ffn_size;
    char name[64];
    layer->ffn_norm =
        take_vector(lookup, block_name(name, index, "ffn_norm.weight"), wide, PRESENCE_REQUIRED);
    layer->ffn_output_norm = take_vector(lookup, block_name(name, index, "post_ffw_norm.weight"),
                                         wide, traits->post_norm);
    if (traits->experts) {
        take_matrix(lookup, block_name(name, index, "ffn_gate_inp.weight"), model->expert_count,
                    wide, &layer->router);
        take_experts(lookup, block_name(name, index, "ffn_gate_exps.weight"), ffn, wide,
                     &layer->gate);
        take_experts(lookup, block_name(name, index, "ffn_up_exps.weight"), ffn, wide, &layer->up);
        take_experts(lookup, block_name(name, index, "ffn_down_exps.weight"), wide, ffn,
                     &layer->down);
        return;
    }
    if (traits->fused && !has_tensor(lookup, block_name(name, index, "ffn_gate.weight"))) {
        const struct part parts[] = {{ffn, &layer->gate}, {ffn, &layer->up}};
        take_fused(lookup, block_name(name, index, "ffn_up.weight"), wide, parts, 2);
    } else {
        take_matrix(lookup, block_name(name, index, "ffn_gate.weight"), ffn, wide, &layer->gate);
        take_matrix(lookup, block_name(name, index, "ffn_up.weight"), ffn, wide, &layer->up);
    }
    take_matrix(lookup, block_name(name, index, "ffn_down.weight"), wide, ffn, &layer->down);
}

static void take_ends(struct lookup *lookup)
{
    struct td_model *model = lookup->model;
    take_matrix(lookup, "token_embd.weight", model->vocab_count, model->embedding_size,
                &model->embedding);
    model->output_norm =
        take_vector(lookup, "output_norm.weight", model->embedding_size, PRESENCE_REQUIRED);
    const struct gguf_tensor *output = take(lookup, "output.weight", false);
    if (output == NULL && lookup->status == TD_OK) /* tied, yet a matrix of its own to adapters */
        fill_weight(lookup, gguf_find_tensor(model->gguf, "token_embd.weight"), 0,
                    model->vocab_count, &model->output);
    else if (output && has_shape(lookup, output, model->embedding_size, model->vocab_count, 1))
        fill_weight(lookup, output, 0, model->vocab_count, &model->output);
    take(lookup, "rope_freqs.weight", false); /* read by hyperparameters.c */
    take(lookup, "rope_factors_long.weight", false);
    take(lookup, "rope_factors_short.weight", false);
}

static void refuse_unused(struct lookup *lookup)
{
    struct td_model *model = lookup->model;
    for (size_t i = 0; lookup->status == TD_OK && i < gguf_tensor_count(model->gguf); i++) {
        struct td_str name = gguf_tensor_at(model->gguf, i)->name;
        if (!lookup->used[i] && !str_starts_with(name, STR("tandem.")))
            lookup->status =
                error_set(lookup->err, TD_UNSUPPORTED,
                          "%s: architecture '%s' has no use for tensor '" STR_FMT "'",
                          gguf_path(model->gguf), model->architecture->name, STR_ARG(name));
    }
}

enum td_status model_load(struct td_model *model, struct td_error *err)
{
    enum td_status status = model_load_hyperparameters(model, err);
    if (status != TD_OK)
        return status;
    if (model->architecture->encoder)
        return bert_load(model, err);
    struct lookup lookup = {.model = model, .err = err, .status = TD_OK};
    size_t tensor_count = gguf_tensor_count(model->gguf);
    lookup.used = calloc(tensor_count + 1, sizeof *lookup.used);
    model->layers = calloc(model->layer_count, sizeof *model->layers);
    model->matrices =
        calloc(model->layer_count * LAYER_MATRICES_MAX + END_MATRICES, sizeof *model->matrices);
    if (lookup.used == NULL || model->layers == NULL || model->matrices == NULL) {
        free(lookup.used);
        return error_set(err, TD_NO_MEMORY, "%s: no memory for %u layers", gguf_path(model->gguf),
                         model->layer_count);
    }
    lookup.status = model_load_layer_kinds(model, err);
    take_ends(&lookup);
    for (uint32_t i = 0; lookup.status == TD_OK && i < model->layer_count; i++) {
        take_attention(&lookup, i);
        take_ffn(&lookup, i);
    }
    if (lookup.status == TD_OK)
        refuse_unused(&lookup);
    free(lookup.used);
    return lookup.status == TD_OK ? heads_load(model, err) : lookup.status;
}

enum td_status model_require_decoder(const struct td_model *model, struct td_error *err)
{
    if (model->encoder == NULL)
        return TD_OK;
    return error_set(
        err, TD_UNSUPPORTED,
        "%s: architecture '%s' is an encoder: it has embeddings (tandem embed), no next "
        "tokens",
        gguf_path(model->gguf), model->architecture->name);
}

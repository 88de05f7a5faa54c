/* Looks up the tensors of a decoder and checks every shape, because the forward pass trusts them.
 * The table of architectures says which tensors there are. Matrices are numbered as they are taken;
 * adapters find the matrix that they change by that number. A tensor that nobody takes is an error
 * (tensor_lookup.h). */
#include "engine/model/model_keys.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "engine/model/bert.h"
#include "engine/model/heads.h"
#include "engine/model/tensor_lookup.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lookup {
    struct tensor_lookup tensors;
    struct td_model *model;
    size_t norm_count; /* of model->norms */
};

/* LayerNorms of a layer, and the last one. */
#define LAYER_NORMS 2
#define END_NORMS 1

/* Matrices of a layer with experts (q, k, v, o, router, gate, up, down, and the last three of a
 * shared expert); embedding, output, and the projection to the layers' inputs. */
#define LAYER_MATRICES_MAX 11
#define END_MATRICES 3

/* As tensor_weight, but with the next number of the model's matrices. */
static void fill_weight(struct lookup *lookup, const struct gguf_tensor *tensor, uint32_t row_begin,
                        uint32_t rows, struct weight *out)
{
    struct td_model *model = lookup->model;
    *out = tensor_weight(&lookup->tensors, tensor, row_begin, rows);
    out->number = model->matrix_count++;
    model->matrices[out->number] = (struct matrix){tensor, row_begin, rows};
}

static const struct gguf_tensor *take_plain(struct lookup *lookup, const char *name, uint32_t rows,
                                            uint32_t cols, struct weight *out)
{
    const struct gguf_tensor *tensor = tensor_take(&lookup->tensors, name, true);
    if (!tensor || !tensor_has_shape(&lookup->tensors, tensor, cols, rows, 1))
        return NULL;
    fill_weight(lookup, tensor, 0, rows, out);
    return tensor;
}

static void take_matrix(struct lookup *lookup, const char *name, uint32_t rows, uint32_t cols,
                        struct weight *out)
{
    const struct gguf_tensor *tensor = take_plain(lookup, name, rows, cols, out);
    if (tensor)
        out->scales = tensor_take_scales(&lookup->tensors, tensor);
}

/* A matrix in a fused tensor, which holds the rows of several matrices one after another. */
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
    const struct gguf_tensor *tensor = tensor_take(&lookup->tensors, name, true);
    if (tensor == NULL || !tensor_has_shape(&lookup->tensors, tensor, cols, rows, 1))
        return;
    const float *scales = tensor_take_scales(&lookup->tensors, tensor);
    for (size_t i = 0, begin = 0; i < part_count; begin += parts[i++].rows) {
        fill_weight(lookup, tensor, (uint32_t)begin, parts[i].rows, parts[i].out);
        parts[i].out->scales = scales;
    }
}

static void take_experts(struct lookup *lookup, const char *name, uint32_t rows, uint32_t cols,
                         struct weight *out)
{
    const struct gguf_tensor *tensor = tensor_take(&lookup->tensors, name, true);
    if (tensor &&
        tensor_has_shape(&lookup->tensors, tensor, cols, rows, lookup->model->expert_count)) {
        fill_weight(lookup, tensor, 0, rows, out);
        out->scales = tensor_take_scales(&lookup->tensors, tensor);
    }
}

static const float *take_vector(struct lookup *lookup, const char *name, uint32_t len,
                                enum presence presence)
{
    return presence == PRESENCE_NEVER
               ? NULL
               : tensor_take_vector(&lookup->tensors, name, len, presence == PRESENCE_REQUIRED);
}

/* A norm of the residual stream. A LayerNorm's weights and biases are brought together. */
static const float *take_norm(struct lookup *lookup, const char *name, enum presence presence)
{
    struct td_model *model = lookup->model;
    uint32_t wide = model->embedding_size;
    const float *weight = take_vector(lookup, name, wide, presence);
    if (!model->architecture->layer_norm || weight == NULL)
        return weight;
    char bias_name[64];
    snprintf(bias_name, sizeof bias_name, "%.*sbias", (int)(strlen(name) - strlen("weight")), name);
    const float *bias = take_vector(lookup, bias_name, wide, PRESENCE_REQUIRED);
    if (bias == NULL)
        return NULL;
    float *both = model->norms + 2 * (size_t)wide * lookup->norm_count++;
    memcpy(both, weight, wide * sizeof *both);
    memcpy(both + wide, bias, wide * sizeof *both);
    return both;
}

/* F32 [rows, cols]. */
static const float *take_floats(struct lookup *lookup, const char *name, uint32_t rows,
                                uint32_t cols)
{
    const struct gguf_tensor *tensor = tensor_take(&lookup->tensors, name, true);
    if (tensor == NULL || !tensor_has_shape(&lookup->tensors, tensor, cols, rows, 1))
        return NULL;
    if (tensor->type == TENSOR_F32)
        return tensor->data;
    lookup->tensors.status = model_fail(lookup->model, lookup->tensors.err, TD_UNSUPPORTED,
                                        "tensor '%s' is not F32", name);
    return NULL;
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

static void take_short_conv(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size;
    char name[64];
    const struct part parts[] = {{wide, &layer->k}, {wide, &layer->q}, {wide, &layer->v}};
    take_fused(lookup, block_name(name, index, "shortconv.in_proj.weight"), wide, parts, 3);
    take_matrix(lookup, block_name(name, index, "shortconv.out_proj.weight"), wide, wide,
                &layer->o);
    layer->conv = take_floats(lookup, block_name(name, index, "shortconv.conv.weight"), wide,
                              model->conv_width);
}

/* The file has a number for each head as a matrix of one column. */
static const float *take_column(struct lookup *lookup, const char *name, uint32_t rows)
{
    return take_floats(lookup, name, rows, 1);
}

static void take_ssm(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, heads = model->ssm_heads;
    uint32_t inner = heads * model->ssm_head_size, channels = model_ssm_channels(model);
    char name[64];
    const struct part parts[] = {{inner, &layer->v}, {channels, &layer->q}, {heads, &layer->k}};
    take_fused(lookup, block_name(name, index, "ssm_in.weight"), wide, parts, 3);
    take_matrix(lookup, block_name(name, index, "ssm_out.weight"), wide, inner, &layer->o);
    layer->conv = take_floats(lookup, block_name(name, index, "ssm_conv1d.weight"), channels,
                              model->conv_width);
    layer->ssm_conv_bias = take_vector(lookup, block_name(name, index, "ssm_conv1d.bias"), channels,
                                       PRESENCE_REQUIRED);
    layer->ssm_dt_bias =
        take_vector(lookup, block_name(name, index, "ssm_dt.bias"), heads, PRESENCE_REQUIRED);
    layer->ssm_decay = take_column(lookup, block_name(name, index, "ssm_a"), heads);
    layer->ssm_skip = take_column(lookup, block_name(name, index, "ssm_d"), heads);
    layer->ssm_norm = take_floats(lookup, block_name(name, index, "ssm_norm.weight"),
                                  model->ssm_groups, inner / model->ssm_groups);
    for (uint32_t i = 0; layer->ssm_decay && i < heads; i++)
        if (!(layer->ssm_decay[i] <= 0) && lookup->tensors.status == TD_OK)
            lookup->tensors.status = model_fail(model, lookup->tensors.err, TD_CORRUPT,
                                                "blk.%u.ssm_a[%u] is %g, above 0", index, i,
                                                (double)layer->ssm_decay[i]);
}

static bool reads_shared_keys(const struct td_model *model, uint32_t index)
{
    return index >= model->layer_count - model->shared_key_count;
}

/* The matrices of keys and values, as far as the layer has them. */
static void take_keys(struct lookup *lookup, uint32_t index, uint32_t rows)
{
    static const char *const unused[] = {"attn_k.weight", "attn_v.weight", "attn_k_norm.weight"};
    struct td_model *model = lookup->model;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size;
    char name[64];
    if (reads_shared_keys(model, index)) { /* some files have them nevertheless */
        for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
            const struct gguf_tensor *tensor =
                tensor_take(&lookup->tensors, block_name(name, index, unused[i]), false);
            if (tensor)
                tensor_take_scales(&lookup->tensors, tensor);
        }
        return;
    }
    take_matrix(lookup, block_name(name, index, "attn_k.weight"), rows, wide, &layer->k);
    block_name(name, index, "attn_v.weight");
    if (model->architecture->value_norm && !has_tensor(lookup, name))
        layer->v = layer->k; /* the same matrix, with its adapters */
    else
        take_matrix(lookup, name, rows, wide, &layer->v);
}

/* What a layer does with its own embedding of the token (layer_inputs.h). */
static void take_layer_inputs(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, size = model->layer_input_size;
    char name[64];
    if (model->architecture->layer_inputs)
        layer->output_scale = take_vector(
            lookup, block_name(name, index, "layer_output_scale.weight"), 1, PRESENCE_OPTIONAL);
    if (size == 0)
        return;
    take_matrix(lookup, block_name(name, index, "inp_gate.weight"), size, wide, &layer->input_gate);
    take_matrix(lookup, block_name(name, index, "proj.weight"), wide, size, &layer->input_proj);
    layer->input_norm =
        take_vector(lookup, block_name(name, index, "post_norm.weight"), wide, PRESENCE_REQUIRED);
}

static void take_attention(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    const struct architecture *traits = model->architecture;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, head = layer->head_size;
    uint32_t q_rows = layer->head_count * head, kv_rows = layer->kv_head_count * head;
    char name[64];
    if (q_rows == 0 && !traits->short_conv && !traits->ssm)
        return; /* a pruned layer without attention */
    if (traits->single_blocks && layer->ffn_size != 0)
        return;
    layer->attention_norm = take_norm(lookup, block_name(name, index, "attn_norm.weight"),
                                      traits->no_pre_norms ? PRESENCE_NEVER : PRESENCE_REQUIRED);
    if (kv_rows == 0 && traits->short_conv) {
        take_short_conv(lookup, index);
        return;
    }
    if (kv_rows == 0 && traits->ssm) {
        take_ssm(lookup, index);
        return;
    }
    if (kv_rows == 0) { /* one matrix is left of the attention */
        take_matrix(lookup, block_name(name, index, "attn_output.weight"), wide, wide, &layer->o);
        return;
    }
    if (traits->fused && has_tensor(lookup, block_name(name, index, "attn_qkv.weight"))) {
        const struct part parts[] = {
            {q_rows, &layer->q}, {kv_rows, &layer->k}, {kv_rows, &layer->v}};
        take_fused(lookup, name, wide, parts, 3);
    } else {
        take_matrix(lookup, block_name(name, index, "attn_q.weight"), q_rows, wide, &layer->q);
        take_keys(lookup, index, kv_rows);
    }
    take_matrix(lookup, block_name(name, index, "attn_output.weight"), wide, q_rows, &layer->o);
    enum presence bias = traits->qkv_bias, norm = traits->qk_norm;
    layer->q_bias = take_vector(lookup, block_name(name, index, "attn_q.bias"), q_rows, bias);
    layer->k_bias = take_vector(lookup, block_name(name, index, "attn_k.bias"), kv_rows, bias);
    layer->v_bias = take_vector(lookup, block_name(name, index, "attn_v.bias"), kv_rows, bias);
    bool whole = traits->qk_norm_whole, required = traits->all_biases;
    layer->q_norm = take_vector(lookup, block_name(name, index, "attn_q_norm.weight"),
                                whole ? q_rows : head, norm);
    if (!reads_shared_keys(model, index))
        layer->k_norm = take_vector(lookup, block_name(name, index, "attn_k_norm.weight"),
                                    whole ? kv_rows : head, norm);
    layer->v_norm = traits->value_norm ? model->norms : NULL;
    layer->o_bias = take_vector(lookup, block_name(name, index, "attn_output.bias"), wide,
                                required ? PRESENCE_REQUIRED : PRESENCE_NEVER);
    layer->sinks =
        take_vector(lookup, block_name(name, index, "attn_sinks.weight"), layer->head_count,
                    traits->sinks ? PRESENCE_REQUIRED : PRESENCE_NEVER);
    layer->attention_output_norm = take_vector(
        lookup, block_name(name, index, "post_attention_norm.weight"), wide, traits->post_norm);
}

static void take_layer_experts(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, ffn = layer->ffn_size, count = model->expert_count;
    char name[64];
    take_matrix(lookup, block_name(name, index, "ffn_gate_inp.weight"), count, wide,
                &layer->router);
    take_experts(lookup, block_name(name, index, "ffn_gate_exps.weight"), ffn, wide, &layer->gate);
    take_experts(lookup, block_name(name, index, "ffn_up_exps.weight"), ffn, wide, &layer->up);
    take_experts(lookup, block_name(name, index, "ffn_down_exps.weight"), wide, ffn, &layer->down);
    if (model->shared_ffn_size != 0) {
        uint32_t shared = model->shared_ffn_size;
        take_matrix(lookup, block_name(name, index, "ffn_gate_shexp.weight"), shared, wide,
                    &layer->shared_gate);
        take_matrix(lookup, block_name(name, index, "ffn_up_shexp.weight"), shared, wide,
                    &layer->shared_up);
        take_matrix(lookup, block_name(name, index, "ffn_down_shexp.weight"), wide, shared,
                    &layer->shared_down);
    }
    if (model->architecture->sigmoid_router)
        layer->router_bias = take_vector(lookup, block_name(name, index, "exp_probs_b.bias"), count,
                                         PRESENCE_REQUIRED);
    if (!model->architecture->all_biases)
        return;
    layer->router_bias =
        take_vector(lookup, block_name(name, index, "ffn_gate_inp.bias"), count, PRESENCE_REQUIRED);
    layer->gate_bias =
        take_floats(lookup, block_name(name, index, "ffn_gate_exps.bias"), count, ffn);
    layer->up_bias = take_floats(lookup, block_name(name, index, "ffn_up_exps.bias"), count, ffn);
    layer->down_bias =
        take_floats(lookup, block_name(name, index, "ffn_down_exps.bias"), count, wide);
}

static void take_ffn(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    const struct architecture *traits = model->architecture;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, ffn = layer->ffn_size;
    char name[64];
    if (ffn == 0)
        return;
    const char *norm = traits->ffn_norm_renamed ? "post_attention_norm.weight"
                       : traits->single_blocks  ? "attn_norm.weight"
                                                : "ffn_norm.weight";
    if (traits->layer_norm && !has_tensor(lookup, block_name(name, index, norm)) &&
        lookup->tensors.status == TD_OK) /* StableLM 2 12B */
        lookup->tensors.status =
            model_fail(model, lookup->tensors.err, TD_UNSUPPORTED,
                       "there is no %s: parallel residuals are not computed", name);
    layer->ffn_norm = take_norm(lookup, block_name(name, index, norm),
                                traits->no_pre_norms ? PRESENCE_NEVER : PRESENCE_REQUIRED);
    layer->ffn_output_norm = take_vector(lookup, block_name(name, index, "post_ffw_norm.weight"),
                                         wide, traits->post_norm);
    if (model->expert_count != 0 && index >= model->dense_count) {
        take_layer_experts(lookup, index);
        return;
    }
    if (traits->fused && !has_tensor(lookup, block_name(name, index, "ffn_gate.weight"))) {
        const struct part parts[] = {{ffn, &layer->gate}, {ffn, &layer->up}};
        take_fused(lookup, block_name(name, index, "ffn_up.weight"), wide, parts, 2);
    } else {
        if (!traits->squared_relu)
            take_matrix(lookup, block_name(name, index, "ffn_gate.weight"), ffn, wide,
                        &layer->gate);
        take_matrix(lookup, block_name(name, index, "ffn_up.weight"), ffn, wide, &layer->up);
    }
    take_matrix(lookup, block_name(name, index, "ffn_down.weight"), wide, ffn, &layer->down);
}

static void take_ends(struct lookup *lookup)
{
    struct td_model *model = lookup->model;
    take_plain(lookup, "token_embd.weight", model->vocab_count, model->embedding_size,
               &model->embedding);
    /* The file of a model with short convolutions calls it so. */
    const char *norm = has_tensor(lookup, "output_norm.weight") || !model->architecture->short_conv
                           ? "output_norm.weight"
                           : "token_embd_norm.weight";
    model->output_norm = take_norm(lookup, norm, PRESENCE_REQUIRED);
    const struct gguf_tensor *output = tensor_take(&lookup->tensors, "output.weight", false);
    if (output == NULL &&
        lookup->tensors.status == TD_OK) /* tied, but adapters see a matrix of its own */
        fill_weight(lookup, gguf_find_tensor(model->gguf, "token_embd.weight"), 0,
                    model->vocab_count, &model->output);
    else if (output)
        take_matrix(lookup, "output.weight", model->vocab_count, model->embedding_size,
                    &model->output);
    uint32_t size = model->layer_input_size, all = model->layer_count * size;
    if (size != 0) {
        const struct gguf_tensor *table =
            tensor_take(&lookup->tensors, "per_layer_token_embd.weight", true);
        if (table && tensor_has_shape(&lookup->tensors, table, all, model->vocab_count, 1))
            model->layer_tokens = tensor_weight(&lookup->tensors, table, 0, model->vocab_count);
        take_matrix(lookup, "per_layer_model_proj.weight", all, model->embedding_size,
                    &model->layer_proj);
        model->layer_proj_norm =
            take_vector(lookup, "per_layer_proj_norm.weight", size, PRESENCE_REQUIRED);
    }
    tensor_take(&lookup->tensors, "rope_freqs.weight", false); /* hyperparameters.c reads it */
    tensor_take(&lookup->tensors, "rope_factors_long.weight", false);
    tensor_take(&lookup->tensors, "rope_factors_short.weight", false);
}

enum td_status model_load(struct td_model *model, struct td_error *err)
{
    ASSERT(model->gguf != NULL && model->tokenizer != NULL && model->kernels != NULL);
    enum td_status status = model_load_hyperparameters(model, err);
    if (status != TD_OK)
        return status;
    if (model->architecture->encoder)
        return bert_load(model, err);
    static const char *const allowed[] = {"tandem.", "cls.", NULL}; /* rank_head.c */
    struct lookup lookup = {.model = model};
    model->layers = calloc(model->layer_count, sizeof *model->layers);
    model->matrices =
        calloc(model->layer_count * LAYER_MATRICES_MAX + END_MATRICES, sizeof *model->matrices);
    bool norms = model->architecture->layer_norm || model->architecture->value_norm;
    if (model->architecture->layer_norm)
        model->norms = calloc((model->layer_count * LAYER_NORMS + END_NORMS) * 2,
                              model->embedding_size * sizeof *model->norms);
    else if (norms)
        model->norms = calloc(model->head_size, sizeof *model->norms);
    for (uint32_t i = 0; model->architecture->value_norm && model->norms && i < model->head_size;)
        model->norms[i++] = 1.0f;
    if (model->layers == NULL || model->matrices == NULL || (model->norms == NULL && norms))
        return model_fail(model, err, TD_NO_MEMORY, "no memory for %u layers", model->layer_count);
    status = model_load_layer_kinds(model, err);
    if (status != TD_OK)
        return status;
    struct tensor_lookup *tensors = &lookup.tensors;
    status = tensor_lookup_init(tensors, model, err);
    take_ends(&lookup);
    for (uint32_t i = 0; tensors->status == TD_OK && i < model->layer_count; i++) {
        take_attention(&lookup, i);
        take_ffn(&lookup, i);
        take_layer_inputs(&lookup, i);
    }
    if (tensors->status == TD_OK)
        tensor_lookup_refuse_unused(tensors, allowed);
    tensor_lookup_deinit(tensors);
    return tensors->status == TD_OK ? heads_load(model, err) : tensors->status;
}

struct weight *model_layer_weight(struct layer *layer, size_t number)
{
#define AT(member) offsetof(struct layer, member)
    static const uint16_t at[] = {AT(q),           AT(k),         AT(v),           AT(o),
                                  AT(router),      AT(gate),      AT(up),          AT(down),
                                  AT(shared_gate), AT(shared_up), AT(shared_down), AT(input_gate),
                                  AT(input_proj)};
#undef AT
    return number < sizeof at / sizeof *at ? (void *)((char *)layer + at[number]) : NULL;
}

enum td_status model_require_decoder(const struct td_model *model, struct td_error *err)
{
    if (model->encoder == NULL)
        return TD_OK;
    return model_fail(model, err, TD_UNSUPPORTED,
                      "architecture '%s' is an encoder: it has embeddings (tandem embed), no next "
                      "tokens",
                      model->architecture->name);
}

/* Hyperparameters and tensors of a model, with every value checked before the forward pass trusts
 * it.
 *
 * A tensor that nobody asked for is an error too: a model with an extra bias or expert that is
 * silently left out computes something, only not what it was trained to. */
#include "engine/model.h"

#include "base/error.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Upper ends, far above any known model: they keep products of sizes inside 64 bits. */
#define LAYERS_MAX 1024
#define EMBEDDING_MAX (1u << 17)
#define FFN_MAX (1u << 20)
#define HEADS_MAX 1024
#define HEAD_SIZE_MAX (2 * ROPE_PAIRS_MAX)
#define CONTEXT_MAX (1u << 24)

static enum td_status bad_key(const struct td_model *model, struct td_error *err, const char *key,
                              const char *reason)
{
    return error_set(err, TD_CORRUPT, "%s: %s: %s", gguf_path(model->gguf), key, reason);
}

static void key_of(const struct td_model *model, const char *suffix, char out[static 96])
{
    snprintf(out, 96, "%s.%s", model->architecture->name, suffix);
}

/* *value keeps what it holds when the key is absent (`required` false). */
static enum td_status load_u32(const struct td_model *model, const char *suffix, bool required,
                               uint32_t max, uint32_t *value, struct td_error *err)
{
    char key[96];
    key_of(model, suffix, key);
    if (!gguf_has(model->gguf, key))
        return required ? bad_key(model, err, key, "missing") : TD_OK;
    if (!gguf_get_u32(model->gguf, key, value))
        return bad_key(model, err, key, "not one unsigned integer");
    if (*value == 0 || *value > max)
        return error_set(err, TD_CORRUPT, "%s: %s: %u is not in [1, %u]", gguf_path(model->gguf),
                         key, *value, max);
    return TD_OK;
}

static enum td_status load_f32(const struct td_model *model, const char *suffix, bool required,
                               float min, float max, float *value, struct td_error *err)
{
    char key[96];
    key_of(model, suffix, key);
    if (!gguf_has(model->gguf, key))
        return required ? bad_key(model, err, key, "missing") : TD_OK;
    if (!gguf_get_f32(model->gguf, key, value))
        return bad_key(model, err, key, "not one finite float");
    if (*value < min || *value > max)
        return error_set(err, TD_CORRUPT, "%s: %s: %g is not in [%g, %g]", gguf_path(model->gguf),
                         key, (double)*value, (double)min, (double)max);
    return TD_OK;
}

static enum td_status load_head_sizes(struct td_model *model, struct td_error *err)
{
    enum td_status status =
        load_u32(model, "attention.head_count", true, HEADS_MAX, &model->head_count, err);
    model->kv_head_count = model->head_count;
    if (status == TD_OK)
        status = load_u32(model, "attention.head_count_kv", false, HEADS_MAX, &model->kv_head_count,
                          err);
    if (status != TD_OK)
        return status;
    if (model->head_count % model->kv_head_count != 0)
        return error_set(err, TD_CORRUPT, "%s: %u heads cannot share %u key-value heads",
                         gguf_path(model->gguf), model->head_count, model->kv_head_count);
    model->head_size = model->embedding_size / model->head_count;
    bool divides = model->embedding_size % model->head_count == 0;
    char key[96];
    key_of(model, "attention.key_length", key);
    if (!divides && !gguf_has(model->gguf, key))
        return error_set(err, TD_CORRUPT,
                         "%s: embedding %u is not a multiple of %u heads and %s is missing",
                         gguf_path(model->gguf), model->embedding_size, model->head_count, key);
    status = load_u32(model, "attention.key_length", false, HEAD_SIZE_MAX, &model->head_size, err);
    uint32_t value_size = model->head_size;
    if (status == TD_OK)
        status = load_u32(model, "attention.value_length", false, HEAD_SIZE_MAX, &value_size, err);
    if (status != TD_OK)
        return status;
    if (model->head_size == 0 || model->head_size > HEAD_SIZE_MAX || model->head_size % 2 != 0)
        return error_set(err, TD_CORRUPT, "%s: head size %u is not even and in [2, %u]",
                         gguf_path(model->gguf), model->head_size, HEAD_SIZE_MAX);
    if (value_size != model->head_size)
        return error_set(err, TD_UNSUPPORTED, "%s: value heads of %u beside key heads of %u",
                         gguf_path(model->gguf), value_size, model->head_size);
    return TD_OK;
}

static enum td_status load_rope_scaling(const struct td_model *model, struct rope_options *options,
                                        struct td_error *err)
{
    char key[96];
    struct td_str type =
        STR("linear"); /* what an absent key means; factor 1 then changes nothing */
    key_of(model, "rope.scaling.type", key);
    if (gguf_has(model->gguf, key) && !gguf_get_string(model->gguf, key, &type))
        return bad_key(model, err, key, "not a string");
    float factor = 0;
    enum td_status status = load_f32(model, "rope.scaling.factor", false, 1.0f, 1e6f, &factor, err);
    if (status == TD_OK && factor == 0) /* the key of old files */
        status = load_f32(model, "rope.scale_linear", false, 1.0f, 1e6f, &factor, err);
    if (status == TD_OK)
        status = load_u32(model, "rope.scaling.original_context_length", false, CONTEXT_MAX,
                          &options->original_context, err);
    float attention_factor = 1.0f;
    if (status == TD_OK)
        status =
            load_f32(model, "rope.scaling.attn_factor", false, 1e-3f, 1e3f, &attention_factor, err);
    if (status != TD_OK)
        return status;
    options->attention_factor = (double)attention_factor;
    options->factor = factor == 0 ? 1.0 : (double)factor;
    if (str_equal(type, STR("linear")))
        options->scaling = ROPE_SCALING_LINEAR;
    else if (str_equal(type, STR("yarn")))
        options->scaling = ROPE_SCALING_YARN;
    else if (!str_equal(type, STR("none")))
        return error_set(err, TD_UNSUPPORTED,
                         "%s: rope.scaling.type '" STR_FMT "'; supported: none, linear, yarn",
                         gguf_path(model->gguf), STR_ARG(type));
    return TD_OK;
}

/* Llama-3 files carry one divisor a pair instead of a formula. */
static enum td_status load_rope_factors(const struct td_model *model, struct rope_options *options,
                                        struct td_error *err)
{
    const struct gguf_tensor *tensor = gguf_find_tensor(model->gguf, "rope_freqs.weight");
    if (tensor == NULL || model->vocab_only)
        return TD_OK;
    if (tensor->type != TENSOR_F32 || tensor->dim_count != 1 ||
        tensor->dims[0] != options->dimension_count / 2)
        return error_set(err, TD_CORRUPT, "%s: rope_freqs.weight is not F32 [%u]",
                         gguf_path(model->gguf), options->dimension_count / 2);
    options->frequency_factors = tensor->data;
    for (uint32_t i = 0; i < options->dimension_count / 2; i++)
        if (!(options->frequency_factors[i] > 1e-6f && options->frequency_factors[i] < 1e6f))
            return error_set(err, TD_CORRUPT, "%s: rope_freqs.weight[%u] is %g",
                             gguf_path(model->gguf), i, (double)options->frequency_factors[i]);
    return TD_OK;
}

static enum td_status load_rope(struct td_model *model, struct td_error *err)
{
    struct rope_options options = {.dimension_count = model->head_size,
                                   .original_context = model->context_size};
    enum td_status status = load_u32(model, "rope.dimension_count", false, model->head_size,
                                     &options.dimension_count, err);
    if (status == TD_OK && options.dimension_count % 2 != 0)
        return error_set(err, TD_CORRUPT, "%s: rope.dimension_count %u is odd",
                         gguf_path(model->gguf), options.dimension_count);
    float base = 10000.0f; /* RoFormer's, and the format's default */
    if (status == TD_OK)
        status = load_f32(model, "rope.freq_base", false, 1.0f + 1e-3f, 1e12f, &base, err);
    options.base = (double)base;
    if (status == TD_OK)
        status = load_rope_scaling(model, &options, err);
    if (status == TD_OK)
        status = load_rope_factors(model, &options, err);
    if (status == TD_OK)
        rope_init(&model->rope, &options);
    return status;
}

static enum td_status refuse_experts(const struct td_model *model, struct td_error *err)
{
    char key[96];
    uint32_t experts = 0;
    key_of(model, "expert_count", key);
    if (gguf_get_u32(model->gguf, key, &experts) && experts != 0)
        return error_set(err, TD_UNSUPPORTED, "%s: %s = %u: mixtures of experts are not supported",
                         gguf_path(model->gguf), key, experts);
    return TD_OK;
}

enum td_status model_load_hyperparameters(struct td_model *model, struct td_error *err)
{
    bool required = !model->vocab_only;
    enum td_status status = refuse_experts(model, err);
    if (status == TD_OK)
        status =
            load_u32(model, "context_length", required, CONTEXT_MAX, &model->context_size, err);
    if (status == TD_OK)
        status = load_u32(model, "block_count", required, LAYERS_MAX, &model->layer_count, err);
    if (status == TD_OK)
        status = load_u32(model, "embedding_length", required, EMBEDDING_MAX,
                          &model->embedding_size, err);
    if (status != TD_OK || model->vocab_only)
        return status;
    status = load_u32(model, "feed_forward_length", true, FFN_MAX, &model->ffn_size, err);
    if (status == TD_OK)
        status = load_f32(model, "attention.layer_norm_rms_epsilon", true, 1e-12f, 1e-1f,
                          &model->norm_epsilon, err);
    if (status == TD_OK)
        status = load_head_sizes(model, err);
    if (status == TD_OK)
        status = load_rope(model, err);
    return status;
}

/* --- tensors --- */

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
                      uint64_t rows)
{
    if (tensor->dims[0] == cols && tensor->dims[1] == rows && tensor->dims[2] == 1 &&
        tensor->dims[3] == 1)
        return true;
    lookup->status = error_set(
        lookup->err, TD_CORRUPT,
        "%s: tensor '" STR_FMT "' is [%llu, %llu, %llu, %llu], expected [%llu, %llu]",
        gguf_path(lookup->model->gguf), STR_ARG(tensor->name), (unsigned long long)tensor->dims[0],
        (unsigned long long)tensor->dims[1], (unsigned long long)tensor->dims[2],
        (unsigned long long)tensor->dims[3], (unsigned long long)cols, (unsigned long long)rows);
    return false;
}

static void fill_weight(struct lookup *lookup, const struct gguf_tensor *tensor, uint32_t rows,
                        uint32_t cols, struct weight *out)
{
    *out = (struct weight){.data = tensor->data,
                           .row_bytes = tensor->bytes / rows,
                           .rows = rows,
                           .cols = cols,
                           .type = (enum tensor_type)tensor->type};
    out->form = lookup->model->kernels->form_of(out->type);
}

static void take_matrix(struct lookup *lookup, const char *name, uint32_t rows, uint32_t cols,
                        struct weight *out)
{
    const struct gguf_tensor *tensor = take(lookup, name, true);
    if (tensor && has_shape(lookup, tensor, cols, rows))
        fill_weight(lookup, tensor, rows, cols, out);
}

static const float *take_vector(struct lookup *lookup, const char *name, uint32_t len,
                                enum presence presence)
{
    if (presence == PRESENCE_NEVER)
        return NULL;
    const struct gguf_tensor *tensor = take(lookup, name, presence == PRESENCE_REQUIRED);
    if (tensor == NULL || !has_shape(lookup, tensor, len, 1))
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

static void take_layer(struct lookup *lookup, uint32_t index)
{
    struct td_model *model = lookup->model;
    struct layer *layer = &model->layers[index];
    uint32_t wide = model->embedding_size, ffn = model->ffn_size, head = model->head_size;
    uint32_t q_rows = model->head_count * head, kv_rows = model->kv_head_count * head;
    enum presence bias = model->architecture->qkv_bias, norm = model->architecture->qk_norm;
    char name[64];
    layer->attention_norm =
        take_vector(lookup, block_name(name, index, "attn_norm.weight"), wide, PRESENCE_REQUIRED);
    take_matrix(lookup, block_name(name, index, "attn_q.weight"), q_rows, wide, &layer->q);
    take_matrix(lookup, block_name(name, index, "attn_k.weight"), kv_rows, wide, &layer->k);
    take_matrix(lookup, block_name(name, index, "attn_v.weight"), kv_rows, wide, &layer->v);
    take_matrix(lookup, block_name(name, index, "attn_output.weight"), wide, q_rows, &layer->o);
    layer->q_bias = take_vector(lookup, block_name(name, index, "attn_q.bias"), q_rows, bias);
    layer->k_bias = take_vector(lookup, block_name(name, index, "attn_k.bias"), kv_rows, bias);
    layer->v_bias = take_vector(lookup, block_name(name, index, "attn_v.bias"), kv_rows, bias);
    layer->q_norm = take_vector(lookup, block_name(name, index, "attn_q_norm.weight"), head, norm);
    layer->k_norm = take_vector(lookup, block_name(name, index, "attn_k_norm.weight"), head, norm);
    layer->ffn_norm =
        take_vector(lookup, block_name(name, index, "ffn_norm.weight"), wide, PRESENCE_REQUIRED);
    take_matrix(lookup, block_name(name, index, "ffn_gate.weight"), ffn, wide, &layer->gate);
    take_matrix(lookup, block_name(name, index, "ffn_up.weight"), ffn, wide, &layer->up);
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
    if (output == NULL)
        model->output = model->embedding;
    else if (has_shape(lookup, output, model->embedding_size, model->vocab_count))
        fill_weight(lookup, output, model->vocab_count, model->embedding_size, &model->output);
    take(lookup, "rope_freqs.weight", false);
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
    struct lookup lookup = {.model = model, .err = err, .status = TD_OK};
    size_t tensor_count = gguf_tensor_count(model->gguf);
    lookup.used = calloc(tensor_count + 1, sizeof *lookup.used);
    model->layers = calloc(model->layer_count, sizeof *model->layers);
    if (lookup.used == NULL || model->layers == NULL) {
        free(lookup.used);
        return error_set(err, TD_NO_MEMORY, "%s: no memory for %u layers", gguf_path(model->gguf),
                         model->layer_count);
    }
    take_ends(&lookup);
    for (uint32_t i = 0; lookup.status == TD_OK && i < model->layer_count; i++)
        take_layer(&lookup, i);
    if (lookup.status == TD_OK)
        refuse_unused(&lookup);
    free(lookup.used);
    return lookup.status;
}

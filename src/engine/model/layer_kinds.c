/* What each layer of a decoder is: attention with or without a window, a short convolution, a
 * Mamba-2 layer, or one matrix; its heads, its feed-forward size, and where its keys stand. */
#include "engine/model/model_keys.h"

#include "base/core/assertion.h"

#include <string.h>

#define CONV_WIDTH_MAX 16
#define SSM_STATE_MAX 1024

/* sliding_window_pattern is a period, or an array that says for each layer whether it has a
 * window. */
static enum td_status load_windows(struct td_model *model, struct td_error *err)
{
    char key[96];
    enum gguf_type type = GGUF_BOOL;
    const void *data = NULL;
    uint64_t count = 0;
    uint32_t period = model->architecture->window_period;
    model_key_name(model, "attention.sliding_window_pattern", key);
    bool listed = gguf_get_array(model->gguf, key, &type, &data, &count);
    enum td_status status = listed ? TD_OK
                                   : model_key_u32(model, "attention.sliding_window_pattern", false,
                                                   LAYERS_MAX, &period, err);
    if (status != TD_OK)
        return status;
    if (listed && (type != GGUF_BOOL || count != model->layer_count))
        return model_key_bad(model, err, key, "not a number or one truth value a layer");
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bool local = listed ? ((const uint8_t *)data)[i] != 0 : i % period != period - 1;
        model->layers[i].window = local ? model->window : 0;
        model->layers[i].rope = local ? ROPE_LOCAL : ROPE_GLOBAL;
        if (!local && model->architecture->global_without_rope)
            model->layers[i].rope = ROPE_NONE;
    }
    return TD_OK;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* The sizes of Mamba-2 layers. */
static enum td_status load_ssm(struct td_model *model, struct td_error *err)
{
    uint32_t inner = 0, groups;
    enum td_status status =
        model_key_u32(model, "ssm.conv_kernel", true, CONV_WIDTH_MAX, &model->conv_width, err);
    if (status == TD_OK)
        status = model_key_u32(model, "ssm.state_size", true, SSM_STATE_MAX, &model->ssm_state_size,
                               err);
    if (status == TD_OK)
        status = model_key_u32(model, "ssm.inner_size", true, EMBEDDING_MAX, &inner, err);
    if (status == TD_OK)
        status =
            model_key_u32(model, "ssm.time_step_rank", true, HEADS_MAX, &model->ssm_heads, err);
    if (status == TD_OK)
        status = model_key_u32(model, "ssm.group_count", true, HEADS_MAX, &model->ssm_groups, err);
    if (status != TD_OK)
        return status;
    groups = model->ssm_groups;
    if (inner % model->ssm_heads != 0)
        return model_fail(model, err, TD_CORRUPT,
                          "ssm.inner_size %u is not shared by %u heads evenly", inner,
                          model->ssm_heads);
    if (model->ssm_heads % groups != 0)
        return model_fail(model, err, TD_CORRUPT, "%u heads of Mamba-2 cannot be in %u groups",
                          model->ssm_heads, groups);
    model->ssm_head_size = inner / model->ssm_heads;
    return TD_OK;
}

/* Sets the heads of a layer, or makes it a short convolution or a Mamba-2 layer. */
static enum td_status set_heads(struct td_model *model, struct layer *layer, uint32_t heads,
                                uint32_t kv_heads, struct td_error *err)
{
    const struct architecture *traits = model->architecture;
    layer->conv_index = traits->ssm ? model->ssm_count : model->conv_count;
    if (traits->single_blocks && layer->ffn_size != 0) {
        if (kv_heads == 0)
            return TD_OK;
        return model_fail(model, err, TD_CORRUPT, "layer %u has attention and a feed-forward block",
                          (uint32_t)(layer - model->layers));
    }
    if (kv_heads == 0 && traits->ssm) {
        uint32_t inner = model->ssm_heads * model->ssm_head_size;
        model->ssm_count++;
        model->query_width = larger(model->query_width, model_ssm_channels(model));
        model->key_width = larger(model->key_width, inner); /* at least as many as heads */
        return TD_OK;
    }
    if (kv_heads == 0 && traits->short_conv) {
        model->conv_count++;
        model->query_width = larger(model->query_width, model->embedding_size);
        model->key_width = larger(model->key_width, model->embedding_size);
        return TD_OK;
    }
    if ((heads == 0 || kv_heads == 0) && !traits->gaps)
        return model_fail(model, err, TD_UNSUPPORTED,
                          "layer %u has %u heads and %u key-value heads: every layer of the "
                          "architecture '%s' has attention",
                          (uint32_t)(layer - model->layers), heads, kv_heads, traits->name);
    layer->head_count = heads;
    layer->kv_head_count = heads ? kv_heads : 0;
    if (layer->kv_head_count == 0)
        return TD_OK;
    model->group_max = larger(model->group_max, heads / kv_heads);
    model->query_width = larger(model->query_width, heads * model->head_size);
    model->key_width = larger(model->key_width, kv_heads * model->head_size);
    return model_check_heads(model, heads, kv_heads, err);
}

/* Gives the layers whose windows are known their places in a page of the cache. */
static enum td_status place_keys(struct td_model *model, struct td_error *err)
{
    const struct layer *last[HEAD_KIND_COUNT] = {NULL}; /* with keys of its own */
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        layer->head_kind = layer->window ? HEAD_LOCAL : HEAD_GLOBAL;
        layer->head_size = model_head_size(model, layer->head_kind);
        if (i < model->layer_count - model->shared_key_count) {
            memcpy(layer->kv_before, model->kv_heads, sizeof layer->kv_before);
            model->kv_heads[layer->head_kind] += layer->kv_head_count;
            last[layer->head_kind] = layer->kv_head_count ? layer : last[layer->head_kind];
            continue;
        }
        const struct layer *source = last[layer->head_kind];
        if (source == NULL || source->kv_head_count != layer->kv_head_count)
            return model_fail(model, err, TD_CORRUPT,
                              "layer %u has no keys of its own, and no layer before it has %u "
                              "key-value heads to share",
                              i, layer->kv_head_count);
        memcpy(layer->kv_before, source->kv_before, sizeof layer->kv_before);
    }
    if (model->kv_heads[HEAD_GLOBAL] + model->kv_heads[HEAD_LOCAL] != 0)
        return TD_OK;
    return model_fail(model, err, TD_UNSUPPORTED, "no layer has attention");
}

static enum td_status load_layer_sizes(struct td_model *model, struct td_error *err)
{
    struct model_numbers heads = {0}, kv_heads = {0}, ffn = {NULL, model->ffn_size};
    enum td_status status = model_key_heads(model, &heads, &kv_heads, err);
    if (status == TD_OK && model->architecture->ssm)
        status = load_ssm(model, err);
    if (model->shared_ffn_size != 0) /* its output stands where the attention's does */
        model->query_width = model->embedding_size;
    if (status == TD_OK && model->expert_count == 0)
        status = model_key_numbers(model, "feed_forward_length", true, FFN_MAX, &ffn, err);
    for (uint32_t i = 0; status == TD_OK && i < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        layer->ffn_size =
            i < model->dense_count ? model->dense_ffn_size : model_numbers_at(&ffn, i);
        status = set_heads(model, layer, model_numbers_at(&heads, i),
                           model_numbers_at(&kv_heads, i), err);
        if (status == TD_OK && layer->ffn_size == 0 && !model->architecture->gaps)
            status =
                model_fail(model, err, TD_UNSUPPORTED, "layer %u has no feed-forward block", i);
    }
    if (status == TD_OK && model->conv_count != 0)
        status = model_key_u32(model, "shortconv.l_cache", true, CONV_WIDTH_MAX, &model->conv_width,
                               err);
    return status;
}

enum td_status model_load_layer_kinds(struct td_model *model, struct td_error *err)
{
    ASSERT(model->layers != NULL);
    const struct architecture *traits = model->architecture;
    enum td_status status = load_layer_sizes(model, err);
    if (status != TD_OK)
        return status;
    model->window = traits->window_default;
    if (traits->window_period != 0)
        status = model_key_u32(model, "attention.sliding_window", false, CONTEXT_MAX,
                               &model->window, err);
    if (status == TD_OK && model->window != 0)
        status = load_windows(model, err);
    if (status == TD_OK && traits->shared_keys)
        status = model_key_count(model, "attention.shared_kv_layers", model->layer_count - 1,
                                 &model->shared_key_count, err);
    if (status == TD_OK && traits->layer_inputs)
        status = model_key_count(model, "embedding_length_per_layer_input",
                                 EMBEDDING_MAX / LAYERS_MAX, &model->layer_input_size, err);
    if (status == TD_OK)
        status = place_keys(model, err);
    bool rope = true;
    char key[96];
    model_key_name(model, "rope.scaling.finetuned", key);
    if (status == TD_OK && traits->rope_switch && gguf_has(model->gguf, key) &&
        !gguf_get_bool(model->gguf, key, &rope))
        return model_key_bad(model, err, key, "not a truth value");
    for (uint32_t i = 0; i < model->layer_count; i++)
        if (!rope || (traits->no_rope_period != 0 && (i + 1) % traits->no_rope_period == 0))
            model->layers[i].rope = ROPE_NONE;
    return status;
}

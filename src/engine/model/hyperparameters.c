/* Reads the hyperparameters of a model, and checks every value, because the forward pass trusts
 * them. The table of architectures says which keys are read and what an absent key means. */
#include "engine/model/model.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Limits far above any known model. They keep products of sizes within 64 bits. */
#define LAYERS_MAX 1024
#define EMBEDDING_MAX (1u << 17)
#define FFN_MAX (1u << 20)
#define HEADS_MAX 1024
#define HEAD_SIZE_MAX (2 * ROPE_PAIRS_MAX)
#define CONTEXT_MAX (1u << 24)
#define CONV_WIDTH_MAX 16
#define SSM_STATE_MAX 1024
#define EXPERTS_MAX 1024
#define EXPERTS_USED_MAX 64
#define SCALE_MAX 1e6f
#define NORM_EPSILON_MIN 9e-13f /* BERT's 1e-12, rounded to a float */
#define ROPE_BASE_MIN (1.0f + 1e-3f)
#define ROPE_BASE_MAX 1e12f
/* Gemma 4's files have 1e30 for pairs that do not turn. */
#define ROPE_FACTOR_MAX 2e30f
/* YaRN's own values (Peng et al. 2023, section 3.2), for files that have none. */
#define YARN_TURNS_FAST 32.0f
#define YARN_TURNS_SLOW 1.0f

static enum td_status bad_key(const struct td_model *model, struct td_error *err, const char *key,
                              const char *reason)
{
    return error_set(err, TD_CORRUPT, "%s: %s: %s", gguf_path(model->gguf), key, reason);
}

static void key_of(const struct td_model *model, const char *suffix, char out[static 96])
{
    snprintf(out, 96, "%s.%s", model->architecture->name, suffix);
}

/* When the key is absent and not required, *value does not change. */
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

/* As load_u32, but the number may be 0, which an absent key means, too. */
static enum td_status load_count(const struct td_model *model, const char *suffix, uint32_t max,
                                 uint32_t *value, struct td_error *err)
{
    char key[96];
    key_of(model, suffix, key);
    if (gguf_get_u32(model->gguf, key, value) && *value == 0)
        return TD_OK;
    return load_u32(model, suffix, false, max, value, err);
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

/* One number for all layers, or one for each. */
struct numbers {
    const uint8_t *each; /* [layers], packed; NULL = `most` is that of all */
    uint32_t most;
};

static uint32_t number_of(const struct numbers *numbers, uint32_t layer)
{
    uint32_t number = numbers->most;
    if (numbers->each)
        memcpy(&number, numbers->each + layer * sizeof number, sizeof number);
    return number;
}

/* As load_u32, but the value may be an array (pruned models). Its numbers may be 0, not all. */
static enum td_status load_numbers(const struct td_model *model, const char *suffix, bool required,
                                   uint32_t max, struct numbers *numbers, struct td_error *err)
{
    char key[96];
    enum gguf_type type;
    const void *data;
    uint64_t count;
    key_of(model, suffix, key);
    if (model->architecture->encoder || !gguf_get_array(model->gguf, key, &type, &data, &count))
        return load_u32(model, suffix, required, max, &numbers->most, err);
    if ((type != GGUF_U32 && type != GGUF_I32) || count != model->layer_count)
        return bad_key(model, err, key, "not a number or one 32-bit integer a layer");
    *numbers = (struct numbers){data, 0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = number_of(numbers, i);
        if (number > max)
            return error_set(err, TD_CORRUPT, "%s: %s[%u]: %u is not in [0, %u]",
                             gguf_path(model->gguf), key, i, number, max);
        numbers->most = number > numbers->most ? number : numbers->most;
    }
    return numbers->most ? TD_OK : bad_key(model, err, key, "0 in every layer");
}

static enum td_status load_head_counts(const struct td_model *model, struct numbers *heads,
                                       struct numbers *kv_heads, struct td_error *err)
{
    enum td_status status =
        load_numbers(model, "attention.head_count", true, HEADS_MAX, heads, err);
    *kv_heads = *heads;
    if (status == TD_OK)
        status = load_numbers(model, "attention.head_count_kv", false, HEADS_MAX, kv_heads, err);
    return status;
}

static enum td_status check_heads(const struct td_model *model, uint32_t heads, uint32_t kv_heads,
                                  struct td_error *err)
{
    if (heads % kv_heads == 0)
        return TD_OK;
    return error_set(err, TD_CORRUPT, "%s: %u heads cannot share %u key-value heads",
                     gguf_path(model->gguf), heads, kv_heads);
}

static enum td_status load_local_heads(struct td_model *model, struct td_error *err)
{
    enum td_status status = load_u32(model, "attention.key_length_swa", false, model->head_size,
                                     &model->local_head_size, err);
    uint32_t value_size = model->local_head_size;
    if (status == TD_OK)
        status =
            load_u32(model, "attention.value_length_swa", false, HEAD_SIZE_MAX, &value_size, err);
    if (status == TD_OK && (value_size != model->local_head_size || value_size % 2 != 0))
        return error_set(err, TD_UNSUPPORTED,
                         "%s: heads with a window of %u for keys and %u for values: they must be "
                         "equal and even",
                         gguf_path(model->gguf), model->local_head_size, value_size);
    return status;
}

static enum td_status load_head_sizes(struct td_model *model, struct td_error *err)
{
    struct numbers heads = {0}, kv_heads = {0};
    enum td_status status = load_head_counts(model, &heads, &kv_heads, err);
    model->head_count = heads.most;
    model->kv_head_count = kv_heads.most;
    if (status == TD_OK && heads.each == NULL && kv_heads.each == NULL)
        status = check_heads(model, heads.most, kv_heads.most, err);
    if (status != TD_OK)
        return status;
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
    model->local_head_size = model->head_size;
    return model->architecture->local_heads ? load_local_heads(model, err) : TD_OK;
}

static enum td_status load_yarn(const struct td_model *model, struct rope_options *options,
                                struct td_error *err)
{
    float fast = YARN_TURNS_FAST, slow = YARN_TURNS_SLOW;
    enum td_status status =
        load_f32(model, "rope.scaling.yarn_beta_fast", false, 1e-3f, 1e6f, &fast, err);
    if (status == TD_OK)
        status = load_f32(model, "rope.scaling.yarn_beta_slow", false, 1e-3f, 1e6f, &slow, err);
    if (status == TD_OK && fast <= slow)
        status = error_set(err, TD_CORRUPT,
                           "%s: rope.scaling.yarn_beta_fast %g is not above yarn_beta_slow %g",
                           gguf_path(model->gguf), (double)fast, (double)slow);
    options->turns_fast = (double)fast;
    options->turns_slow = (double)slow;
    return status;
}

static enum td_status load_rope_scaling(const struct td_model *model, struct rope_options *options,
                                        bool *long_rope, struct td_error *err)
{
    char key[96];
    struct td_str type =
        STR("linear"); /* the meaning of an absent key; its factor 1 changes nothing */
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
    if (status == TD_OK)
        status = load_yarn(model, options, err);
    if (status != TD_OK)
        return status;
    options->attention_factor = (double)attention_factor;
    options->factor = factor == 0 ? 1.0 : (double)factor;
    *long_rope = str_equal(type, STR("longrope"));
    if (str_equal(type, STR("linear")) || *long_rope)
        options->scaling = ROPE_SCALING_LINEAR;
    else if (str_equal(type, STR("yarn")))
        options->scaling = ROPE_SCALING_YARN;
    else if (!str_equal(type, STR("none")))
        return error_set(err, TD_UNSUPPORTED,
                         "%s: rope.scaling.type '" STR_FMT "'; supported: none, linear, yarn, "
                         "longrope",
                         gguf_path(model->gguf), STR_ARG(type));
    return TD_OK;
}

/* Reads one divisor for each pair of dimensions. *out stays NULL if the file has none. */
static enum td_status load_rope_factors(const struct td_model *model, const char *name,
                                        uint32_t pair_count, const float **out,
                                        struct td_error *err)
{
    const struct gguf_tensor *tensor = gguf_find_tensor(model->gguf, name);
    if (tensor == NULL)
        return TD_OK;
    if (tensor->type != TENSOR_F32 || tensor->dim_count != 1 || tensor->dims[0] != pair_count)
        return error_set(err, TD_CORRUPT, "%s: %s is not F32 [%u]", gguf_path(model->gguf), name,
                         pair_count);
    *out = tensor->data;
    for (uint32_t i = 0; i < pair_count; i++)
        if (!((*out)[i] > 1e-6f && (*out)[i] < ROPE_FACTOR_MAX))
            return error_set(err, TD_CORRUPT, "%s: %s[%u] is %g", gguf_path(model->gguf), name, i,
                             (double)(*out)[i]);
    return TD_OK;
}

/* Llama 3 has one list of divisors for all contexts. LongRoPE (Ding et al. 2024) has one for
 * contexts up to the original size and one for larger ones. The size of the session decides and not
 * how full it is, because rotated keys stay in the cache. */
static enum td_status init_ropes(struct td_model *model, struct rope_options *options,
                                 bool long_rope, struct td_error *err)
{
    const float *all = NULL, *near = NULL, *far = NULL;
    uint32_t pairs = options->dimension_count / 2;
    enum td_status status = load_rope_factors(model, "rope_freqs.weight", pairs, &all, err);
    if (status == TD_OK)
        status = load_rope_factors(model, "rope_factors_short.weight", pairs, &near, err);
    if (status == TD_OK)
        status = load_rope_factors(model, "rope_factors_long.weight", pairs, &far, err);
    if (status != TD_OK)
        return status;
    bool both = near != NULL && far != NULL;
    if (both != (near != NULL || far != NULL || long_rope) || (both && all != NULL))
        return error_set(
            err, TD_CORRUPT,
            "%s: longrope needs rope_factors_short.weight and rope_factors_long.weight, "
            "and no rope_freqs.weight",
            gguf_path(model->gguf));
    options->frequency_factors = both ? near : all;
    rope_init(&model->ropes[ROPE_GLOBAL], options);
    model->long_rope_from = UINT32_MAX;
    if (both) {
        options->frequency_factors = far;
        rope_init(&model->ropes[ROPE_LONG], options);
        model->long_rope_from = options->original_context;
    }
    return TD_OK;
}

static enum td_status load_rope_size(const struct td_model *model, const char *suffix,
                                     uint32_t head_size, uint32_t *value, struct td_error *err)
{
    enum td_status status = load_u32(model, suffix, false, head_size, value, err);
    if (status != TD_OK || *value % 2 == 0)
        return status;
    return error_set(err, TD_CORRUPT, "%s: %s %u is odd", gguf_path(model->gguf), suffix, *value);
}

/* The angles of layers with a window: they have their own base and no context extension. */
static enum td_status init_local_rope(struct td_model *model, struct rope_options options,
                                      struct td_error *err)
{
    const struct architecture *traits = model->architecture;
    float base = traits->local_rope_base == 0 ? (float)options.base : traits->local_rope_base;
    enum td_status status =
        load_f32(model, "rope.freq_base_swa", false, ROPE_BASE_MIN, ROPE_BASE_MAX, &base, err);
    options.base = (double)base;
    if (traits->local_heads) {
        options.dimension_count = model->local_head_size;
        if (status == TD_OK)
            status = load_rope_size(model, "rope.dimension_count_swa", model->local_head_size,
                                    &options.dimension_count, err);
    }
    if (traits->local_rope_unscaled)
        options.scaling = ROPE_SCALING_NONE;
    if (status == TD_OK)
        rope_init(&model->ropes[ROPE_LOCAL], &options);
    return status;
}

static enum td_status load_rope(struct td_model *model, struct td_error *err)
{
    struct rope_options options = {.dimension_count = model->head_size,
                                   .original_context = model->context_size,
                                   .unrounded = model->architecture->yarn_unrounded};
    enum td_status status = load_rope_size(model, "rope.dimension_count", model->head_size,
                                           &options.dimension_count, err);
    float base = 10000.0f; /* RoFormer's, and the format's default */
    bool long_rope = false;
    if (status == TD_OK)
        status = load_f32(model, "rope.freq_base", false, ROPE_BASE_MIN, ROPE_BASE_MAX, &base, err);
    options.base = (double)base;
    if (status == TD_OK)
        status = load_rope_scaling(model, &options, &long_rope, err);
    if (status == TD_OK)
        status = init_local_rope(model, options, err);
    if (status == TD_OK)
        status = init_ropes(model, &options, long_rope, err);
    return status;
}

/* --- experts, windows, scales --- */

static enum td_status refuse_experts(const struct td_model *model, struct td_error *err)
{
    char key[96];
    uint32_t experts = 0;
    key_of(model, "expert_count", key);
    if (model->architecture->experts == PRESENCE_NEVER &&
        gguf_get_u32(model->gguf, key, &experts) && experts != 0)
        return error_set(err, TD_UNSUPPORTED, "%s: %s = %u: no experts in this architecture",
                         gguf_path(model->gguf), key, experts);
    return TD_OK;
}

/* How many of the first layers have no experts. */
static enum td_status load_dense_count(struct td_model *model, struct td_error *err)
{
    char key[96];
    uint32_t gate = 2; /* the format's number for sigmoids */
    enum td_status status = load_u32(model, "expert_gating_func", false, gate, &gate, err);
    if (status == TD_OK && gate != 2)
        return error_set(err, TD_UNSUPPORTED, "%s: expert_gating_func %u, not the architecture's 2",
                         gguf_path(model->gguf), gate);
    key_of(model, "leading_dense_block_count", key);
    if (status != TD_OK || !gguf_has(model->gguf, key))
        return status;
    if (!gguf_get_u32(model->gguf, key, &model->dense_count) ||
        model->dense_count > model->layer_count)
        return bad_key(model, err, key, "not a number of layers that the model has");
    if (model->dense_count == 0)
        return TD_OK;
    return load_u32(model, "feed_forward_length", true, FFN_MAX, &model->dense_ffn_size, err);
}

/* Reads the size of the feed-forward block, or of one expert's block. */
static enum td_status load_ffn_sizes(struct td_model *model, struct td_error *err)
{
    const struct architecture *traits = model->architecture;
    struct numbers ffn = {0};
    char key[96];
    uint32_t count = 0;
    key_of(model, "expert_count", key);
    bool experts =
        traits->experts == PRESENCE_REQUIRED ||
        (traits->experts == PRESENCE_OPTIONAL &&
         !(gguf_get_u32(model->gguf, key, &count) && count == 0) && gguf_has(model->gguf, key));
    enum td_status status =
        load_numbers(model, "feed_forward_length", !experts, FFN_MAX, &ffn, err);
    model->ffn_size = ffn.most;
    if (status != TD_OK || !experts)
        return status;
    if (ffn.each)
        return error_set(err, TD_UNSUPPORTED, "%s: feed_forward_length of each layer, with experts",
                         gguf_path(model->gguf));
    status = load_u32(model, "expert_count", true, EXPERTS_MAX, &model->expert_count, err);
    uint32_t used_max =
        model->expert_count < EXPERTS_USED_MAX ? model->expert_count : EXPERTS_USED_MAX;
    if (status == TD_OK)
        status =
            load_u32(model, "expert_used_count", true, used_max, &model->expert_used_count, err);
    if (status != TD_OK)
        return status;
    if (traits->ffn_of_all_experts)
        model->ffn_size /= model->expert_used_count;
    status = load_u32(model, "expert_feed_forward_length", model->ffn_size == 0, FFN_MAX,
                      &model->ffn_size, err);
    if (status == TD_OK && traits->shared_expert)
        status = load_u32(model, "expert_shared_feed_forward_length", false, FFN_MAX,
                          &model->shared_ffn_size, err);
    return status == TD_OK && traits->sigmoid_router ? load_dense_count(model, err) : status;
}

/* In files a scale of 0 means that there is none. */
static enum td_status load_scale(const struct td_model *model, const char *suffix, bool required,
                                 float *value, struct td_error *err)
{
    float scale = 0;
    enum td_status status = load_f32(model, suffix, required, 0, SCALE_MAX, &scale, err);
    if (scale > 0)
        *value = scale;
    return status;
}

static enum td_status load_scales(struct td_model *model, struct td_error *err)
{
    const struct architecture *traits = model->architecture;
    bool wide_query = model->layer_count == traits->wide_query_layers;
    float divided = wide_query ? (float)model->embedding_size / (float)model->head_count
                               : (float)model->head_size;
    model->attention_scale = traits->unit_scale ? 1.0f : 1.0f / sqrtf(divided);
    model->embedding_scale = model->residual_scale = model->logit_scale = 1.0f;
    if (traits->embedding_times_root)
        model->embedding_scale = sqrtf((float)model->embedding_size);
    if (!traits->scales)
        return TD_OK;
    float logit_divisor = 1.0f;
    enum td_status status =
        load_scale(model, "attention.scale", false, &model->attention_scale, err);
    if (status == TD_OK)
        status = load_scale(model, "embedding_scale", false, &model->embedding_scale, err);
    if (status == TD_OK)
        status = load_scale(model, "residual_scale", false, &model->residual_scale, err);
    if (status == TD_OK)
        status = load_scale(model, "logit_scale", true, &logit_divisor, err);
    model->logit_scale = 1.0f / logit_divisor;
    return status;
}

static enum td_status load_caps(struct td_model *model, struct td_error *err)
{
    const struct architecture *traits = model->architecture;
    model->attention_cap = traits->attention_cap;
    model->last_cap = traits->last_cap;
    if (!traits->soft_caps)
        return TD_OK;
    enum td_status status =
        load_f32(model, "attn_logit_softcapping", false, 0, SCALE_MAX, &model->attention_cap, err);
    if (status == TD_OK)
        status =
            load_f32(model, "final_logit_softcapping", false, 0, SCALE_MAX, &model->last_cap, err);
    return status;
}

/* sliding_window_pattern is a period, or an array that says for each layer whether it has a
 * window. */
static enum td_status load_windows(struct td_model *model, struct td_error *err)
{
    char key[96];
    enum gguf_type type = GGUF_BOOL;
    const void *data = NULL;
    uint64_t count = 0;
    uint32_t period = model->architecture->window_period;
    key_of(model, "attention.sliding_window_pattern", key);
    bool listed = gguf_get_array(model->gguf, key, &type, &data, &count);
    enum td_status status = listed ? TD_OK
                                   : load_u32(model, "attention.sliding_window_pattern", false,
                                              LAYERS_MAX, &period, err);
    if (status != TD_OK)
        return status;
    if (listed && (type != GGUF_BOOL || count != model->layer_count))
        return bad_key(model, err, key, "not a number or one truth value a layer");
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
        load_u32(model, "ssm.conv_kernel", true, CONV_WIDTH_MAX, &model->conv_width, err);
    if (status == TD_OK)
        status =
            load_u32(model, "ssm.state_size", true, SSM_STATE_MAX, &model->ssm_state_size, err);
    if (status == TD_OK)
        status = load_u32(model, "ssm.inner_size", true, EMBEDDING_MAX, &inner, err);
    if (status == TD_OK)
        status = load_u32(model, "ssm.time_step_rank", true, HEADS_MAX, &model->ssm_heads, err);
    if (status == TD_OK)
        status = load_u32(model, "ssm.group_count", true, HEADS_MAX, &model->ssm_groups, err);
    if (status != TD_OK)
        return status;
    groups = model->ssm_groups;
    if (inner % model->ssm_heads != 0)
        return error_set(err, TD_CORRUPT, "%s: ssm.inner_size %u is not shared by %u heads evenly",
                         gguf_path(model->gguf), inner, model->ssm_heads);
    if (model->ssm_heads % groups != 0)
        return error_set(err, TD_CORRUPT, "%s: %u heads of Mamba-2 cannot be in %u groups",
                         gguf_path(model->gguf), model->ssm_heads, groups);
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
        return error_set(err, TD_CORRUPT, "%s: layer %u has attention and a feed-forward block",
                         gguf_path(model->gguf), (uint32_t)(layer - model->layers));
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
        return error_set(err, TD_UNSUPPORTED,
                         "%s: layer %u has %u heads and %u key-value heads: every layer of the "
                         "architecture '%s' has attention",
                         gguf_path(model->gguf), (uint32_t)(layer - model->layers), heads, kv_heads,
                         traits->name);
    layer->head_count = heads;
    layer->kv_head_count = heads ? kv_heads : 0;
    if (layer->kv_head_count == 0)
        return TD_OK;
    model->group_max = larger(model->group_max, heads / kv_heads);
    model->query_width = larger(model->query_width, heads * model->head_size);
    model->key_width = larger(model->key_width, kv_heads * model->head_size);
    return check_heads(model, heads, kv_heads, err);
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
            return error_set(err, TD_CORRUPT,
                             "%s: layer %u has no keys of its own, and no layer before it has %u "
                             "key-value heads to share",
                             gguf_path(model->gguf), i, layer->kv_head_count);
        memcpy(layer->kv_before, source->kv_before, sizeof layer->kv_before);
    }
    if (model->kv_heads[HEAD_GLOBAL] + model->kv_heads[HEAD_LOCAL] != 0)
        return TD_OK;
    return error_set(err, TD_UNSUPPORTED, "%s: no layer has attention", gguf_path(model->gguf));
}

static enum td_status load_layer_sizes(struct td_model *model, struct td_error *err)
{
    struct numbers heads = {0}, kv_heads = {0}, ffn = {NULL, model->ffn_size};
    enum td_status status = load_head_counts(model, &heads, &kv_heads, err);
    if (status == TD_OK && model->architecture->ssm)
        status = load_ssm(model, err);
    if (model->shared_ffn_size != 0) /* its output stands where the attention's does */
        model->query_width = model->embedding_size;
    if (status == TD_OK && model->expert_count == 0)
        status = load_numbers(model, "feed_forward_length", true, FFN_MAX, &ffn, err);
    for (uint32_t i = 0; status == TD_OK && i < model->layer_count; i++) {
        struct layer *layer = &model->layers[i];
        layer->ffn_size = i < model->dense_count ? model->dense_ffn_size : number_of(&ffn, i);
        status = set_heads(model, layer, number_of(&heads, i), number_of(&kv_heads, i), err);
        if (status == TD_OK && layer->ffn_size == 0 && !model->architecture->gaps)
            status = error_set(err, TD_UNSUPPORTED, "%s: layer %u has no feed-forward block",
                               gguf_path(model->gguf), i);
    }
    if (status == TD_OK && model->conv_count != 0)
        status =
            load_u32(model, "shortconv.l_cache", true, CONV_WIDTH_MAX, &model->conv_width, err);
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
        status =
            load_u32(model, "attention.sliding_window", false, CONTEXT_MAX, &model->window, err);
    if (status == TD_OK && model->window != 0)
        status = load_windows(model, err);
    if (status == TD_OK && traits->shared_keys)
        status = load_count(model, "attention.shared_kv_layers", model->layer_count - 1,
                            &model->shared_key_count, err);
    if (status == TD_OK && traits->layer_inputs)
        status = load_count(model, "embedding_length_per_layer_input", EMBEDDING_MAX / LAYERS_MAX,
                            &model->layer_input_size, err);
    if (status == TD_OK)
        status = place_keys(model, err);
    bool rope = true;
    char key[96];
    key_of(model, "rope.scaling.finetuned", key);
    if (status == TD_OK && traits->rope_switch && gguf_has(model->gguf, key) &&
        !gguf_get_bool(model->gguf, key, &rope))
        return bad_key(model, err, key, "not a truth value");
    for (uint32_t i = 0; i < model->layer_count; i++)
        if (!rope || (traits->no_rope_period != 0 && (i + 1) % traits->no_rope_period == 0))
            model->layers[i].rope = ROPE_NONE;
    return status;
}

enum td_status model_load_hyperparameters(struct td_model *model, struct td_error *err)
{
    ASSERT(model->gguf != NULL && model->architecture != NULL);
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
    status = load_ffn_sizes(model, err);
    if (status == TD_OK)
        status = load_f32(model,
                          model->architecture->encoder || model->architecture->layer_norm
                              ? "attention.layer_norm_epsilon"
                              : "attention.layer_norm_rms_epsilon",
                          true, NORM_EPSILON_MIN, 1e-1f, &model->norm_epsilon, err);
    if (status == TD_OK)
        status = load_head_sizes(model, err);
    if (status == TD_OK)
        status = load_rope(model, err);
    if (status == TD_OK)
        status = load_scales(model, err);
    if (status == TD_OK)
        status = load_caps(model, err);
    return status;
}

/* Reads the hyperparameters of a model, and checks every value, because the forward pass trusts
 * them. The table of architectures says which keys are read and what an absent key means. What
 * differs from layer to layer is in layer_kinds.c. */
#include "engine/model/model_keys.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <math.h>

#define HEAD_SIZE_MAX (2 * ROPE_PAIRS_MAX)
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

static enum td_status load_local_heads(struct td_model *model, struct td_error *err)
{
    enum td_status status = model_key_u32(model, "attention.key_length_swa", false,
                                          model->head_size, &model->local_head_size, err);
    uint32_t value_size = model->local_head_size;
    if (status == TD_OK)
        status = model_key_u32(model, "attention.value_length_swa", false, HEAD_SIZE_MAX,
                               &value_size, err);
    if (status == TD_OK && (value_size != model->local_head_size || value_size % 2 != 0))
        return model_fail(model, err, TD_UNSUPPORTED,
                          "heads with a window of %u for keys and %u for values: they must be "
                          "equal and even",
                          model->local_head_size, value_size);
    return status;
}

static enum td_status load_head_sizes(struct td_model *model, struct td_error *err)
{
    struct model_numbers heads = {0}, kv_heads = {0};
    enum td_status status = model_key_heads(model, &heads, &kv_heads, err);
    model->head_count = heads.most;
    model->kv_head_count = kv_heads.most;
    if (status == TD_OK && heads.each == NULL && kv_heads.each == NULL)
        status = model_check_heads(model, heads.most, kv_heads.most, err);
    if (status != TD_OK)
        return status;
    model->head_size = model->embedding_size / model->head_count;
    bool divides = model->embedding_size % model->head_count == 0;
    char key[96];
    model_key_name(model, "attention.key_length", key);
    if (!divides && !gguf_has(model->gguf, key))
        return model_fail(model, err, TD_CORRUPT,
                          "embedding %u is not a multiple of %u heads and %s is missing",
                          model->embedding_size, model->head_count, key);
    status =
        model_key_u32(model, "attention.key_length", false, HEAD_SIZE_MAX, &model->head_size, err);
    uint32_t value_size = model->head_size;
    if (status == TD_OK)
        status =
            model_key_u32(model, "attention.value_length", false, HEAD_SIZE_MAX, &value_size, err);
    if (status != TD_OK)
        return status;
    if (model->head_size == 0 || model->head_size > HEAD_SIZE_MAX || model->head_size % 2 != 0)
        return model_fail(model, err, TD_CORRUPT, "head size %u is not even and in [2, %u]",
                          model->head_size, HEAD_SIZE_MAX);
    if (value_size != model->head_size)
        return model_fail(model, err, TD_UNSUPPORTED, "value heads of %u beside key heads of %u",
                          value_size, model->head_size);
    model->local_head_size = model->head_size;
    return model->architecture->local_heads ? load_local_heads(model, err) : TD_OK;
}

static enum td_status load_yarn(const struct td_model *model, struct rope_options *options,
                                struct td_error *err)
{
    float fast = YARN_TURNS_FAST, slow = YARN_TURNS_SLOW;
    enum td_status status =
        model_key_f32(model, "rope.scaling.yarn_beta_fast", false, 1e-3f, 1e6f, &fast, err);
    if (status == TD_OK)
        status =
            model_key_f32(model, "rope.scaling.yarn_beta_slow", false, 1e-3f, 1e6f, &slow, err);
    if (status == TD_OK && fast <= slow)
        status = model_fail(model, err, TD_CORRUPT,
                            "rope.scaling.yarn_beta_fast %g is not above yarn_beta_slow %g",
                            (double)fast, (double)slow);
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
    model_key_name(model, "rope.scaling.type", key);
    if (gguf_has(model->gguf, key) && !gguf_get_string(model->gguf, key, &type))
        return model_key_bad(model, err, key, "not a string");
    float factor = 0;
    enum td_status status =
        model_key_f32(model, "rope.scaling.factor", false, 1.0f, 1e6f, &factor, err);
    if (status == TD_OK && factor == 0) /* the key of old files */
        status = model_key_f32(model, "rope.scale_linear", false, 1.0f, 1e6f, &factor, err);
    if (status == TD_OK)
        status = model_key_u32(model, "rope.scaling.original_context_length", false, CONTEXT_MAX,
                               &options->original_context, err);
    float attention_factor = 1.0f;
    if (status == TD_OK)
        status = model_key_f32(model, "rope.scaling.attn_factor", false, 1e-3f, 1e3f,
                               &attention_factor, err);
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
        return model_fail(model, err, TD_UNSUPPORTED,
                          "rope.scaling.type '" STR_FMT "'; supported: none, linear, yarn, "
                          "longrope",
                          STR_ARG(type));
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
        return model_fail(model, err, TD_CORRUPT, "%s is not F32 [%u]", name, pair_count);
    *out = tensor->data;
    for (uint32_t i = 0; i < pair_count; i++)
        if (!((*out)[i] > 1e-6f && (*out)[i] < ROPE_FACTOR_MAX))
            return model_fail(model, err, TD_CORRUPT, "%s[%u] is %g", name, i, (double)(*out)[i]);
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
        return model_fail(model, err, TD_CORRUPT,
                          "longrope needs rope_factors_short.weight and rope_factors_long.weight, "
                          "and no rope_freqs.weight");
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
    enum td_status status = model_key_u32(model, suffix, false, head_size, value, err);
    if (status != TD_OK || *value % 2 == 0)
        return status;
    return model_fail(model, err, TD_CORRUPT, "%s %u is odd", suffix, *value);
}

/* The angles of layers with a window: they have their own base and no context extension. */
static enum td_status init_local_rope(struct td_model *model, struct rope_options options,
                                      struct td_error *err)
{
    const struct architecture *traits = model->architecture;
    float base = traits->local_rope_base == 0 ? (float)options.base : traits->local_rope_base;
    enum td_status status =
        model_key_f32(model, "rope.freq_base_swa", false, ROPE_BASE_MIN, ROPE_BASE_MAX, &base, err);
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
        status =
            model_key_f32(model, "rope.freq_base", false, ROPE_BASE_MIN, ROPE_BASE_MAX, &base, err);
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
    model_key_name(model, "expert_count", key);
    if (model->architecture->experts == PRESENCE_NEVER &&
        gguf_get_u32(model->gguf, key, &experts) && experts != 0)
        return model_fail(model, err, TD_UNSUPPORTED, "%s = %u: no experts in this architecture",
                          key, experts);
    return TD_OK;
}

/* How many of the first layers have no experts. */
static enum td_status load_dense_count(struct td_model *model, struct td_error *err)
{
    char key[96];
    uint32_t gate = 2; /* the format's number for sigmoids */
    enum td_status status = model_key_u32(model, "expert_gating_func", false, gate, &gate, err);
    if (status == TD_OK && gate != 2)
        return model_fail(model, err, TD_UNSUPPORTED,
                          "expert_gating_func %u, not the architecture's 2", gate);
    model_key_name(model, "leading_dense_block_count", key);
    if (status != TD_OK || !gguf_has(model->gguf, key))
        return status;
    if (!gguf_get_u32(model->gguf, key, &model->dense_count) ||
        model->dense_count > model->layer_count)
        return model_key_bad(model, err, key, "not a number of layers that the model has");
    if (model->dense_count == 0)
        return TD_OK;
    return model_key_u32(model, "feed_forward_length", true, FFN_MAX, &model->dense_ffn_size, err);
}

/* Reads the size of the feed-forward block, or of one expert's block. */
static enum td_status load_ffn_sizes(struct td_model *model, struct td_error *err)
{
    const struct architecture *traits = model->architecture;
    struct model_numbers ffn = {0};
    char key[96];
    uint32_t count = 0;
    model_key_name(model, "expert_count", key);
    bool experts =
        traits->experts == PRESENCE_REQUIRED ||
        (traits->experts == PRESENCE_OPTIONAL &&
         !(gguf_get_u32(model->gguf, key, &count) && count == 0) && gguf_has(model->gguf, key));
    enum td_status status =
        model_key_numbers(model, "feed_forward_length", !experts, FFN_MAX, &ffn, err);
    model->ffn_size = ffn.most;
    if (status != TD_OK || !experts)
        return status;
    if (ffn.each)
        return model_fail(model, err, TD_UNSUPPORTED,
                          "feed_forward_length of each layer, with experts");
    status = model_key_u32(model, "expert_count", true, EXPERTS_MAX, &model->expert_count, err);
    uint32_t used_max =
        model->expert_count < EXPERTS_USED_MAX ? model->expert_count : EXPERTS_USED_MAX;
    if (status == TD_OK)
        status = model_key_u32(model, "expert_used_count", true, used_max,
                               &model->expert_used_count, err);
    if (status != TD_OK)
        return status;
    if (traits->ffn_of_all_experts)
        model->ffn_size /= model->expert_used_count;
    status = model_key_u32(model, "expert_feed_forward_length", model->ffn_size == 0, FFN_MAX,
                           &model->ffn_size, err);
    if (status == TD_OK && traits->shared_expert)
        status = model_key_u32(model, "expert_shared_feed_forward_length", false, FFN_MAX,
                               &model->shared_ffn_size, err);
    return status == TD_OK && traits->sigmoid_router ? load_dense_count(model, err) : status;
}

/* In files a scale of 0 means that there is none. */
static enum td_status load_scale(const struct td_model *model, const char *suffix, bool required,
                                 float *value, struct td_error *err)
{
    float scale = 0;
    enum td_status status = model_key_f32(model, suffix, required, 0, SCALE_MAX, &scale, err);
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
    enum td_status status = model_key_f32(model, "attn_logit_softcapping", false, 0, SCALE_MAX,
                                          &model->attention_cap, err);
    if (status == TD_OK)
        status = model_key_f32(model, "final_logit_softcapping", false, 0, SCALE_MAX,
                               &model->last_cap, err);
    return status;
}

enum td_status model_load_hyperparameters(struct td_model *model, struct td_error *err)
{
    ASSERT(model->gguf != NULL && model->architecture != NULL);
    bool required = !model->vocab_only;
    enum td_status status = refuse_experts(model, err);
    if (status == TD_OK)
        status = model_key_u32(model, "context_length", required, CONTEXT_MAX, &model->context_size,
                               err);
    if (status == TD_OK)
        status =
            model_key_u32(model, "block_count", required, LAYERS_MAX, &model->layer_count, err);
    if (status == TD_OK)
        status = model_key_u32(model, "embedding_length", required, EMBEDDING_MAX,
                               &model->embedding_size, err);
    if (status != TD_OK || model->vocab_only)
        return status;
    status = load_ffn_sizes(model, err);
    if (status == TD_OK)
        status = model_key_f32(model,
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

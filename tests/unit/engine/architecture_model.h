/* Models of every architecture of the table, small and with random weights. A test changes one
 * thing of such a model. */
#ifndef TESTS_ARCHITECTURE_MODEL_H
#define TESTS_ARCHITECTURE_MODEL_H

#include "engine/model/architecture.h"

#include "tiny_model.h"

/* Mamba-2 layers; sizes that are no multiples of a vector. */
enum { SSM_HEADS = 4, SSM_HEAD = 11, SSM_STATE = 20, SSM_GROUPS = 2, SSM_CONV = 4 };
/* Inputs of layers, and last layers without keys of their own. */
enum { LAYER_INPUT = 12, SHARED_KEYS = 2 };
enum { LAYERS = 4, WINDOW = 16, EXPERTS = 4, EXPERTS_USED = 2, ORIGINAL_CONTEXT = 128 };

/* Of the whole table, in its order. */
static const char *const architecture_names[] = {
    "llama",    "qwen2",   "qwen3",         "qwen3moe", "gemma",      "gemma2",        "gemma3",
    "gemma4",   "phi3",    "smollm3",       "granite",  "granitemoe", "granitehybrid", "nemotron_h",
    "olmo2",    "exaone4", "hunyuan-dense", "glm4",     "ernie4_5",   "seed_oss",      "gpt-oss",
    "stablelm", "lfm2",    "lfm2moe",       "openelm",  "deci"};
enum { ARCHITECTURES = sizeof architecture_names / sizeof *architecture_names };

/* One change of the architecture's usual model. */
struct spec {
    const char *architecture;
    const char *drop;   /* key (without the architecture) or tensor that is left out */
    const char *number; /* key that is added, with this value */
    uint32_t value;
    const char *real; /* the same as float */
    float real_value;
    const char *text; /* the same as string "longrope" */
    /* windows of the layers; 0 = the architecture's default */
    uint32_t pattern_count;
    bool all_local;
    uint32_t layers;    /* 0 = LAYERS */
    uint32_t head_size; /* 0 = TINY_WIDE / TINY_HEADS */
    bool rope_off;
    /* Arrays instead of numbers: each layer's heads, key-value heads, feed-forward size. */
    const int32_t *heads, *kv_heads, *ffn;
    uint32_t each_count;            /* of these; 0 = layers */
    enum gguf_type each_type;       /* GGUF_U8 = the usual */
    bool split;                     /* phi3: q, k, v and gate, up as tensors of their own */
    bool same_experts;              /* all experts have the first one's weights */
    float short_factor, far_factor; /* rope factors; 0 = no such tensor */
    uint32_t more_rows;             /* of ffn_down */
    bool growing;                   /* the states of Mamba-2 layers */
    uint32_t shared_ffn;            /* feed-forward size of a shared expert; 0 = none */
    bool own_output;                /* an output matrix of its own */
    float shrink; /* matrices are that much smaller, and have its inverse as scale; of experts
                     that of the next ones is twice as much; 0 = no scales */
};

static inline bool dropped(const struct spec *spec, const char *name)
{
    return (spec->drop && strcmp(spec->drop, name) == 0) ||
           (spec->number && strcmp(spec->number, name) == 0) ||
           (spec->real && strcmp(spec->real, name) == 0);
}

static inline const char *full_key(const struct spec *spec, const char *key, char out[static 96])
{
    snprintf(out, 96, "%s.%s", spec->architecture, key);
    return out;
}

static inline uint32_t layers_of(const struct spec *spec)
{
    return spec->layers ? spec->layers : LAYERS;
}

static inline uint32_t head_of(const struct spec *spec)
{
    return spec->head_size ? spec->head_size : TINY_WIDE / TINY_HEADS;
}

static inline bool is_local(const struct spec *spec, uint32_t layer)
{
    return spec->pattern_count == 0 || spec->all_local || layer % 2 == 0;
}

static inline void put_number(struct gguf_builder *builder, const struct spec *spec,
                              const char *key, uint32_t value)
{
    char name[96];
    if (!dropped(spec, key))
        builder_u32(builder, full_key(spec, key, name), value);
}

static inline void put_real(struct gguf_builder *builder, const struct spec *spec, const char *key,
                            float value)
{
    char name[96];
    if (!dropped(spec, key))
        builder_f32(builder, full_key(spec, key, name), value);
}

/* A number, or an array if there is one. */
static inline void put_each(struct gguf_builder *builder, const struct spec *spec, const char *key,
                            const int32_t *each, uint32_t value)
{
    char name[96];
    uint32_t count = spec->each_count ? spec->each_count : layers_of(spec);
    if (each == NULL || dropped(spec, key)) {
        put_number(builder, spec, key, value);
        return;
    }
    builder_array(builder, full_key(spec, key, name), spec->each_type ? spec->each_type : GGUF_I32,
                  count);
    for (uint32_t i = 0; i < count; i++)
        buf_append(&builder->pairs, &each[i], sizeof each[i]);
}

static inline void put_pattern(struct gguf_builder *builder, const struct spec *spec)
{
    char name[96];
    if (spec->pattern_count == 0)
        return;
    builder_array(builder, full_key(spec, "attention.sliding_window_pattern", name), GGUF_BOOL,
                  spec->pattern_count);
    for (uint32_t i = 0; i < spec->pattern_count; i++)
        buf_append_char(&builder->pairs, spec->all_local || i % 2 == 0);
}

static inline void put_keys(struct gguf_builder *builder, const struct spec *spec,
                            const struct architecture *traits)
{
    char name[96];
    builder_string(builder, "general.architecture", spec->architecture);
    put_number(builder, spec, "context_length", TINY_CONTEXT);
    put_number(builder, spec, "block_count", layers_of(spec));
    put_number(builder, spec, "embedding_length", TINY_WIDE);
    put_each(builder, spec, "feed_forward_length", spec->ffn, TINY_FFN);
    put_each(builder, spec, "attention.head_count", spec->heads, TINY_HEADS);
    put_each(builder, spec, "attention.head_count_kv", spec->kv_heads, TINY_KV_HEADS);
    put_real(builder, spec,
             traits->layer_norm ? "attention.layer_norm_epsilon"
                                : "attention.layer_norm_rms_epsilon",
             1e-5f);
    if (traits->short_conv)
        put_number(builder, spec, "shortconv.l_cache", 3);
    if (traits->ssm) {
        put_number(builder, spec, "ssm.conv_kernel", SSM_CONV);
        put_number(builder, spec, "ssm.state_size", SSM_STATE);
        put_number(builder, spec, "ssm.inner_size", SSM_HEADS * SSM_HEAD);
        put_number(builder, spec, "ssm.time_step_rank", SSM_HEADS);
        put_number(builder, spec, "ssm.group_count", SSM_GROUPS);
    }
    if (spec->head_size) {
        put_number(builder, spec, "attention.key_length", spec->head_size);
        put_number(builder, spec, "attention.value_length", spec->head_size);
    }
    if (traits->local_heads) {
        put_number(builder, spec, "attention.key_length", 2 * head_of(spec));
        put_number(builder, spec, "attention.value_length", 2 * head_of(spec));
        put_number(builder, spec, "attention.key_length_swa", head_of(spec));
        put_number(builder, spec, "attention.value_length_swa", head_of(spec));
    }
    if (traits->shared_keys)
        put_number(builder, spec, "attention.shared_kv_layers", SHARED_KEYS);
    if (traits->layer_inputs)
        put_number(builder, spec, "embedding_length_per_layer_input", LAYER_INPUT);
    if (spec->rope_off)
        builder_bool(builder, full_key(spec, "rope.scaling.finetuned", name), false);
    if (traits->window_period) {
        put_number(builder, spec, "attention.sliding_window", WINDOW);
        put_pattern(builder, spec);
    }
    if (traits->soft_caps)
        put_real(builder, spec, "final_logit_softcapping", 5.0f);
    if (traits->attention_cap > 0)
        put_real(builder, spec, "attn_logit_softcapping", 3.0f);
    if (traits->scales) {
        put_real(builder, spec, "embedding_scale", 2.0f);
        put_real(builder, spec, "residual_scale", 0.7f);
        put_real(builder, spec, "attention.scale", 0.3f);
        put_real(builder, spec, "logit_scale", 0.5f);
    }
    if (traits->experts == PRESENCE_REQUIRED) {
        put_number(builder, spec, "expert_count", EXPERTS);
        put_number(builder, spec, "expert_used_count", EXPERTS_USED);
        put_number(builder, spec, "expert_feed_forward_length", TINY_FFN);
        if (spec->shared_ffn)
            put_number(builder, spec, "expert_shared_feed_forward_length", spec->shared_ffn);
        if (traits->sigmoid_router)
            put_number(builder, spec, "leading_dense_block_count", 1);
    }
    put_number(builder, spec, "rope.scaling.original_context_length", ORIGINAL_CONTEXT);
    if (spec->number)
        builder_u32(builder, full_key(spec, spec->number, name), spec->value);
    if (spec->real)
        builder_f32(builder, full_key(spec, spec->real, name), spec->real_value);
    if (spec->text)
        builder_string(builder, full_key(spec, spec->text, name), "longrope");
}

struct maker {
    struct gguf_builder *builder;
    const struct spec *spec;
    struct rng rng;
    unsigned layer;
};

static inline void put_scales(struct maker *maker, const char *part, uint64_t count)
{
    char name[64];
    struct gguf_builder *builder = maker->builder;
    snprintf(name, sizeof name, "blk.%u.%s.scale", maker->layer, part);
    builder_pad(&builder->data);
    builder_entry(builder, name, TENSOR_F32, 1, &count, builder->data.len);
    for (uint64_t i = 0; i < count; i++) {
        float scale = (float)(1u << i) / maker->spec->shrink;
        buf_append(&builder->data, &scale, sizeof scale);
    }
    snprintf(name, sizeof name, "blk.%u.%s.input_scale", maker->layer, part);
    builder_tensor(builder, name, 0, 1, 7.0f, NULL); /* nobody reads it */
}

/* Convolutions, and most tables of a state-space layer, are no matrices that inputs go through. */
static inline bool multiplies(const char *part)
{
    if (strncmp(part, "ssm_", 4) == 0)
        return strcmp(part, "ssm_in") == 0 || strcmp(part, "ssm_out") == 0;
    return strcmp(part, "shortconv.conv") != 0;
}

static inline void put_matrix(struct maker *maker, const char *part, uint64_t rows, uint64_t cols)
{
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s.weight", maker->layer, part);
    if (dropped(maker->spec, name))
        return;
    bool scaled = maker->spec->shrink > 0 && multiplies(part);
    builder_tensor(maker->builder, name, rows, cols, scaled ? 0.4f * maker->spec->shrink : 0.4f,
                   &maker->rng);
    if (scaled)
        put_scales(maker, part, 1);
}

static inline void put_vector(struct maker *maker, const char *part, uint64_t len)
{
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s", maker->layer, part);
    if (!dropped(maker->spec, name))
        builder_tensor(maker->builder, name, 0, len, 0.8f, NULL);
}

static inline void put_experts(struct maker *maker, const char *part, uint64_t rows, uint64_t cols)
{
    char name[64];
    uint64_t dims[3] = {cols, rows, EXPERTS};
    struct gguf_builder *builder = maker->builder;
    snprintf(name, sizeof name, "blk.%u.%s.weight", maker->layer, part);
    builder_pad(&builder->data);
    builder_entry(builder, name, TENSOR_F32, 3, dims, builder->data.len);
    struct rng first = maker->rng;
    for (int e = 0; e < EXPERTS; e++) {
        if (maker->spec->same_experts)
            maker->rng = first;
        for (uint64_t i = 0; i < rows * cols; i++) {
            float value = (float)(rng_double(&maker->rng) * 2 - 1) * 0.4f;
            if (maker->spec->shrink > 0)
                value *= maker->spec->shrink / (float)(1u << e);
            buf_append(&builder->data, &value, sizeof value);
        }
    }
    if (maker->spec->shrink > 0)
        put_scales(maker, part, EXPERTS);
}

static inline void put_biases(struct maker *maker, const char *part, uint64_t len)
{
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s", maker->layer, part);
    if (!dropped(maker->spec, name))
        builder_tensor(maker->builder, name, EXPERTS, len, 0.4f, &maker->rng);
}

static inline void put_norm(struct maker *maker, const struct architecture *traits,
                            const char *stem)
{
    char name[48];
    snprintf(name, sizeof name, "%s.weight", stem);
    put_vector(maker, name, TINY_WIDE);
    snprintf(name, sizeof name, "%s.bias", stem);
    if (traits->layer_norm)
        put_vector(maker, name, TINY_WIDE);
}

static inline void put_column(struct maker *maker, const char *part, float value)
{
    char name[64];
    struct buf *data = &maker->builder->data;
    uint64_t dims[2] = {1, SSM_HEADS};
    snprintf(name, sizeof name, "blk.%u.%s", maker->layer, part);
    if (dropped(maker->spec, name))
        return;
    builder_pad(data);
    builder_entry(maker->builder, name, TENSOR_F32, 2, dims, data->len);
    for (int i = 0; i < SSM_HEADS; i++, value *= 0.5f)
        buf_append(data, &value, sizeof value);
}

static inline void put_ssm(struct maker *maker)
{
    uint64_t inner = SSM_HEADS * SSM_HEAD, channels = inner + 2 * SSM_GROUPS * SSM_STATE;
    put_matrix(maker, "ssm_in", inner + channels + SSM_HEADS, TINY_WIDE);
    put_matrix(maker, "ssm_out", TINY_WIDE, inner);
    put_matrix(maker, "ssm_conv1d", channels, SSM_CONV);
    put_vector(maker, "ssm_conv1d.bias", channels);
    put_vector(maker, "ssm_dt.bias", SSM_HEADS);
    put_column(maker, "ssm_a", maker->spec->growing ? 0.1f : -0.3f);
    put_column(maker, "ssm_d", 1.5f);
    put_matrix(maker, "ssm_norm", SSM_GROUPS, inner / SSM_GROUPS);
}

static inline void put_attention(struct maker *maker, const struct architecture *traits)
{
    const struct spec *spec = maker->spec;
    uint64_t head = head_of(spec);
    if (traits->local_heads && !is_local(spec, maker->layer))
        head *= 2;
    bool own_keys = !traits->shared_keys || maker->layer < layers_of(spec) - SHARED_KEYS;
    uint64_t kv = head * TINY_KV_HEADS, q = head * TINY_HEADS;
    if (spec->heads)
        q = head * (uint64_t)spec->heads[maker->layer];
    if (spec->kv_heads)
        kv = head * (uint64_t)(spec->kv_heads[maker->layer] < 0 ? 0 : spec->kv_heads[maker->layer]);
    if (q == 0)
        return;
    if (!traits->no_pre_norms)
        put_norm(maker, traits, "attn_norm");
    if (traits->single_blocks && spec->ffn[maker->layer] != 0)
        return;
    if (kv == 0 && traits->ssm) {
        put_ssm(maker);
        return;
    }
    if (kv == 0 && traits->short_conv) {
        put_matrix(maker, "shortconv.in_proj", (uint64_t)3 * TINY_WIDE, TINY_WIDE);
        put_matrix(maker, "shortconv.out_proj", TINY_WIDE, TINY_WIDE);
        put_matrix(maker, "shortconv.conv", TINY_WIDE, 3);
        return;
    }
    if (kv == 0) {
        put_matrix(maker, "attn_output", TINY_WIDE, TINY_WIDE);
        return;
    }
    if (traits->fused && !maker->spec->split) {
        put_matrix(maker, "attn_qkv", q + 2 * kv, TINY_WIDE);
    } else {
        put_matrix(maker, "attn_q", q, TINY_WIDE);
        if (own_keys)
            put_matrix(maker, "attn_k", kv, TINY_WIDE);
        if (own_keys && (!traits->value_norm || maker->layer == 0))
            put_matrix(maker, "attn_v", kv, TINY_WIDE);
    }
    put_matrix(maker, "attn_output", TINY_WIDE, q);
    if (traits->qkv_bias == PRESENCE_REQUIRED) {
        put_vector(maker, "attn_q.bias", q);
        put_vector(maker, "attn_k.bias", kv);
        put_vector(maker, "attn_v.bias", kv);
    }
    if (traits->qk_norm == PRESENCE_REQUIRED) {
        put_vector(maker, "attn_q_norm.weight", traits->qk_norm_whole ? q : head);
        if (own_keys)
            put_vector(maker, "attn_k_norm.weight", traits->qk_norm_whole ? kv : head);
    }
    if (traits->all_biases)
        put_vector(maker, "attn_output.bias", TINY_WIDE);
    if (traits->sinks)
        put_vector(maker, "attn_sinks.weight", TINY_HEADS);
    if (traits->post_norm == PRESENCE_REQUIRED)
        put_vector(maker, "post_attention_norm.weight", TINY_WIDE);
}

static inline void put_ffn(struct maker *maker, const struct architecture *traits)
{
    const struct spec *spec = maker->spec;
    uint64_t ffn = spec->ffn ? (uint64_t)spec->ffn[maker->layer] : TINY_FFN;
    if (ffn == 0)
        return;
    if (!traits->no_pre_norms && !traits->single_blocks)
        put_norm(maker, traits, traits->ffn_norm_renamed ? "post_attention_norm" : "ffn_norm");
    if (traits->post_norm == PRESENCE_REQUIRED)
        put_vector(maker, "post_ffw_norm.weight", TINY_WIDE);
    if (traits->all_biases) {
        put_vector(maker, "ffn_gate_inp.bias", EXPERTS);
        put_biases(maker, "ffn_gate_exps.bias", TINY_FFN);
        put_biases(maker, "ffn_up_exps.bias", TINY_FFN);
        put_biases(maker, "ffn_down_exps.bias", TINY_WIDE);
    }
    if (traits->experts == PRESENCE_REQUIRED && (!traits->sigmoid_router || maker->layer > 0)) {
        if (traits->sigmoid_router)
            put_vector(maker, "exp_probs_b.bias", EXPERTS);
        put_experts(maker, "ffn_gate_exps", TINY_FFN, TINY_WIDE);
        put_experts(maker, "ffn_up_exps", TINY_FFN, TINY_WIDE);
        put_experts(maker, "ffn_down_exps", TINY_WIDE, TINY_FFN);
        struct rng before = maker->rng; /* so that a dense model has the same weights */
        put_matrix(maker, "ffn_gate_inp", EXPERTS, TINY_WIDE);
        maker->rng = before;
        if (maker->spec->shared_ffn) {
            put_matrix(maker, "ffn_gate_shexp", maker->spec->shared_ffn, TINY_WIDE);
            put_matrix(maker, "ffn_up_shexp", maker->spec->shared_ffn, TINY_WIDE);
            put_matrix(maker, "ffn_down_shexp", TINY_WIDE, maker->spec->shared_ffn);
        }
        return;
    }
    if (traits->fused && !maker->spec->split) {
        put_matrix(maker, "ffn_up", 2 * ffn, TINY_WIDE);
    } else {
        if (!traits->squared_relu)
            put_matrix(maker, "ffn_gate", ffn, TINY_WIDE);
        put_matrix(maker, "ffn_up", ffn, TINY_WIDE);
    }
    put_matrix(maker, "ffn_down", TINY_WIDE + maker->spec->more_rows, ffn);
}

static inline void put_layer_input(struct maker *maker)
{
    put_matrix(maker, "inp_gate", LAYER_INPUT, TINY_WIDE);
    put_matrix(maker, "proj", TINY_WIDE, LAYER_INPUT);
    put_vector(maker, "post_norm.weight", TINY_WIDE);
    put_vector(maker, "layer_output_scale.weight", 1);
}

/* What the inputs of all layers are made of. */
static inline void put_layer_inputs(struct maker *maker)
{
    static const char *const names[] = {"per_layer_token_embd.weight",
                                        "per_layer_model_proj.weight"};
    uint64_t all = (uint64_t)layers_of(maker->spec) * LAYER_INPUT;
    if (!dropped(maker->spec, names[0]))
        builder_tensor(maker->builder, names[0], TINY_VOCAB, all, 0.6f, &maker->rng);
    builder_tensor(maker->builder, names[1], all, TINY_WIDE, 0.4f, &maker->rng);
    builder_tensor(maker->builder, "per_layer_proj_norm.weight", 0, LAYER_INPUT, 1.1f, NULL);
}

/* Where the directory of tensors begins; the architecture's keys are at the front of the file. */
static inline size_t build(const struct spec *spec, struct buf *file)
{
    struct gguf_builder builder;
    const struct architecture *traits = architecture_find(str_from(spec->architecture));
    uint64_t pairs = head_of(spec) / 2;
    builder_init(&builder);
    put_keys(&builder, spec, traits);
    tiny_vocabulary(&builder);
    struct maker maker = {.builder = &builder, .spec = spec};
    rng_init(&maker.rng, 3);
    builder_tensor(&builder, "token_embd.weight", TINY_VOCAB, TINY_WIDE, 0.6f, &maker.rng);
    builder_tensor(&builder, "output_norm.weight", 0, TINY_WIDE, 1.0f, NULL);
    if (traits->layer_norm)
        builder_tensor(&builder, "output_norm.bias", 0, TINY_WIDE, 0.1f, NULL);
    float output = spec->shrink > 0 ? 0.6f * spec->shrink : 0.6f;
    if (spec->own_output)
        builder_tensor(&builder, "output.weight", TINY_VOCAB, TINY_WIDE, output, &maker.rng);
    if (spec->own_output && spec->shrink > 0)
        builder_tensor(&builder, "output.scale", 0, 1, 1 / spec->shrink, NULL);
    if (spec->short_factor != 0)
        builder_tensor(&builder, "rope_factors_short.weight", 0, pairs, spec->short_factor, NULL);
    if (spec->far_factor != 0)
        builder_tensor(&builder, "rope_factors_long.weight", 0, pairs, spec->far_factor, NULL);
    if (traits->layer_inputs)
        put_layer_inputs(&maker);
    for (maker.layer = 0; maker.layer < layers_of(spec); maker.layer++) {
        put_attention(&maker, traits);
        put_ffn(&maker, traits);
        if (traits->layer_inputs)
            put_layer_input(&maker);
    }
    builder_finish(&builder, file);
    size_t directory = 24 + builder.pairs.len;
    builder_deinit(&builder);
    return directory;
}

static inline struct td_model *make(const struct spec *spec, enum td_cpu cpu, struct td_error *err)
{
    struct buf file;
    struct td_model_options options = {.cpu = cpu};
    build(spec, &file);
    *err = (struct td_error){0};
    struct td_model *model = tiny_open(&file, &options, err);
    buf_deinit(&file);
    return model;
}

/* The architecture's usual model, with layers of all the kinds that it may have. */
static inline struct spec usual_spec(const char *architecture)
{
    static const int32_t lfm2_kv[] = {0, 2, 0, 1}, heads[] = {4, 0, 4, 2}, kv[] = {2, 0, 0, 1},
                         ffn[] = {96, 32, 64, 0}, single_kv[] = {0, 0, 2, 0},
                         single_ffn[] = {0, 96, 0, 64};
    struct spec spec = {.architecture = architecture};
    const struct architecture *traits = architecture_find(str_from(architecture));
    if (traits->short_conv || traits->ssm)
        spec.kv_heads = lfm2_kv;
    if (traits->local_heads)
        spec.pattern_count = LAYERS;
    if (traits->single_blocks) {
        spec.kv_heads = single_kv;
        spec.ffn = single_ffn;
    }
    if (strcmp(architecture, "deci") == 0) {
        spec.heads = heads;
        spec.kv_heads = kv;
        spec.ffn = ffn;
    }
    return spec;
}

#endif

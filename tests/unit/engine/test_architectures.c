/* Models of every architecture, made anew: the same numbers however a sequence is cut, what
 * windows, experts, fused matrices and rope factors mean, and refusal of files that contradict
 * themselves. That the numbers are right is for test_golden_logits.c. */
#include "engine/model/architecture.h"
#include "engine/session/session.h"

#include "tiny_model.h"
#include "variants.h"

#include <math.h>

enum { IDS = 90, LAYERS = 4, WINDOW = 16, EXPERTS = 4, EXPERTS_USED = 2, ORIGINAL_CONTEXT = 128 };

static const char *const names[] = {"llama",      "qwen2",    "qwen3",   "qwen3moe",      "gemma",
                                    "gemma2",     "gemma3",   "phi3",    "smollm3",       "granite",
                                    "granitemoe", "olmo2",    "exaone4", "hunyuan-dense", "glm4",
                                    "ernie4_5",   "seed_oss", "gpt-oss"};

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
    bool split;                     /* phi3: q, k, v and gate, up as tensors of their own */
    bool same_experts;              /* all experts have the first one's weights */
    float short_factor, far_factor; /* rope factors; 0 = no such tensor */
    uint32_t more_rows;             /* of ffn_down */
};

static bool dropped(const struct spec *spec, const char *name)
{
    return (spec->drop && strcmp(spec->drop, name) == 0) ||
           (spec->number && strcmp(spec->number, name) == 0) ||
           (spec->real && strcmp(spec->real, name) == 0);
}

static const char *full_key(const struct spec *spec, const char *key, char out[static 96])
{
    snprintf(out, 96, "%s.%s", spec->architecture, key);
    return out;
}

static uint32_t layers_of(const struct spec *spec)
{
    return spec->layers ? spec->layers : LAYERS;
}

static uint32_t head_of(const struct spec *spec)
{
    return spec->head_size ? spec->head_size : TINY_WIDE / TINY_HEADS;
}

static void put_number(struct gguf_builder *builder, const struct spec *spec, const char *key,
                       uint32_t value)
{
    char name[96];
    if (!dropped(spec, key))
        builder_u32(builder, full_key(spec, key, name), value);
}

static void put_real(struct gguf_builder *builder, const struct spec *spec, const char *key,
                     float value)
{
    char name[96];
    if (!dropped(spec, key))
        builder_f32(builder, full_key(spec, key, name), value);
}

static void put_pattern(struct gguf_builder *builder, const struct spec *spec)
{
    char name[96];
    if (spec->pattern_count == 0)
        return;
    builder_array(builder, full_key(spec, "attention.sliding_window_pattern", name), GGUF_BOOL,
                  spec->pattern_count);
    for (uint32_t i = 0; i < spec->pattern_count; i++)
        buf_append_char(&builder->pairs, spec->all_local || i % 2 == 0);
}

static void put_keys(struct gguf_builder *builder, const struct spec *spec,
                     const struct architecture *traits)
{
    char name[96];
    builder_string(builder, "general.architecture", spec->architecture);
    put_number(builder, spec, "context_length", TINY_CONTEXT);
    put_number(builder, spec, "block_count", layers_of(spec));
    put_number(builder, spec, "embedding_length", TINY_WIDE);
    put_number(builder, spec, "feed_forward_length", TINY_FFN);
    put_number(builder, spec, "attention.head_count", TINY_HEADS);
    put_number(builder, spec, "attention.head_count_kv", TINY_KV_HEADS);
    put_real(builder, spec, "attention.layer_norm_rms_epsilon", 1e-5f);
    if (spec->head_size) {
        put_number(builder, spec, "attention.key_length", spec->head_size);
        put_number(builder, spec, "attention.value_length", spec->head_size);
    }
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

static void put_matrix(struct maker *maker, const char *part, uint64_t rows, uint64_t cols)
{
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s.weight", maker->layer, part);
    if (!dropped(maker->spec, name))
        builder_tensor(maker->builder, name, rows, cols, 0.4f, &maker->rng);
}

static void put_vector(struct maker *maker, const char *part, uint64_t len)
{
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s", maker->layer, part);
    if (!dropped(maker->spec, name))
        builder_tensor(maker->builder, name, 0, len, 0.8f, NULL);
}

static void put_experts(struct maker *maker, const char *part, uint64_t rows, uint64_t cols)
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
            buf_append(&builder->data, &value, sizeof value);
        }
    }
}

static void put_biases(struct maker *maker, const char *part, uint64_t len)
{
    char name[64];
    snprintf(name, sizeof name, "blk.%u.%s", maker->layer, part);
    if (!dropped(maker->spec, name))
        builder_tensor(maker->builder, name, EXPERTS, len, 0.4f, &maker->rng);
}

static void put_attention(struct maker *maker, const struct architecture *traits)
{
    uint64_t head = head_of(maker->spec), kv = head * TINY_KV_HEADS, q = head * TINY_HEADS;
    if (!traits->no_pre_norms)
        put_vector(maker, "attn_norm.weight", TINY_WIDE);
    if (traits->fused && !maker->spec->split) {
        put_matrix(maker, "attn_qkv", q + 2 * kv, TINY_WIDE);
    } else {
        put_matrix(maker, "attn_q", q, TINY_WIDE);
        put_matrix(maker, "attn_k", kv, TINY_WIDE);
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
        put_vector(maker, "attn_k_norm.weight", traits->qk_norm_whole ? kv : head);
    }
    if (traits->all_biases)
        put_vector(maker, "attn_output.bias", TINY_WIDE);
    if (traits->sinks)
        put_vector(maker, "attn_sinks.weight", TINY_HEADS);
    if (traits->post_norm == PRESENCE_REQUIRED)
        put_vector(maker, "post_attention_norm.weight", TINY_WIDE);
}

static void put_ffn(struct maker *maker, const struct architecture *traits)
{
    if (!traits->no_pre_norms)
        put_vector(maker,
                   traits->ffn_norm_renamed ? "post_attention_norm.weight" : "ffn_norm.weight",
                   TINY_WIDE);
    if (traits->post_norm == PRESENCE_REQUIRED)
        put_vector(maker, "post_ffw_norm.weight", TINY_WIDE);
    if (traits->all_biases) {
        put_vector(maker, "ffn_gate_inp.bias", EXPERTS);
        put_biases(maker, "ffn_gate_exps.bias", TINY_FFN);
        put_biases(maker, "ffn_up_exps.bias", TINY_FFN);
        put_biases(maker, "ffn_down_exps.bias", TINY_WIDE);
    }
    if (traits->experts == PRESENCE_REQUIRED) {
        put_experts(maker, "ffn_gate_exps", TINY_FFN, TINY_WIDE);
        put_experts(maker, "ffn_up_exps", TINY_FFN, TINY_WIDE);
        put_experts(maker, "ffn_down_exps", TINY_WIDE, TINY_FFN);
        struct rng before = maker->rng; /* so that a dense model has the same weights */
        put_matrix(maker, "ffn_gate_inp", EXPERTS, TINY_WIDE);
        maker->rng = before;
        return;
    }
    if (traits->fused && !maker->spec->split) {
        put_matrix(maker, "ffn_up", 2 * TINY_FFN, TINY_WIDE);
    } else {
        put_matrix(maker, "ffn_gate", TINY_FFN, TINY_WIDE);
        put_matrix(maker, "ffn_up", TINY_FFN, TINY_WIDE);
    }
    put_matrix(maker, "ffn_down", TINY_WIDE + maker->spec->more_rows, TINY_FFN);
}

/* Where the directory of tensors begins; the architecture's keys are at the front of the file. */
static size_t build(const struct spec *spec, struct buf *file)
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
    if (spec->short_factor != 0)
        builder_tensor(&builder, "rope_factors_short.weight", 0, pairs, spec->short_factor, NULL);
    if (spec->far_factor != 0)
        builder_tensor(&builder, "rope_factors_long.weight", 0, pairs, spec->far_factor, NULL);
    for (maker.layer = 0; maker.layer < layers_of(spec); maker.layer++) {
        put_attention(&maker, traits);
        put_ffn(&maker, traits);
    }
    builder_finish(&builder, file);
    size_t directory = 24 + builder.pairs.len;
    builder_deinit(&builder);
    return directory;
}

static struct td_model *make(const struct spec *spec, enum td_cpu cpu, struct td_error *err)
{
    struct buf file;
    struct td_model_options options = {.cpu = cpu};
    build(spec, &file);
    *err = (struct td_error){0};
    struct td_model *model = tiny_open(&file, &options, err);
    buf_deinit(&file);
    return model;
}

static struct td_model *make_good(const struct spec *spec)
{
    struct td_error err;
    struct td_model *model = make(spec, TD_CPU_AUTO, &err);
    if (model == NULL)
        fprintf(stderr, "%s: %s\n", spec->architecture, err.message);
    return model;
}

static void fill_ids(int32_t *ids)
{
    struct rng rng;
    rng_init(&rng, 5);
    for (int i = 0; i < IDS; i++)
        ids[i] = (int32_t)rng_below(&rng, TINY_VOCAB);
}

/* All rows, `cut` tokens a call. context 0: the default. */
static void run(const struct td_model *model, const int32_t *ids, uint32_t context,
                uint32_t threads, size_t cut, float *rows)
{
    struct td_session *session = NULL;
    struct td_error err = {0};
    struct td_session_options options = {
        .thread_count = threads, .context_tokens = context, .kv_type = TD_KV_F32};
    REQUIRE(td_session_new(model, &options, &session, &err) == TD_OK);
    for (size_t at = 0; at < IDS; at += cut) {
        size_t count = IDS - at < cut ? IDS - at : cut;
        CHECK(td_session_forward(session, ids + at, count, rows + at * TINY_VOCAB, count, &err) ==
              TD_OK);
    }
    td_session_free(session);
}

static void run_model(const struct spec *spec, const int32_t *ids, uint32_t context, float *rows)
{
    struct td_model *model = make_good(spec);
    REQUIRE(model != NULL);
    run(model, ids, context, 1, IDS, rows);
    td_model_close(model);
}

static double largest_difference(const float *a, const float *b, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++) { /* fmax() here makes gcc 12 for aarch64 fail at -O3 */
        double difference = fabs((double)a[i] - (double)b[i]);
        if (!(difference <= largest))
            largest = difference;
    }
    return largest;
}

static float one[IDS * TINY_VOCAB], other[IDS * TINY_VOCAB];
static int32_t ids[IDS];

static void test_every_architecture_gives_the_same_numbers_however_it_is_cut(void)
{
    static const size_t cuts[] = {1, 7, 33, 64};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (const struct variant *v = NULL; (v = variant_next(v, names[n])) != NULL;) {
            struct td_error err;
            struct td_model *model = make(&(struct spec){.architecture = names[n]}, v->cpu, &err);
            REQUIRE(model != NULL);
            run(model, ids, 0, 1, IDS, one);
            for (size_t i = 0; i < IDS * TINY_VOCAB; i++)
                CHECK(isfinite(one[i]));
            for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
                run(model, ids, 0, i % 2 ? 2 : 1, cuts[i], other);
                CHECK(memcmp(one, other, sizeof one) == 0);
            }
            td_model_close(model);
        }
}

static void test_every_listed_architecture_is_in_the_table(void)
{
    char list[512] = "", whole[600];
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        CHECK(architecture_find(str_from(names[n])) != NULL);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n ? ", " : "", names[n]);
    }
    snprintf(whole, sizeof whole, "%s, bert, nomic-bert", list); /* see test_embedding.c */
    CHECK(strcmp(whole, architecture_list()) == 0);
    CHECK(architecture_find(STR("bert")) && architecture_find(STR("nomic-bert")));
}

/* The first token reaches a query through at most LAYERS windows of WINDOW - 1 steps back each. */
static void test_a_window_hides_what_is_older(void)
{
    enum { REACH = LAYERS * (WINDOW - 1) };
    int32_t changed[IDS];
    memcpy(changed, ids, sizeof changed);
    changed[0] ^= 1;
    struct spec local = {.architecture = "gemma3", .pattern_count = LAYERS, .all_local = true};
    struct spec mixed = {.architecture = "gemma3", .pattern_count = LAYERS};
    size_t after = (size_t)(REACH + 1) * TINY_VOCAB, rest = sizeof one - after * sizeof *one;
    run_model(&local, ids, 0, one);
    run_model(&local, changed, 0, other);
    CHECK(memcmp(one + after, other + after, rest) == 0);
    CHECK(memcmp(one + (size_t)REACH * TINY_VOCAB, other + (size_t)REACH * TINY_VOCAB,
                 TINY_VOCAB * sizeof *one) != 0);
    run_model(&mixed, ids, 0, one);
    run_model(&mixed, changed, 0, other);
    CHECK(memcmp(one + after, other + after, TINY_VOCAB * sizeof *one) != 0);
}

static void test_logits_stay_within_the_cap(void)
{
    run_model(&(struct spec){.architecture = "gemma2"}, ids, 0, one);
    for (size_t i = 0; i < IDS * TINY_VOCAB; i++)
        CHECK(fabsf(one[i]) <= 5.0f);
}

static void test_fused_matrices_are_their_parts_in_order(void)
{
    run_model(&(struct spec){.architecture = "phi3"}, ids, 0, one);
    run_model(&(struct spec){.architecture = "phi3", .split = true}, ids, 0, other);
    CHECK(memcmp(one, other, sizeof one) == 0);
}

/* The weights of the chosen experts add up to one. */
static void test_equal_experts_are_one_dense_block(void)
{
    run_model(&(struct spec){.architecture = "qwen3moe", .same_experts = true}, ids, 0, one);
    run_model(&(struct spec){.architecture = "qwen3"}, ids, 0, other);
    CHECK(largest_difference(one, other, IDS * TINY_VOCAB) < 1e-3);
    run_model(&(struct spec){.architecture = "qwen3moe"}, ids, 0, other);
    CHECK(largest_difference(one, other, IDS * TINY_VOCAB) > 0.1);
}

static void test_the_session_s_context_chooses_the_rope_factors(void)
{
    struct spec spec = {.architecture = "phi3",
                        .text = "rope.scaling.type",
                        .short_factor = 1.0f,
                        .far_factor = 3.0f};
    struct spec far = spec, plain = {.architecture = "phi3"};
    far.short_factor = 3.0f;
    run_model(&spec, ids, ORIGINAL_CONTEXT, one);
    run_model(&plain, ids, ORIGINAL_CONTEXT, other);
    CHECK(memcmp(one, other, sizeof one) == 0);
    run_model(&spec, ids, ORIGINAL_CONTEXT + 1, one);
    CHECK(memcmp(one, other, sizeof one) != 0);
    run_model(&far, ids, ORIGINAL_CONTEXT, other);
    CHECK(memcmp(one, other, sizeof one) == 0);
}

/* Without positions, the first layer sees the tokens before a token as a set. */
static void test_rope_is_switched_off_by_its_key(void)
{
    struct spec on = {.architecture = "granite", .layers = 1}, off = on;
    int32_t turned[IDS];
    const float *a = one + (IDS - 1) * TINY_VOCAB, *b = other + (IDS - 1) * TINY_VOCAB;
    off.rope_off = true;
    for (int i = 0; i < IDS; i++)
        turned[i] = i < IDS - 1 ? ids[IDS - 2 - i] : ids[i];
    run_model(&off, ids, 0, one);
    run_model(&off, turned, 0, other);
    CHECK(largest_difference(a, b, TINY_VOCAB) < 1e-3);
    run_model(&on, ids, 0, one);
    run_model(&on, turned, 0, other);
    CHECK(largest_difference(a, b, TINY_VOCAB) > 0.01);
}

/* The 27B of both families have other query scales than the smaller models. Only the number of
 * layers tells them apart. */
static void test_query_scale_follows_the_layer_count_of_the_largest_gemma(void)
{
    static const struct {
        const char *architecture;
        uint32_t layers;
        double divided;
    } cases[] = {{"gemma2", 46, TINY_WIDE / TINY_HEADS},
                 {"gemma3", 62, TINY_WIDE / TINY_HEADS},
                 {"gemma3", 46, 32},
                 {"qwen3", 46, 32}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct spec spec = {
            .architecture = cases[i].architecture, .layers = cases[i].layers, .head_size = 32};
        struct td_model *model = make_good(&spec);
        REQUIRE(model != NULL);
        CHECK(fabs((double)model->attention_scale * sqrt(cases[i].divided) - 1) < 1e-6);
        td_model_close(model);
    }
}

static void expect_refused(struct spec spec, enum td_status status, const char *word)
{
    struct td_error err;
    struct td_model *model = make(&spec, TD_CPU_AUTO, &err);
    if (model != NULL || strstr(err.message, word) == NULL)
        fprintf(stderr, "no '%s' in: %s\n", word, err.message);
    CHECK(model == NULL && err.status == status && strstr(err.message, word) != NULL);
    td_model_close(model);
}

static void test_wrong_experts_are_refused(void)
{
    struct spec spec = {.architecture = "qwen3moe", .number = "expert_used_count"};
    spec.value = EXPERTS + 1;
    expect_refused(spec, TD_CORRUPT, "expert_used_count: 5 is not in [1, 4]");
    spec.value = 0;
    expect_refused(spec, TD_CORRUPT, "expert_used_count: 0");
    spec = (struct spec){.architecture = "qwen3moe", .number = "expert_count"};
    spec.value = UINT32_MAX;
    expect_refused(spec, TD_CORRUPT, "expert_count: 4294967295");
    spec.value = EXPERTS + 1; /* more than the tensors have */
    expect_refused(spec, TD_CORRUPT, "ffn_gate_inp.weight' is [64, 4, 1, 1], expected [64, 5, 1]");
    spec = (struct spec){.architecture = "qwen3moe", .drop = "blk.0.ffn_gate_inp.weight"};
    expect_refused(spec, TD_CORRUPT, "'blk.0.ffn_gate_inp.weight' is missing");
    spec = (struct spec){.architecture = "qwen3moe", .number = "expert_feed_forward_length"};
    spec.value = TINY_FFN / 2;
    expect_refused(spec, TD_CORRUPT, "ffn_gate_exps.weight' is [64, 96, 4, 1]");
    spec = (struct spec){.architecture = "qwen3moe", .drop = "expert_used_count"};
    expect_refused(spec, TD_CORRUPT, "expert_used_count: missing");
}

static void test_wrong_windows_caps_and_scales_are_refused(void)
{
    expect_refused((struct spec){.architecture = "gemma3", .pattern_count = LAYERS + 1}, TD_CORRUPT,
                   "sliding_window_pattern");
    expect_refused((struct spec){.architecture = "gemma3",
                                 .number = "attention.sliding_window",
                                 .value = UINT32_MAX},
                   TD_CORRUPT, "sliding_window");
    expect_refused((struct spec){.architecture = "gemma3",
                                 .number = "attention.sliding_window_pattern",
                                 .value = 0},
                   TD_CORRUPT, "sliding_window_pattern");
    expect_refused(
        (struct spec){.architecture = "gemma2", .real = "attn_logit_softcapping", .real_value = -1},
        TD_CORRUPT, "attn_logit_softcapping");
    expect_refused((struct spec){.architecture = "granite", .drop = "logit_scale"}, TD_CORRUPT,
                   "logit_scale: missing");
    expect_refused(
        (struct spec){.architecture = "granite", .real = "residual_scale", .real_value = -2},
        TD_CORRUPT, "residual_scale");
    expect_refused(
        (struct spec){.architecture = "granite", .number = "rope.scaling.finetuned", .value = 1},
        TD_CORRUPT, "rope.scaling.finetuned");
    expect_refused((struct spec){.architecture = "llama",
                                 .real = "rope.scaling.yarn_beta_fast",
                                 .real_value = 0.5f},
                   TD_CORRUPT, "not above yarn_beta_slow 1");
    expect_refused((struct spec){.architecture = "gemma2", .drop = "blk.1.post_ffw_norm.weight"},
                   TD_CORRUPT, "'blk.1.post_ffw_norm.weight' is missing");
}

static void test_wrong_rope_factors_and_fused_rows_are_refused(void)
{
    expect_refused((struct spec){.architecture = "phi3", .far_factor = 1}, TD_CORRUPT,
                   "longrope needs");
    expect_refused((struct spec){.architecture = "phi3", .text = "rope.scaling.type"}, TD_CORRUPT,
                   "longrope needs");
    expect_refused(
        (struct spec){.architecture = "phi3", .short_factor = 1, .far_factor = (float)NAN},
        TD_CORRUPT, "rope_factors_long.weight[0] is nan");
    expect_refused(
        (struct spec){.architecture = "phi3", .number = "feed_forward_length", .value = 97},
        TD_CORRUPT, "expected");
    expect_refused((struct spec){.architecture = "phi3",
                                 .number = "attention.head_count_kv",
                                 .value = TINY_HEADS},
                   TD_CORRUPT, "attn_qkv.weight' is [64, 128, 1, 1], expected [64, 192, 1]");
    expect_refused((struct spec){.architecture = "llama", .more_rows = 1}, TD_CORRUPT, "ffn_down");
}

/* One bit of the keys or of the directory is wrong: the file is refused, or it runs. */
static void test_damaged_files_are_refused_or_run(void)
{
    enum { DAMAGES = 100, KEYS_BYTES = 700 };
    struct rng rng;
    size_t refused = 0, ran = 0;
    rng_init(&rng, 11);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        struct spec spec = {.architecture = names[n], .pattern_count = n % 2 ? LAYERS : 0};
        struct buf file;
        size_t directory = build(&spec, &file);
        for (int i = 0; i < DAMAGES; i++) {
            char *at = file.data + (i % 2 ? directory : 24) + rng_below(&rng, KEYS_BYTES);
            char before = *at;
            *at = (char)(*at ^ 1 << rng_below(&rng, 8));
            struct td_error err = {0};
            struct td_session *session = NULL;
            struct td_model *model = tiny_open(&file, NULL, &err);
            struct td_session_options options = {.thread_count = 1, .context_tokens = 64};
            refused += model == NULL;
            if (model && td_session_new(model, &options, &session, &err) == TD_OK &&
                td_model_get_info(model)->vocab_count == TINY_VOCAB)
                ran += td_session_forward(session, ids, 40, one, 40, &err) == TD_OK;
            td_session_free(session);
            td_model_close(model);
            *at = before;
        }
        buf_deinit(&file);
    }
    printf("  %zu damaged files refused, %zu ran\n", refused, ran);
    CHECK(refused > 100 && ran > 20);
}

int main(void)
{
    fill_ids(ids);
    RUN(test_every_architecture_gives_the_same_numbers_however_it_is_cut);
    RUN(test_every_listed_architecture_is_in_the_table);
    RUN(test_a_window_hides_what_is_older);
    RUN(test_logits_stay_within_the_cap);
    RUN(test_fused_matrices_are_their_parts_in_order);
    RUN(test_equal_experts_are_one_dense_block);
    RUN(test_the_session_s_context_chooses_the_rope_factors);
    RUN(test_rope_is_switched_off_by_its_key);
    RUN(test_query_scale_follows_the_layer_count_of_the_largest_gemma);
    RUN(test_wrong_experts_are_refused);
    RUN(test_wrong_windows_caps_and_scales_are_refused);
    RUN(test_wrong_rope_factors_and_fused_rows_are_refused);
    RUN(test_damaged_files_are_refused_or_run);
    return test_finish();
}

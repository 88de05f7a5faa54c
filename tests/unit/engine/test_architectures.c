/* Models of every architecture, made anew: the same numbers however a sequence is cut, what
 * windows, experts, fused matrices and rope factors mean, and refusal of files that contradict
 * themselves. That the numbers are right is for test_golden_logits.c. */
#include "engine/model/architecture.h"
#include "engine/session/session.h"

#include "architecture_model.h"
#include "variants.h"

#include <math.h>

enum { IDS = 90 };

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
    for (size_t n = 0; n < ARCHITECTURES; n++)
        for (const struct variant *v = NULL;
             (v = variant_next(v, architecture_names[n])) != NULL;) {
            struct td_error err;
            struct spec spec = usual_spec(architecture_names[n]);
            struct td_model *model = make(&spec, v->cpu, &err);
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

/* Powers of two: the products are the same to the bit. */
static void test_a_scale_beside_a_matrix_multiplies_what_it_gives(void)
{
    for (size_t n = 0; n < ARCHITECTURES; n++) {
        struct spec spec = usual_spec(architecture_names[n]);
        spec.own_output = true;
        run_model(&spec, ids, 0, one);
        spec.shrink = 0.25f;
        run_model(&spec, ids, 0, other);
        CHECK(memcmp(one, other, sizeof one) == 0);
    }
}

static void test_every_listed_architecture_is_in_the_table(void)
{
    char list[512] = "", whole[600], all[600];
    for (size_t n = 0; n < ARCHITECTURES; n++) {
        CHECK(architecture_find(str_from(architecture_names[n])) != NULL);
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", n ? ", " : "",
                 architecture_names[n]);
    }
    snprintf(whole, sizeof whole, "%s, bert, nomic-bert", list); /* see test_embedding.c */
    architecture_list(all, sizeof all);
    CHECK(strcmp(whole, all) == 0);
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
    struct spec mixed = usual_spec("lfm2moe");
    mixed.number = "leading_dense_block_count";
    mixed.value = LAYERS + 1;
    expect_refused(mixed, TD_CORRUPT, "leading_dense_block_count: not a number of layers");
    mixed.value = 2; /* one more than has dense tensors */
    expect_refused(mixed, TD_CORRUPT, "'blk.1.ffn_gate.weight' is missing");
    mixed.number = "expert_gating_func";
    mixed.value = 1;
    expect_refused(mixed, TD_UNSUPPORTED, "expert_gating_func 1");
    mixed = usual_spec("lfm2moe");
    mixed.drop = "feed_forward_length";
    expect_refused(mixed, TD_CORRUPT, "feed_forward_length: missing");
    mixed.drop = "blk.1.exp_probs_b.bias";
    expect_refused(mixed, TD_CORRUPT, "'blk.1.exp_probs_b.bias' is missing");
}

static void test_wrong_scales_are_refused(void)
{
    struct spec spec = {.architecture = "llama", .own_output = true, .shrink = 1e-45f};
    expect_refused(spec, TD_CORRUPT, "is not of finite F32 numbers"); /* 1 / it is none */
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

static void test_an_array_of_equal_sizes_is_the_number(void)
{
    static const int32_t heads[] = {4, 4, 4, 4}, kv[] = {2, 2, 2, 2}, ffn[] = {96, 96, 96, 96};
    run_model(&(struct spec){.architecture = "llama"}, ids, 0, one);
    run_model(&(struct spec){.architecture = "llama", .heads = heads, .kv_heads = kv, .ffn = ffn},
              ids, 0, other);
    CHECK(memcmp(one, other, sizeof one) == 0);
}

static void test_wrong_sizes_of_layers_are_refused(void)
{
    static const int32_t good[] = {2, 2, 2, 2, 2}, gap[] = {2, 0, 2, 2}, none[] = {0, 0, 0, 0},
                         odd[] = {4, 3, 4, 4}, less[] = {4, 4, -1, 4}, many[] = {4, 4, 4, 1025};
    struct spec llama = {.architecture = "llama", .kv_heads = good}, spec = llama;
    spec.each_count = LAYERS + 1;
    expect_refused(spec, TD_CORRUPT, "attention.head_count_kv: not a number or one 32-bit integer");
    spec = llama;
    spec.each_type = GGUF_F32;
    expect_refused(spec, TD_CORRUPT, "attention.head_count_kv: not a number or one 32-bit integer");
    llama.kv_heads = gap;
    expect_refused(llama, TD_UNSUPPORTED, "layer 1 has 4 heads and 0 key-value heads");
    llama.kv_heads = less;
    expect_refused(llama, TD_CORRUPT, "attention.head_count_kv[2]: 4294967295 is not in [0, 1024]");
    llama.kv_heads = many;
    expect_refused(llama, TD_CORRUPT, "attention.head_count_kv[3]: 1025 is not in [0, 1024]");
    llama.kv_heads = none;
    expect_refused(llama, TD_CORRUPT, "attention.head_count_kv: 0 in every layer");
    llama.kv_heads = good;
    llama.heads = odd;
    expect_refused(llama, TD_CORRUPT, "3 heads cannot share 2 key-value heads");
    llama.heads = NULL;
    llama.ffn = gap;
    expect_refused(llama, TD_UNSUPPORTED, "layer 1 has no feed-forward block");
    expect_refused((struct spec){.architecture = "qwen3moe", .ffn = good}, TD_UNSUPPORTED,
                   "feed_forward_length of each layer, with experts");
    expect_refused((struct spec){.architecture = "deci", .heads = gap, .kv_heads = none},
                   TD_CORRUPT, "0 in every layer");
    static const int32_t first[] = {2, 0, 0, 0}, second[] = {0, 2, 0, 0};
    expect_refused((struct spec){.architecture = "deci", .heads = first, .kv_heads = second},
                   TD_UNSUPPORTED, "no layer has attention");
}

static void test_wrong_short_convolutions_are_refused(void)
{
    struct spec lfm2 = usual_spec("lfm2"), spec = lfm2;
    spec.drop = "shortconv.l_cache";
    expect_refused(spec, TD_CORRUPT, "shortconv.l_cache: missing");
    spec = lfm2;
    spec.number = "shortconv.l_cache";
    expect_refused(spec, TD_CORRUPT, "shortconv.l_cache: 0 is not in [1, 16]");
    spec.value = 4;
    expect_refused(spec, TD_CORRUPT,
                   "shortconv.conv.weight' is [3, 64, 1, 1], expected [4, 64, 1]");
    spec = lfm2;
    spec.drop = "blk.2.shortconv.in_proj.weight";
    expect_refused(spec, TD_CORRUPT, "'blk.2.shortconv.in_proj.weight' is missing");
    expect_refused((struct spec){.architecture = "stablelm", .drop = "blk.1.ffn_norm.bias"},
                   TD_CORRUPT, "'blk.1.ffn_norm.bias' is missing");
}

static void test_wrong_mamba_layers_are_refused(void)
{
    static const char *const keys[] = {"ssm.conv_kernel", "ssm.state_size", "ssm.inner_size",
                                       "ssm.time_step_rank", "ssm.group_count"};
    static const char *const tensors[] = {
        "blk.0.ssm_in.weight",   "blk.0.ssm_out.weight", "blk.0.ssm_conv1d.weight",
        "blk.0.ssm_conv1d.bias", "blk.0.ssm_dt.bias",    "blk.0.ssm_a",
        "blk.0.ssm_d",           "blk.0.ssm_norm.weight"};
    struct spec usual = usual_spec("granitehybrid"), spec;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        spec = usual;
        spec.drop = keys[i];
        expect_refused(spec, TD_CORRUPT, keys[i]);
        spec = usual;
        spec.number = keys[i];
        expect_refused(spec, TD_CORRUPT, "0 is not in [1, ");
        spec.value = UINT32_MAX;
        expect_refused(spec, TD_CORRUPT, "4294967295 is not in [1, ");
        spec.value = 2 * 3 * 5 * 7;
        expect_refused(spec, TD_CORRUPT, "");
    }
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        spec = usual;
        spec.drop = tensors[i];
        expect_refused(spec, TD_CORRUPT, tensors[i]);
    }
    spec = usual;
    spec.number = "ssm.group_count";
    spec.value = 3;
    expect_refused(spec, TD_CORRUPT, "4 heads of Mamba-2 cannot be in 3 groups");
    spec.value = 4;
    expect_refused(spec, TD_CORRUPT, "ssm_in.weight' is [64, 172, 1, 1], expected [64, 252, 1]");
    spec = usual;
    spec.growing = true;
    expect_refused(spec, TD_CORRUPT, "blk.0.ssm_a[0] is 0.1, above 0");
    static const int32_t none[] = {0, 0, 0, 0}, both[] = {0, 1, 2, 0};
    spec = usual_spec("nemotron_h");
    spec.kv_heads = both;
    expect_refused(spec, TD_CORRUPT, "layer 1 has attention and a feed-forward block");
    spec = usual;
    spec.kv_heads = none;
    expect_refused(spec, TD_CORRUPT, "attention.head_count_kv: 0 in every layer");
}

static void test_wrong_gemma_4_layers_are_refused(void)
{
    struct spec usual = usual_spec("gemma4"), spec = usual;
    spec.number = "attention.shared_kv_layers";
    spec.value = LAYERS;
    expect_refused(spec, TD_CORRUPT, "attention.shared_kv_layers: 4 is not in [1, 3]");
    spec.value = LAYERS - 1; /* the first one without a window is among them */
    expect_refused(spec, TD_CORRUPT, "layer 1 has no keys of its own, and no layer before it");
    spec.value = 0;
    expect_refused(spec, TD_CORRUPT, "'blk.2.attn_k.weight' is missing");
    spec.number = "attention.key_length_swa";
    spec.value = TINY_WIDE;
    expect_refused(spec, TD_CORRUPT, "attention.key_length_swa: 64 is not in [1, 32]");
    spec.value = 8;
    expect_refused(spec, TD_UNSUPPORTED, "heads with a window of 8 for keys and 16 for values");
    spec.number = "rope.dimension_count_swa";
    spec.value = 7;
    expect_refused(spec, TD_CORRUPT, "rope.dimension_count_swa 7 is odd");
    spec.number = "embedding_length_per_layer_input";
    spec.value = LAYER_INPUT + 1;
    expect_refused(spec, TD_CORRUPT, "'per_layer_token_embd.weight' is [48, 320, 1, 1]");
    spec.value = UINT32_MAX;
    expect_refused(spec, TD_CORRUPT, "per_layer_input: 4294967295 is not in [1, 128]");
    spec.number = "expert_count"; /* of the 26B */
    spec.value = 8;
    expect_refused(spec, TD_UNSUPPORTED, "no experts in this architecture");
    static const char *const tensors[] = {"per_layer_token_embd.weight", "blk.0.inp_gate.weight",
                                          "blk.0.proj.weight", "blk.0.post_norm.weight",
                                          "blk.0.attn_k_norm.weight"};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++) {
        spec = usual;
        spec.drop = tensors[i];
        expect_refused(spec, TD_CORRUPT, tensors[i]);
    }
}

static void test_a_saved_session_keeps_heads_of_two_sizes(void)
{
    enum { BEFORE = 70 };
    struct spec spec = usual_spec("gemma4");
    struct td_model *model = make_good(&spec);
    struct td_session *session = NULL, *again = NULL;
    struct td_session_options options = {.thread_count = 1, .kv_type = TD_KV_Q8_0};
    size_t bytes = 0, row = TINY_VOCAB * sizeof *one;
    REQUIRE(model != NULL && td_session_new(model, &options, &session, NULL) == TD_OK);
    REQUIRE(td_session_new(model, &options, &again, NULL) == TD_OK);
    CHECK(td_session_forward(session, ids, BEFORE, NULL, 0, NULL) == TD_OK);
    CHECK(td_session_export(session, 0, BEFORE, NULL, 0, &bytes, NULL) == TD_LIMIT);
    uint8_t *data = malloc(bytes);
    REQUIRE(data != NULL);
    CHECK(td_session_export(session, 0, BEFORE, data, bytes, &bytes, NULL) == TD_OK);
    CHECK(td_session_import(again, data, bytes, NULL) == TD_OK);
    CHECK(td_session_forward(session, ids + BEFORE, IDS - BEFORE, one, 1, NULL) == TD_OK);
    CHECK(td_session_forward(again, ids + BEFORE, IDS - BEFORE, other, 1, NULL) == TD_OK);
    CHECK(memcmp(one, other, row) == 0);
    free(data);
    td_session_free(session);
    td_session_free(again);
    td_model_close(model);
}

/* One bit of the keys or of the directory is wrong: the file is refused, or it runs. */
static void test_damaged_files_are_refused_or_run(void)
{
    enum { DAMAGES = 100, KEYS_BYTES = 700 };
    struct rng rng;
    size_t refused = 0, ran = 0;
    rng_init(&rng, 11);
    for (size_t n = 0; n < ARCHITECTURES; n++) {
        struct spec spec = usual_spec(architecture_names[n]);
        struct buf file;
        spec.pattern_count = n % 2 ? LAYERS : 0;
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
    RUN(test_a_scale_beside_a_matrix_multiplies_what_it_gives);
    RUN(test_every_listed_architecture_is_in_the_table);
    RUN(test_a_window_hides_what_is_older);
    RUN(test_logits_stay_within_the_cap);
    RUN(test_fused_matrices_are_their_parts_in_order);
    RUN(test_equal_experts_are_one_dense_block);
    RUN(test_the_session_s_context_chooses_the_rope_factors);
    RUN(test_rope_is_switched_off_by_its_key);
    RUN(test_query_scale_follows_the_layer_count_of_the_largest_gemma);
    RUN(test_wrong_experts_are_refused);
    RUN(test_wrong_scales_are_refused);
    RUN(test_wrong_windows_caps_and_scales_are_refused);
    RUN(test_wrong_rope_factors_and_fused_rows_are_refused);
    RUN(test_an_array_of_equal_sizes_is_the_number);
    RUN(test_wrong_sizes_of_layers_are_refused);
    RUN(test_wrong_short_convolutions_are_refused);
    RUN(test_wrong_mamba_layers_are_refused);
    RUN(test_wrong_gemma_4_layers_are_refused);
    RUN(test_a_saved_session_keeps_heads_of_two_sizes);
    RUN(test_damaged_files_are_refused_or_run);
    return test_finish();
}

/* What td_model_open accepts: every wrong hyperparameter and tensor is refused by name. */
#include "engine/forward/kv_pool.h"
#include "engine/model/memory.h"
#include "engine/model/model.h"

#include "test.h"
#include "tiny_model.h"

/* Builds the tiny model with one change and opens it. */
struct change {
    const char *drop_key; /* left out of the hyperparameters */
    const char *add_key;  /* added as u32 */
    uint32_t add_value;
    const char *add_float_key;
    float add_float;
    const char *add_text_key, *add_text;
    const char *add_tensor;
    const char *architecture;
};

static void hyperparameters(struct gguf_builder *builder, const struct change *change)
{
    static const struct {
        const char *key;
        uint32_t value;
    } keys[] = {{"context_length", TINY_CONTEXT},     {"block_count", TINY_LAYERS},
                {"embedding_length", TINY_WIDE},      {"feed_forward_length", TINY_FFN},
                {"attention.head_count", TINY_HEADS}, {"attention.head_count_kv", TINY_KV_HEADS}};
    const char *architecture = change->architecture ? change->architecture : "llama";
    char key[96];
    builder_string(builder, "general.architecture", architecture);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        bool dropped = change->drop_key && strcmp(keys[i].key, change->drop_key) == 0;
        bool replaced = change->add_key && strcmp(keys[i].key, change->add_key) == 0;
        snprintf(key, sizeof key, "%s.%s", architecture, keys[i].key);
        if (!dropped && !replaced)
            builder_u32(builder, key, keys[i].value);
    }
    if (!change->drop_key || strcmp(change->drop_key, "attention.layer_norm_rms_epsilon") != 0)
        if (!change->add_float_key ||
            strcmp(change->add_float_key, "attention.layer_norm_rms_epsilon") != 0) {
            snprintf(key, sizeof key, "%s.attention.layer_norm_rms_epsilon", architecture);
            builder_f32(builder, key, 1e-5f);
        }
    snprintf(key, sizeof key, "%s.%s", architecture, change->add_key ? change->add_key : "");
    if (change->add_key)
        builder_u32(builder, key, change->add_value);
    snprintf(key, sizeof key, "%s.%s", architecture,
             change->add_float_key ? change->add_float_key : "");
    if (change->add_float_key)
        builder_f32(builder, key, change->add_float);
    snprintf(key, sizeof key, "%s.%s", architecture,
             change->add_text_key ? change->add_text_key : "");
    if (change->add_text_key)
        builder_string(builder, key, change->add_text);
}

static struct td_model *open_changed(const struct change *change,
                                     const struct td_model_options *options, struct td_error *err)
{
    struct gguf_builder builder;
    struct buf file;
    builder_init(&builder);
    hyperparameters(&builder, change);
    tiny_vocabulary(&builder);
    tiny_tensors(&builder, 1);
    if (change->add_tensor)
        builder_tensor(&builder, change->add_tensor, 0, TINY_WIDE, 1.0f, NULL);
    builder_finish(&builder, &file);
    *err = (struct td_error){0};
    struct td_model *model = tiny_open(&file, options, err);
    builder_deinit(&builder);
    buf_deinit(&file);
    return model;
}

static void expect_refused(struct change change, enum td_status status, const char *word)
{
    struct td_error err;
    struct td_model *model = open_changed(&change, NULL, &err);
    if (err.status != status || strstr(err.message, word) == NULL)
        fprintf(stderr, "no '%s' in: %s\n", word, err.message);
    CHECK(model == NULL && err.status == status && strstr(err.message, word) != NULL);
    td_model_close(model);
}

static void test_tiny_model_opens_and_describes_itself(void)
{
    struct td_error err;
    struct change none = {0};
    struct td_model *model = open_changed(&none, NULL, &err);
    if (model == NULL)
        fprintf(stderr, "%s\n", err.message);
    REQUIRE(model != NULL);
    const struct td_model_info *info = td_model_get_info(model);
    CHECK(strcmp(info->architecture, "llama") == 0 && strcmp(info->quantization, "F32") == 0);
    CHECK(info->layer_count == TINY_LAYERS && info->embedding_size == TINY_WIDE);
    CHECK(info->context_tokens == TINY_CONTEXT && info->vocab_count == TINY_VOCAB);
    CHECK(info->bos_id == 1 && info->eos_id == 2 && info->not_mine_id == TINY_NOT_MINE);
    CHECK(strlen(info->fingerprint) == 16 && info->parameter_count > 0);
    CHECK(strncmp(info->name, "tandem_test_", 12) == 0); /* no general.name: the file's */
    CHECK(td_token_piece(model, -1, true).len == 0 &&
          td_token_piece(model, TINY_VOCAB, true).len == 0);
    CHECK(td_token_piece(model, TINY_NOT_MINE, false).len == 0);
    td_model_close(model);
}

static void test_wrong_hyperparameters_are_refused_by_key(void)
{
    expect_refused((struct change){.drop_key = "block_count"}, TD_CORRUPT,
                   "llama.block_count: missing");
    expect_refused((struct change){.drop_key = "attention.layer_norm_rms_epsilon"}, TD_CORRUPT,
                   "missing");
    expect_refused((struct change){.add_key = "block_count", .add_value = 0}, TD_CORRUPT,
                   "block_count");
    expect_refused((struct change){.add_key = "block_count", .add_value = UINT32_MAX}, TD_CORRUPT,
                   "block_count");
    expect_refused((struct change){.add_key = "context_length", .add_value = 0}, TD_CORRUPT,
                   "context_length");
    expect_refused((struct change){.add_key = "embedding_length", .add_value = UINT32_MAX},
                   TD_CORRUPT, "embedding_length");
    expect_refused((struct change){.add_key = "attention.head_count", .add_value = 0}, TD_CORRUPT,
                   "head_count");
    expect_refused((struct change){.add_key = "attention.head_count_kv", .add_value = 3},
                   TD_CORRUPT, "cannot share");
    expect_refused((struct change){.add_key = "attention.head_count", .add_value = 6}, TD_CORRUPT,
                   "not a multiple");
    expect_refused((struct change){.add_key = "attention.key_length", .add_value = 15}, TD_CORRUPT,
                   "head size");
    expect_refused((struct change){.add_key = "attention.value_length", .add_value = 8},
                   TD_UNSUPPORTED, "value heads");
    expect_refused((struct change){.add_key = "rope.dimension_count", .add_value = 7}, TD_CORRUPT,
                   "odd");
    expect_refused((struct change){.add_key = "rope.dimension_count", .add_value = 64}, TD_CORRUPT,
                   "rope.dimension_count");
    expect_refused((struct change){.add_float_key = "rope.freq_base", .add_float = -1}, TD_CORRUPT,
                   "rope.freq_base");
    expect_refused(
        (struct change){.add_float_key = "attention.layer_norm_rms_epsilon", .add_float = 0},
        TD_CORRUPT, "epsilon");
    expect_refused((struct change){.add_text_key = "rope.scaling.type", .add_text = "longrope"},
                   TD_CORRUPT, "longrope needs rope_factors_short.weight");
    expect_refused((struct change){.add_text_key = "rope.scaling.type", .add_text = "dynamic"},
                   TD_UNSUPPORTED, "'dynamic'; supported: none, linear, yarn, longrope");
    expect_refused((struct change){.add_text_key = "rope.scaling.factor", .add_text = "2"},
                   TD_CORRUPT, "rope.scaling.factor");
    expect_refused((struct change){.add_key = "expert_count", .add_value = 8}, TD_CORRUPT,
                   "expert_used_count: missing");
}

static void test_unknown_architecture_names_the_known_ones(void)
{
    expect_refused(
        (struct change){.architecture = "mamba"}, TD_UNSUPPORTED,
        "'mamba'; supported: llama, qwen2, qwen3, qwen3moe, gemma, gemma2, gemma3, gemma4, phi3, "
        "smollm3, granite, granitemoe, granitehybrid, nemotron_h, olmo2, exaone4, hunyuan-dense, "
        "glm4, ernie4_5, seed_oss, gpt-oss, stablelm, lfm2, lfm2moe, openelm, deci, bert, "
        "nomic-bert");
}

static void test_wrong_tensors_are_refused_by_name(void)
{
    /* other sizes than the tensors have */
    expect_refused((struct change){.add_key = "feed_forward_length", .add_value = 128}, TD_CORRUPT,
                   "ffn_gate.weight' is [64, 96, 1, 1], expected [64, 128, 1]");
    expect_refused((struct change){.add_key = "attention.head_count_kv", .add_value = 4},
                   TD_CORRUPT, "attn_k.weight");
    expect_refused((struct change){.add_key = "block_count", .add_value = 3}, TD_CORRUPT,
                   "'blk.2.attn_norm.weight' is missing");
    /* tensors that the architecture does not use would silently change what the model computes */
    expect_refused((struct change){.add_key = "block_count", .add_value = 1}, TD_UNSUPPORTED,
                   "no use for");
    expect_refused((struct change){.add_tensor = "blk.0.attn_sinks.weight"}, TD_UNSUPPORTED,
                   "no use for");
    /* qwen2 has biases, qwen3 norms */
    expect_refused((struct change){.architecture = "qwen2"}, TD_CORRUPT, "attn_q.bias' is missing");
    expect_refused((struct change){.architecture = "qwen3"}, TD_CORRUPT,
                   "attn_q_norm.weight' is missing");
}

static void test_vocab_only_needs_no_tensors_and_cannot_run(void)
{
    struct gguf_builder builder;
    struct buf file;
    struct td_error err = {0};
    const struct td_model_options options = {.vocab_only = true};
    builder_init(&builder);
    builder_string(&builder, "general.architecture", "starcoder");
    tiny_vocabulary(&builder);
    builder_finish(&builder, &file);
    struct td_model *model = tiny_open(&file, &options, &err);
    REQUIRE(model != NULL);
    int32_t ids[16];
    size_t count = 0;
    CHECK(td_tokenize(model, STR("ab"), true, false, ids, 16, &count, &err) == TD_OK);
    CHECK(count >= 2 && ids[0] == 1);
    CHECK(td_tokenize(model, STR("ab"), true, false, NULL, 0, &count, &err) == TD_LIMIT &&
          count >= 2);
    struct td_session *session;
    err = (struct td_error){0};
    CHECK(td_session_new(model, NULL, &session, &err) == TD_INVALID && session == NULL);
    td_model_close(model);
    builder_deinit(&builder);
    buf_deinit(&file);
}

static void test_sessions_that_do_not_fit_are_refused_with_the_sum(void)
{
    struct td_model *model = tiny_model(1);
    struct td_error err = {0};
    struct td_session *session;
    struct td_session_options options = {0};
    REQUIRE(model != NULL);
    struct memory_need need = {512000, kv_pool_bytes(model, TD_KV_F16, 8000), 30 << 20};
    CHECK(memory_check(model, &need, 0, &err) == TD_OK);
    CHECK(memory_check(model, &need, 100 << 20, &err) == TD_NO_MEMORY);
    CHECK(strstr(err.message, "cache of 512000 tokens 125 MiB + working memory 30 MiB") &&
          strstr(err.message, "100 MiB"));
    err = (struct td_error){0};
    need.cache_bytes = UINT64_MAX;
    CHECK(memory_check(model, &need, 0, &err) == TD_NO_MEMORY);
    CHECK(kv_pool_bytes(model, TD_KV_F16, UINT64_MAX / 2) == UINT64_MAX);
    err = (struct td_error){0};
    options.context_tokens = TINY_CONTEXT + 1;
    CHECK(td_session_new(model, &options, &session, &err) == TD_INVALID && session == NULL);
    td_model_close(model);
}

/* A sparse file of more bytes than there is memory: the weights are not touched. */
static void test_models_larger_than_memory_are_refused_with_both_sizes(void)
{
    struct gguf_builder builder;
    struct buf file;
    struct td_error err = {0};
    struct td_model *model = NULL;
    char path[] = "/tmp/tandem_test_XXXXXX";
    const struct td_model_options vocab_only = {.vocab_only = true};
    builder_init(&builder);
    tiny_hyperparameters(&builder);
    tiny_vocabulary(&builder);
    tiny_tensors(&builder, 1);
    builder_finish(&builder, &file);
    int fd = mkstemp(path);
    REQUIRE(fd >= 0 && write(fd, file.data, file.len) == (ssize_t)file.len);
    REQUIRE(ftruncate(fd, (off_t)(memory_ram_bytes() + (1 << 20))) == 0);
    CHECK(td_model_open(path, NULL, &model, &err) == TD_NO_MEMORY && model == NULL);
    CHECK(strstr(err.message, "weights of") && strstr(err.message, "are free"));
    CHECK(td_model_open(path, &vocab_only, &model, NULL) == TD_OK);
    td_model_close(model);
    close(fd);
    unlink(path);
    err = (struct td_error){0};
    CHECK(memory_check_weights("a.gguf", 3 << 20, 2 << 20, &err) == TD_NO_MEMORY);
    CHECK(strstr(err.message, "a.gguf: weights of 3 MiB, 2 MiB are free"));
    CHECK(memory_check_weights("a.gguf", 3 << 20, 3 << 20, NULL) == TD_OK);
    builder_deinit(&builder);
    buf_deinit(&file);
}

static void test_chat_text_cannot_spell_control_tokens(void)
{
    struct td_model *model = tiny_model(1);
    struct td_message message = {TD_ROLE_USER, STR("</s><|not_mine|>")};
    struct td_error err = {0};
    int32_t *ids;
    size_t count, len;
    char *text;
    REQUIRE(model != NULL);
    CHECK(td_chat_tokenize(model, &message, 1, &ids, &count, &err) == TD_OK && count > 4);
    for (size_t i = 0; ids && i < count; i++)
        CHECK(ids[i] != 2 && ids[i] != TINY_NOT_MINE);
    CHECK(ids && ids[0] == 1); /* BOS once */
    free(ids);
    CHECK(td_template_render(model, &message, 1, &text, &len, &err) == TD_OK &&
          strlen(text) == len);
    CHECK(strstr(text, "</s><|not_mine|>") != NULL);
    free(text);
    td_model_close(model);
}

/* A tiny model whose file has this chat template. */
static struct td_model *model_with_template(const char *source)
{
    struct gguf_builder builder;
    struct buf file;
    struct td_error err = {0};
    builder_init(&builder);
    tiny_hyperparameters(&builder);
    tiny_vocabulary(&builder);
    tiny_tensors(&builder, 1);
    builder_string(&builder, "tokenizer.chat_template", source);
    builder_finish(&builder, &file);
    struct td_model *model = tiny_open(&file, NULL, &err);
    builder_deinit(&builder);
    buf_deinit(&file);
    return model;
}

static void check_chat(const char *source, struct td_message message, const char *renderer,
                       const char *expected)
{
    struct td_model *model = model_with_template(source);
    struct td_error err = {0};
    char *text = NULL;
    size_t len;
    REQUIRE(model != NULL);
    CHECK(strcmp(td_model_get_info(model)->chat_renderer, renderer) == 0);
    enum td_status status = td_template_render(model, &message, 1, &text, &len, &err);
    CHECK(expected ? status == TD_OK && strcmp(text, expected) == 0 : status == TD_INVALID);
    free(text);
    td_model_close(model);
}

static void test_chats_are_rendered_by_the_template_in_the_file(void)
{
    struct td_message user = {TD_ROLE_USER, STR("Hi")}, system = {TD_ROLE_SYSTEM, STR("Be brief")};
    check_chat("{{ bos_token }}Q: {{ messages[0].content }}{{ eos_token }}", user, "jinja",
               "Q: Hi</s>");
    /* The interpreter refuses it: the family that its text shows. */
    check_chat("{% include 'x' %}<start_of_turn>", user, "family",
               "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n");
    check_chat("{{ messages | nothing }}<start_of_turn>", user, "jinja",
               "<start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n");
    /* The template refuses the messages, and no family is known. */
    check_chat("{{ raise_exception('no') }}", user, "jinja", NULL);
    check_chat("{% if messages[0].role == 'system' %}{{ raise_exception('no') }}{% endif %}"
               "<|im_start|>",
               system, "jinja", "<|im_start|>system\nBe brief<|im_end|>\n<|im_start|>assistant\n");
}

static void test_marks_of_the_files_template_are_control_tokens_and_bos_is_there_once(void)
{
    struct td_model *model =
        model_with_template("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}");
    struct td_message message = {TD_ROLE_USER, STR("</s><s>")};
    struct td_error err = {0};
    int32_t *ids;
    size_t count, ends = 0;
    REQUIRE(model != NULL);
    CHECK(td_chat_tokenize(model, &message, 1, &ids, &count, &err) == TD_OK && count > 4);
    for (size_t i = 0; ids && i < count; i++) {
        CHECK((ids[i] == 1) == (i == 0));
        ends += ids[i] == 2;
    }
    CHECK(ends == 1 && ids && ids[count - 1] == 2);
    free(ids);
    td_model_close(model);
}

int main(void)
{
    RUN(test_chats_are_rendered_by_the_template_in_the_file);
    RUN(test_marks_of_the_files_template_are_control_tokens_and_bos_is_there_once);
    RUN(test_tiny_model_opens_and_describes_itself);
    RUN(test_wrong_hyperparameters_are_refused_by_key);
    RUN(test_unknown_architecture_names_the_known_ones);
    RUN(test_wrong_tensors_are_refused_by_name);
    RUN(test_vocab_only_needs_no_tensors_and_cannot_run);
    RUN(test_sessions_that_do_not_fit_are_refused_with_the_sum);
    RUN(test_models_larger_than_memory_are_refused_with_both_sizes);
    RUN(test_chat_text_cannot_spell_control_tokens);
    return test_finish();
}

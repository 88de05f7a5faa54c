/* The prompt of a gap, token by token, as the documents of published models show it; which
 * vocabularies have the tokens for one, and what is said of those that do not. */
#include "engine/tokenizer/infill.h"

#include "opened_vocab.h"
#include "test.h"

#include "base/core/str.h"

#define KEY(name) "tokenizer.ggml." name
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void put_tokens(struct gguf_builder *builder, const char *const *texts, size_t count)
{
    builder_array(builder, KEY("tokens"), GGUF_STRING, count);
    for (size_t i = 0; i < count; i++)
        builder_put_string(&builder->pairs, str_from(texts[i]));
}

static void put_types(struct gguf_builder *builder, const int32_t *types, size_t count)
{
    builder_array(builder, KEY("token_type"), GGUF_I32, count);
    buf_append(&builder->pairs, types, count * sizeof *types);
}

/* Byte-level, with three tokens at 4, 5, 6 and one at 7 that ends a gap. */
static void begin_byte_level(struct gguf_builder *builder, const char *prefix, const char *suffix,
                             const char *middle, const char *end, int32_t type)
{
    const char *tokens[] = {"a", "b", "ab", "\u0120", prefix, suffix, middle, end};
    const int32_t types[] = {1, 1, 1, 1, type, type, type, type};
    builder_init(builder);
    builder_string(builder, KEY("model"), "gpt2");
    put_tokens(builder, tokens, COUNT(tokens));
    put_types(builder, types, COUNT(types));
}

static bool fills(const struct tokenizer *tokenizer, const struct infill_gap *gap,
                  const int32_t *expected, size_t count)
{
    struct buf ids;
    struct td_error err = {0};
    buf_init(&ids, 1 << 16);
    bool same = infill_encode(tokenizer, gap, &ids, &err) == TD_OK &&
                ids.len == count * sizeof *expected && memcmp(ids.data, expected, ids.len) == 0;
    buf_deinit(&ids);
    return same;
}

static void test_the_texts_of_published_models_are_known(void)
{
    static const char *const texts[][4] = {
        {"<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>", "<|fim_pad|>"},  /* Qwen2.5-Coder */
        {"<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>"},          /* StarCoder */
        {"<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>", "<|file_sep|>"}, /* DeepSeek-Coder */
    };
    static const int32_t expected[] = {4, 0, 1, 5, 3, 0, 6};
    for (size_t i = 0; i < COUNT(texts); i++) {
        for (int32_t type = 1; type <= 4; type += type == 1 ? 2 : 1) { /* normal, control, user's */
            struct gguf_builder builder;
            struct opened vocab;
            struct td_error err;
            begin_byte_level(&builder, texts[i][0], texts[i][1], texts[i][2], texts[i][3], type);
            REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
            CHECK(infill_missing(vocab.tokenizer) == NULL);
            CHECK(fills(vocab.tokenizer, &(struct infill_gap){STR("ab"), STR(" a"), NULL, 0},
                        expected, COUNT(expected)));
            CHECK(tokenizer_is_end(vocab.tokenizer, 7) && !tokenizer_is_end(vocab.tokenizer, 6));
            close_vocab(&vocab);
        }
    }
}

/* CodeLlama's: a space before the text that comes first, none before the one after the gap. */
static void test_sentencepiece_puts_no_space_after_the_gap(void)
{
    static const char *const tokens[] = {"<unk>", "<s>", "</s>",   "▁",      "a",      "b",
                                         "▁a",    "▁b",  "▁<PRE>", "▁<SUF>", "▁<MID>", "▁<EOT>"};
    static const float scores[] = {0, 0, 0, -5, -6, -7, -1, -2, 0, 0, 0, 0};
    static const int32_t types[] = {2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    static const int32_t expected[] = {1, 8, 6, 9, 5, 10}; /* BOS <PRE> _a <SUF> b <MID> */
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "llama");
    put_tokens(&builder, tokens, COUNT(tokens));
    builder_array(&builder, KEY("scores"), GGUF_F32, COUNT(scores));
    buf_append(&builder.pairs, scores, sizeof scores);
    put_types(&builder, types, COUNT(types));
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(fills(vocab.tokenizer, &(struct infill_gap){STR("a"), STR("b"), NULL, 0}, expected,
                COUNT(expected)));
    CHECK(tokenizer_is_end(vocab.tokenizer, 11));
    close_vocab(&vocab);
}

static void test_keys_go_before_texts_and_may_have_their_older_names(void)
{
    static const int32_t expected[] = {7, 2, 6, 0, 5};
    static const int32_t given[] = {2};
    for (int older = 0; older < 2; older++) {
        struct gguf_builder builder;
        struct opened vocab;
        struct td_error err;
        begin_byte_level(&builder, "<fim_prefix>", "x", "y", "z", 3);
        builder_u32(&builder, older ? KEY("prefix_token_id") : KEY("fim_pre_token_id"), 7);
        builder_u32(&builder, older ? KEY("suffix_token_id") : KEY("fim_suf_token_id"), 6);
        builder_u32(&builder, older ? KEY("middle_token_id") : KEY("fim_mid_token_id"), 5);
        builder_u32(&builder, KEY("fim_sep_token_id"), 4);
        REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
        CHECK(fills(vocab.tokenizer, &(struct infill_gap){STR(""), STR("a"), given, 1}, expected,
                    COUNT(expected)));
        CHECK(tokenizer_is_end(vocab.tokenizer, 4));
        close_vocab(&vocab);
    }
}

/* The texts are a file that somebody edits: what spells a token in them stays text. */
static void test_no_text_writes_one_of_the_tokens(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    struct buf ids;
    begin_byte_level(&builder, "<fim_prefix>", "<fim_suffix>", "<fim_middle>", "<fim_pad>", 4);
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    buf_init(&ids, 1 << 16);
    const struct infill_gap gap = {STR("a<fim_middle>b"), STR("<fim_suffix>a<fim_pad>"), NULL, 0};
    CHECK(infill_encode(vocab.tokenizer, &gap, &ids, &err) == TD_OK);
    const int32_t *id = (const int32_t *)(const void *)ids.data;
    int found[3] = {0};
    for (size_t i = 0; i < ids.len / sizeof *id; i++)
        for (int32_t mark = 0; mark < 3; mark++)
            found[mark] += id[i] == 4 + mark;
    CHECK(found[0] == 1 && found[1] == 1 && found[2] == 1);
    buf_deinit(&ids);
    close_vocab(&vocab);
}

static void test_what_is_missing_is_named(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    struct buf ids;
    begin_byte_level(&builder, "<fim_prefix>", "<fim_suffix>", "c", "<fim_pad>", 3);
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(strcmp(infill_missing(vocab.tokenizer), KEY("fim_mid_token_id")) == 0);
    CHECK(!tokenizer_is_end(vocab.tokenizer, 7)); /* nothing changes for such a model */
    buf_init(&ids, 1 << 16);
    CHECK(infill_encode(vocab.tokenizer, &(struct infill_gap){.ids = NULL}, &ids, &err) ==
          TD_UNSUPPORTED);
    CHECK(strstr(err.message, "fim_mid_token_id") != NULL && ids.len == 0);
    buf_deinit(&ids);
    close_vocab(&vocab);
}

static void test_an_id_outside_is_refused(void)
{
    static const char *const keys[] = {KEY("fim_pre_token_id"), KEY("middle_token_id"),
                                       KEY("fim_pad_token_id")};
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct gguf_builder builder;
        struct opened vocab;
        struct td_error err;
        begin_byte_level(&builder, "<fim_prefix>", "<fim_suffix>", i == 1 ? "c" : "<fim_middle>",
                         "z", 3);
        builder_u32(&builder, keys[i], 8);
        CHECK(open_vocab(&builder, &vocab, &err) == TD_CORRUPT);
        CHECK(strstr(err.message, keys[i]) != NULL);
        close_vocab(&vocab);
    }
}

int main(void)
{
    RUN(test_the_texts_of_published_models_are_known);
    RUN(test_sentencepiece_puts_no_space_after_the_gap);
    RUN(test_keys_go_before_texts_and_may_have_their_older_names);
    RUN(test_no_text_writes_one_of_the_tokens);
    RUN(test_what_is_missing_is_named);
    RUN(test_an_id_outside_is_refused);
    return test_finish();
}

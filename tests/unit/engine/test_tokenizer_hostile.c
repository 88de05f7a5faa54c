/* Vocabularies that are wrong, odd or malicious, and rules that small vocabularies show best. */
#include "base/crypto/hash.h"
#include "opened_vocab.h"
#include "test.h"

#define KEY(name) "tokenizer.ggml." name
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void put_strings(struct gguf_builder *builder, const char *key, const char *const *texts,
                        size_t count)
{
    builder_array(builder, key, GGUF_STRING, count);
    for (size_t i = 0; i < count; i++)
        builder_put_string(&builder->pairs, str_from(texts[i]));
}

static void put_i32s(struct gguf_builder *builder, const char *key, const int32_t *values,
                     size_t count)
{
    builder_array(builder, key, GGUF_I32, count);
    buf_append(&builder->pairs, values, count * sizeof(*values));
}

static void put_f32s(struct gguf_builder *builder, const char *key, const float *values,
                     size_t count)
{
    builder_array(builder, key, GGUF_F32, count);
    buf_append(&builder->pairs, values, count * sizeof(*values));
}

/* The status of opening; nothing is kept. */
static enum td_status status_of(struct gguf_builder *builder, struct td_error *err)
{
    struct opened opened;
    enum td_status status = open_vocab(builder, &opened, err);
    CHECK((status == TD_OK) == (opened.tokenizer != NULL));
    close_vocab(&opened);
    return status;
}

static bool encodes_as(const struct tokenizer *tokenizer, struct td_str text, bool parse_special,
                       const int32_t *expected, size_t count)
{
    struct tokenizer_options options = {.parse_special = parse_special};
    struct buf ids;
    buf_init(&ids, 1 << 16);
    bool same = tokenizer_encode(tokenizer, text, &options, &ids, NULL) == TD_OK &&
                ids.len == count * sizeof(int32_t) &&
                (count == 0 || memcmp(ids.data, expected, ids.len) == 0);
    buf_deinit(&ids);
    return same;
}

static const char *const sp_tokens[] = {"<unk>",  "<s>", "</s>", "\xE2\x96\x81", "a", "b", "ab",
                                        "<0x41>", "s",   "<s"};
static const float sp_scores[] = {0, 0, 0, -5, -6, -7, -1, 0, -3, -2};
static const int32_t sp_types[] = {2, 3, 3, 1, 1, 1, 1, 6, 1, 1};

static void put_sentencepiece(struct gguf_builder *builder)
{
    builder_init(builder);
    builder_string(builder, KEY("model"), "llama");
    put_strings(builder, KEY("tokens"), sp_tokens, COUNT(sp_tokens));
}

static void put_byte_level(struct gguf_builder *builder, const char *pre)
{
    static const char *const tokens[] = {"a", "b", "\u0120", "ab", "\u0120ab", "", "<end>", "c"};
    static const int32_t types[] = {1, 1, 1, 1, 1, 1, 3, 4};
    builder_init(builder);
    builder_string(builder, KEY("model"), "gpt2");
    if (pre)
        builder_string(builder, KEY("pre"), pre);
    put_strings(builder, KEY("tokens"), tokens, COUNT(tokens));
    put_i32s(builder, KEY("token_type"), types, COUNT(types));
}

static void test_unknown_models_are_unsupported(void)
{
    struct gguf_builder builder;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "t5");
    CHECK(status_of(&builder, &err) == TD_UNSUPPORTED);
    CHECK(strstr(err.message, "t5") && strstr(err.message, "gpt2"));
    builder_init(&builder);
    builder_u32(&builder, "general.file_type", 1);
    CHECK(status_of(&builder, &err) == TD_UNSUPPORTED);
}

static void test_unknown_pretokenizers_are_unsupported_and_the_known_ones_listed(void)
{
    struct gguf_builder builder;
    struct td_error err;
    put_byte_level(&builder, "gpt-9");
    CHECK(status_of(&builder, &err) == TD_UNSUPPORTED);
    CHECK(strstr(err.message, "gpt-9") && strstr(err.message, "llama-bpe") &&
          strstr(err.message, "qwen2") && strstr(err.message, "deepseek-llm"));
}

static void test_missing_vocabulary_is_corrupt(void)
{
    struct gguf_builder builder;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "gpt2");
    CHECK(status_of(&builder, &err) == TD_CORRUPT);
}

static void test_arrays_of_other_lengths_are_corrupt(void)
{
    struct gguf_builder builder;
    struct td_error err;
    put_sentencepiece(&builder);
    put_f32s(&builder, KEY("scores"), sp_scores, COUNT(sp_scores) - 1);
    CHECK(status_of(&builder, &err) == TD_CORRUPT);
    put_sentencepiece(&builder);
    put_f32s(&builder, KEY("scores"), sp_scores, COUNT(sp_scores));
    put_i32s(&builder, KEY("token_type"), sp_types, 3);
    CHECK(status_of(&builder, &err) == TD_CORRUPT);
    CHECK(strstr(err.message, "token_type") != NULL);
}

static void test_arrays_of_other_types_are_corrupt(void)
{
    struct gguf_builder builder;
    struct td_error err;
    put_sentencepiece(&builder);
    put_i32s(&builder, KEY("scores"), sp_types, COUNT(sp_types));
    CHECK(status_of(&builder, &err) == TD_CORRUPT);
    put_sentencepiece(&builder); /* no scores */
    CHECK(status_of(&builder, &err) == TD_CORRUPT);
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "gpt2");
    put_i32s(&builder, KEY("tokens"), sp_types, COUNT(sp_types));
    CHECK(status_of(&builder, &err) == TD_CORRUPT);
}

static void test_special_ids_out_of_range_are_corrupt(void)
{
    static const char *const keys[] = {KEY("bos_token_id"), KEY("eos_token_id"),
                                       KEY("unknown_token_id"), KEY("eot_token_id")};
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct gguf_builder builder;
        struct td_error err;
        put_byte_level(&builder, "gpt-2");
        builder_u32(&builder, keys[i], 8);
        CHECK(status_of(&builder, &err) == TD_CORRUPT);
        CHECK(strstr(err.message, keys[i]) != NULL);
        put_byte_level(&builder, "gpt-2");
        builder_u32(&builder, keys[i], UINT32_MAX); /* written by some converters for "none" */
        CHECK(status_of(&builder, &err) == TD_OK);
    }
}

static void test_merges_that_fit_nothing_are_harmless(void)
{
    static const char *const merges[] = {"nospace", "",    " ",   "x yz",
                                         "a b c",   "a b", "a b", "\u0120 ab"};
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    put_byte_level(&builder, "gpt-2");
    put_strings(&builder, KEY("merges"), merges, COUNT(merges));
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(encodes_as(vocab.tokenizer, STR("ab ab"), false, (int32_t[]){3, 4}, 2));
    CHECK(encodes_as(vocab.tokenizer, STR("ba"), false, (int32_t[]){1, 0}, 2));
    close_vocab(&vocab);
}

static void test_bytes_without_a_token_are_left_out(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    put_byte_level(&builder, NULL); /* no merges either, and the default pre-tokenizer */
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(encodes_as(vocab.tokenizer, STR("axb\xFFz"), false, (int32_t[]){0, 1}, 2));
    close_vocab(&vocab);
}

static void test_user_defined_tokens_are_always_found_and_control_tokens_on_request(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    put_byte_level(&builder, "gpt-2");
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(encodes_as(vocab.tokenizer, STR("aca<end>"), false, (int32_t[]){0, 7, 0}, 3));
    CHECK(encodes_as(vocab.tokenizer, STR("aca<end>"), true, (int32_t[]){0, 7, 0, 6}, 4));
    close_vocab(&vocab);
}

/* By the score alone "<s" and ">" would merge to the control token "<s>". */
static void test_plain_text_never_merges_into_control_or_byte_tokens(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    put_sentencepiece(&builder);
    put_f32s(&builder, KEY("scores"), sp_scores, COUNT(sp_scores));
    put_i32s(&builder, KEY("token_type"), sp_types, COUNT(sp_types));
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(encodes_as(vocab.tokenizer, STR("<s>"), false, (int32_t[]){3, 9, 0}, 3));
    CHECK(encodes_as(vocab.tokenizer, STR("<s>ab"), true, (int32_t[]){1, 3, 6}, 3));
    CHECK(encodes_as(vocab.tokenizer, STR("A ab"), false, (int32_t[]){3, 7, 3, 6}, 4));
    CHECK(encodes_as(vocab.tokenizer, STR("\xC3\xA9"), false, (int32_t[]){3, 0}, 2));
    CHECK(encodes_as(vocab.tokenizer, STR(""), false, NULL, 0));
    CHECK(str_equal(tokenizer_piece(vocab.tokenizer, 7, false), STR("A")));
    CHECK(str_equal(tokenizer_piece(vocab.tokenizer, 3, false), STR(" ")));
    close_vocab(&vocab);
}

static void test_scores_that_are_not_numbers_are_survived(void)
{
    float scores[COUNT(sp_scores)];
    for (size_t i = 0; i < COUNT(scores); i++)
        scores[i] = i % 3 == 0   ? __builtin_nanf("")
                    : i % 3 == 1 ? -__builtin_inff()
                                 : __builtin_inff();
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    put_sentencepiece(&builder);
    put_f32s(&builder, KEY("scores"), scores, COUNT(scores));
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(encodes_as(vocab.tokenizer, STR("ab"), false, (int32_t[]){3, 6}, 2));
    close_vocab(&vocab);
}

static void test_space_prefix_can_be_switched_off(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    put_sentencepiece(&builder);
    put_f32s(&builder, KEY("scores"), sp_scores, COUNT(sp_scores));
    builder_bool(&builder, KEY("add_space_prefix"), false);
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    struct buf text;
    buf_init(&text, 64);
    CHECK(encodes_as(vocab.tokenizer, STR("ab"), false, (int32_t[]){6}, 1));
    tokenizer_decode(vocab.tokenizer, (int32_t[]){3, 6}, 2, false, &text);
    CHECK(str_equal(buf_view(&text), STR(" ab")));
    buf_deinit(&text);
    close_vocab(&vocab);
}

/* The ids are those of the library "tokenizers" for the same merges (BPE with byte_fallback, spaces
 * replaced by U+2581). By scores " abc" would be another token than by ranks. */
static void test_gemma_4_merges_by_rank(void)
{
    static const char *const tokens[] = {"<pad>",
                                         "<eos>",
                                         "<bos>",
                                         "<unk>",
                                         "<0xC3>",
                                         "<0xA9>",
                                         "a",
                                         "b",
                                         "c",
                                         "\xE2\x96\x81",
                                         "\n",
                                         "bc",
                                         "\xE2\x96\x81"
                                         "a",
                                         "\xE2\x96\x81"
                                         "abc",
                                         "ab",
                                         "\xE2\x96\x81\xE2\x96\x81",
                                         "\n\n",
                                         "abc",
                                         "<turn|>"};
    static const char *const merges[] = {"b c",
                                         "\xE2\x96\x81 a",
                                         "\xE2\x96\x81"
                                         "a bc",
                                         "a b",
                                         "\xE2\x96\x81 \xE2\x96\x81",
                                         "\n \n",
                                         "ab c"};
    static const int32_t types[] = {3, 3, 3, 2, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 3};
    static const struct {
        const char *text;
        int32_t ids[6];
        size_t count;
    } cases[] = {{"abc", {6, 11}, 2},
                 {" abc", {13}, 1},
                 {"a  abc", {6, 9, 13}, 3},
                 {"ab\n\n\nabc", {14, 16, 10, 6, 11}, 5},
                 {"\xC3\xA9 abc", {4, 5, 13}, 3},
                 {"  ab c a", {9, 12, 7, 9, 8, 12}, 6}};
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "gemma4");
    put_strings(&builder, KEY("tokens"), tokens, COUNT(tokens));
    put_i32s(&builder, KEY("token_type"), types, COUNT(types));
    put_strings(&builder, KEY("merges"), merges, COUNT(merges));
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK(encodes_as(vocab.tokenizer, str_from(cases[i].text), false, cases[i].ids,
                         cases[i].count));
    CHECK(tokenizer_is_end(vocab.tokenizer, 18));
    close_vocab(&vocab);
    builder_init(&builder); /* without merges a text is its characters */
    builder_string(&builder, KEY("model"), "gemma4");
    put_strings(&builder, KEY("tokens"), tokens, COUNT(tokens));
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(encodes_as(vocab.tokenizer, STR("abc"), false, (int32_t[]){6, 7, 8}, 3));
    close_vocab(&vocab);
}

static void test_full_id_buffers_are_a_limit(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    put_byte_level(&builder, "gpt-2");
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    struct tokenizer_options options = {0};
    struct buf ids;
    buf_init(&ids, 2 * sizeof(int32_t));
    CHECK(tokenizer_encode(vocab.tokenizer, STR("aaa"), &options, &ids, &err) == TD_LIMIT);
    CHECK(strstr(err.message, "2 tokens") != NULL);
    buf_deinit(&ids);
    close_vocab(&vocab);
}

static void test_too_many_tokens_are_a_limit(void)
{
    enum { COUNT_TOO_MANY = (1 << 20) + 1 };
    struct gguf_builder builder;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "gpt2");
    builder_array(&builder, KEY("tokens"), GGUF_STRING, COUNT_TOO_MANY);
    for (int i = 0; i < COUNT_TOO_MANY; i++)
        builder_put_u64(&builder.pairs, 0);
    CHECK(status_of(&builder, &err) == TD_LIMIT);
}

static void test_overlong_merges_are_a_limit(void)
{
    char merge[5000];
    memset(merge, 'a', sizeof(merge));
    struct gguf_builder builder;
    struct td_error err;
    put_byte_level(&builder, "gpt-2");
    builder_array(&builder, KEY("merges"), GGUF_STRING, 1);
    builder_put_string(&builder.pairs, (struct td_str){merge, sizeof(merge)});
    CHECK(status_of(&builder, &err) == TD_LIMIT);
}

static void test_overlong_special_tokens_are_a_limit(void)
{
    char text[2000];
    memset(text, 'a', sizeof(text));
    struct gguf_builder builder;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "gpt2");
    builder_array(&builder, KEY("tokens"), GGUF_STRING, 1);
    builder_put_string(&builder.pairs, (struct td_str){text, sizeof(text)});
    put_i32s(&builder, KEY("token_type"), (int32_t[]){4}, 1);
    CHECK(status_of(&builder, &err) == TD_LIMIT);
}

/* 2048 texts that would all go to one of the table's 4096 slots: quadratic, if it were allowed. */
static void test_texts_made_to_collide_are_refused(void)
{
    enum { TOKENS = 2048, SLOTS = 4096 };
    struct gguf_builder builder;
    struct td_error err;
    uint64_t number = 0;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "gpt2");
    builder_array(&builder, KEY("tokens"), GGUF_STRING, TOKENS);
    for (int i = 0; i < TOKENS; number++) {
        uint64_t hash = hash_fnv1a64(&number, sizeof(number), HASH_FNV1A64_BASIS);
        if (hash_mix64(hash) % SLOTS != 7)
            continue;
        builder_put_string(&builder.pairs, (struct td_str){(const char *)&number, sizeof(number)});
        i++;
    }
    CHECK(status_of(&builder, &err) == TD_CORRUPT);
    CHECK(strstr(err.message, "collide") != NULL);
}

static void test_end_of_turn_is_known_whatever_its_type(void)
{
    static const char *const tokens[] = {"a", "<|im_end|>", "<|eot_id|>", "</s>", "b"};
    static const int32_t types[] = {1, 4, 1, 1, 3};
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    builder_init(&builder);
    builder_string(&builder, KEY("model"), "gpt2");
    put_strings(&builder, KEY("tokens"), tokens, COUNT(tokens));
    put_i32s(&builder, KEY("token_type"), types, COUNT(types));
    builder_u32(&builder, KEY("eot_token_id"), 4);
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    CHECK(tokenizer_is_end(vocab.tokenizer, 1) && tokenizer_is_end(vocab.tokenizer, 2));
    CHECK(tokenizer_is_end(vocab.tokenizer, 4) && !tokenizer_is_end(vocab.tokenizer, 0));
    CHECK(!tokenizer_is_end(vocab.tokenizer, 3)); /* an ordinary token of HTML */
    CHECK(str_equal(tokenizer_piece(vocab.tokenizer, 3, false), STR("</s>")));
    CHECK(encodes_as(vocab.tokenizer, STR("a<|im_end|>"), false, (int32_t[]){0}, 1));
    CHECK(encodes_as(vocab.tokenizer, STR("a<|im_end|>"), true, (int32_t[]){0, 1}, 2));
    close_vocab(&vocab);
}

int main(void)
{
    RUN(test_unknown_models_are_unsupported);
    RUN(test_unknown_pretokenizers_are_unsupported_and_the_known_ones_listed);
    RUN(test_missing_vocabulary_is_corrupt);
    RUN(test_arrays_of_other_lengths_are_corrupt);
    RUN(test_arrays_of_other_types_are_corrupt);
    RUN(test_special_ids_out_of_range_are_corrupt);
    RUN(test_merges_that_fit_nothing_are_harmless);
    RUN(test_bytes_without_a_token_are_left_out);
    RUN(test_user_defined_tokens_are_always_found_and_control_tokens_on_request);
    RUN(test_plain_text_never_merges_into_control_or_byte_tokens);
    RUN(test_scores_that_are_not_numbers_are_survived);
    RUN(test_space_prefix_can_be_switched_off);
    RUN(test_gemma_4_merges_by_rank);
    RUN(test_full_id_buffers_are_a_limit);
    RUN(test_too_many_tokens_are_a_limit);
    RUN(test_overlong_merges_are_a_limit);
    RUN(test_overlong_special_tokens_are_a_limit);
    RUN(test_texts_made_to_collide_are_refused);
    RUN(test_end_of_turn_is_known_whatever_its_type);
    return test_finish();
}

/* WordPiece against the ids of an independent implementation (tests/golden/wordpiece.json), in both
 * spellings that files have, and vocabularies that are wrong. */
#include "base/json/json.h"
#include "opened_vocab.h"
#include "test.h"

#define KEY(name) "tokenizer.ggml." name

static struct json *golden;

static bool is_special(struct td_str token)
{
    return token.len > 2 && token.data[0] == '[' && token.data[token.len - 1] == ']';
}

/* The golden vocabulary, as BERT spells it or as converted files do. */
static void put_golden(struct gguf_builder *builder, bool hash_marks)
{
    const struct json *tokens = json_get(golden, "tokens");
    builder_init(builder);
    builder_string(builder, KEY("model"), "bert");
    builder_array(builder, KEY("tokens"), GGUF_STRING, json_count(tokens));
    for (size_t i = 0; i < json_count(tokens); i++) {
        struct td_str token = json_text(json_at(tokens, i));
        char text[64];
        if (hash_marks || is_special(token))
            snprintf(text, sizeof(text), STR_FMT, STR_ARG(token));
        else if (token.len > 2 && str_starts_with(token, STR("##")))
            snprintf(text, sizeof(text), STR_FMT, STR_ARG(str_slice(token, 2, token.len)));
        else
            snprintf(text, sizeof(text), "\xE2\x96\x81" STR_FMT, STR_ARG(token));
        builder_put_string(&builder->pairs, str_from(text));
    }
}

static void check_ids(const struct tokenizer *tokenizer, struct td_str text,
                      const struct tokenizer_options *options, const int32_t *expected,
                      size_t count)
{
    struct buf ids;
    buf_init(&ids, 1 << 16);
    CHECK(tokenizer_encode(tokenizer, text, options, &ids, NULL) == TD_OK);
    bool same = ids.len == count * sizeof(int32_t) &&
                (count == 0 || memcmp(ids.data, expected, ids.len) == 0);
    if (!same)
        fprintf(stderr, "text '" STR_FMT "'\n", STR_ARG(text));
    CHECK(same);
    buf_deinit(&ids);
}

static void check_case(const struct tokenizer *tokenizer, const struct json *row)
{
    static const struct tokenizer_options plain;
    const struct json *ids = json_at(row, 1);
    int32_t expected[512];
    REQUIRE(json_count(ids) <= 512);
    for (size_t i = 0; i < json_count(ids); i++)
        expected[i] = (int32_t)json_int(json_at(ids, i), -1);
    check_ids(tokenizer, json_text(json_at(row, 0)), &plain, expected, json_count(ids));
}

static void check_set(const struct json *set, bool hash_marks)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    bool lowercase = json_bool(json_get(set, "lowercase"), true);
    bool strip = json_bool(json_get(set, "strip_accents"), true);
    put_golden(&builder, hash_marks);
    if (!lowercase)
        builder_bool(&builder, KEY("normalizer.lowercase"), false);
    if (strip != lowercase)
        builder_bool(&builder, KEY("normalizer.strip_accents"), strip);
    CHECK(open_vocab(&builder, &vocab, &err) == TD_OK);
    const struct json *cases = json_get(set, "cases");
    CHECK(json_count(cases) > 100);
    for (size_t i = 0; vocab.tokenizer && i < json_count(cases); i++)
        check_case(vocab.tokenizer, json_at(cases, i));
    close_vocab(&vocab);
}

static void test_ids_are_those_of_an_independent_implementation(void)
{
    const struct json *sets = json_get(golden, "sets");
    CHECK(json_count(sets) == 3);
    for (size_t i = 0; i < json_count(sets); i++)
        for (int hash_marks = 0; hash_marks < 2; hash_marks++)
            check_set(json_at(sets, i), hash_marks);
}

static void test_special_tokens_enclose_a_text_and_are_parsed_only_where_allowed(void)
{
    for (int hash_marks = 0; hash_marks < 2; hash_marks++) {
        struct gguf_builder builder;
        struct opened vocab;
        struct td_error err;
        struct tokenizer_options options = {.add_special = true};
        put_golden(&builder, hash_marks);
        REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
        int32_t the = 5, quick = 6, open = 33, close = 34, unknown = 1;
        check_ids(vocab.tokenizer, STR("the quick"), &options, (int32_t[]){2, the, quick, 3}, 4);
        check_ids(vocab.tokenizer, STR("the[SEP]"), &options,
                  (int32_t[]){2, the, open, unknown, close, 3}, 6);
        options.parse_special = true;
        check_ids(vocab.tokenizer, STR("the[SEP]"), &options, (int32_t[]){2, the, 3, 3}, 4);
        check_ids(vocab.tokenizer, (struct td_str){"\0the\xFF\0", 6}, &options,
                  (int32_t[]){2, the, 3}, 3);
        close_vocab(&vocab);
    }
}

static void test_decoding_gives_words_with_single_spaces(void)
{
    for (int hash_marks = 0; hash_marks < 2; hash_marks++) {
        struct gguf_builder builder;
        struct opened vocab;
        struct td_error err;
        struct buf ids, text;
        static const struct tokenizer_options options = {.add_special = true};
        put_golden(&builder, hash_marks);
        REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
        buf_init(&ids, 1 << 10);
        buf_init(&text, 1 << 10);
        CHECK(tokenizer_encode(vocab.tokenizer, STR("  The  DOGs un\u00E0ffable"), &options, &ids,
                               NULL) == TD_OK);
        tokenizer_decode(vocab.tokenizer, (const int32_t *)(const void *)ids.data, ids.len / 4,
                         false, &text);
        CHECK(str_equal(buf_view(&text), STR("the dogs unaffable")));
        buf_deinit(&ids);
        buf_deinit(&text);
        close_vocab(&vocab);
    }
}

static enum td_status status_with(void (*more)(struct gguf_builder *builder), struct td_error *err)
{
    struct gguf_builder builder;
    struct opened vocab;
    put_golden(&builder, false);
    more(&builder);
    enum td_status status = open_vocab(&builder, &vocab, err);
    close_vocab(&vocab);
    return status;
}

static void put_cls_outside(struct gguf_builder *builder)
{
    builder_u32(builder, KEY("cls_token_id"), 1u << 30);
}

static void put_no_unknown(struct gguf_builder *builder)
{
    builder_u32(builder, KEY("unknown_token_id"), UINT32_MAX);
}

static void put_short_types(struct gguf_builder *builder)
{
    builder_array(builder, KEY("token_type"), GGUF_I32, 1);
    builder_put_u32(&builder->pairs, 1);
}

static void test_wrong_vocabularies_are_refused_with_the_reason(void)
{
    struct td_error err;
    CHECK(status_with(put_cls_outside, &err) == TD_CORRUPT);
    CHECK(strstr(err.message, "cls_token_id is 1073741824"));
    CHECK(status_with(put_no_unknown, &err) == TD_CORRUPT);
    CHECK(strstr(err.message, "without [UNK]"));
    CHECK(status_with(put_short_types, &err) == TD_CORRUPT);
    CHECK(strstr(err.message, "token_type"));
}

static void test_ids_that_do_not_fit_are_a_limit(void)
{
    struct gguf_builder builder;
    struct opened vocab;
    struct td_error err;
    struct buf ids;
    static const struct tokenizer_options options;
    put_golden(&builder, false);
    REQUIRE(open_vocab(&builder, &vocab, &err) == TD_OK);
    buf_init(&ids, 4 * sizeof(int32_t));
    CHECK(tokenizer_encode(vocab.tokenizer, STR("the the the the the"), &options, &ids, &err) ==
          TD_LIMIT);
    buf_deinit(&ids);
    close_vocab(&vocab);
}

int main(void)
{
    struct buf text;
    struct td_error err = {0};
    buf_init(&text, 1 << 20);
    if (buf_read_file(&text, TANDEM_GOLDEN_DIR "/wordpiece.json", &err) != TD_OK ||
        json_parse(buf_view(&text), &golden, &err) != TD_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    RUN(test_ids_are_those_of_an_independent_implementation);
    RUN(test_special_tokens_enclose_a_text_and_are_parsed_only_where_allowed);
    RUN(test_decoding_gives_words_with_single_spaces);
    RUN(test_wrong_vocabularies_are_refused_with_the_reason);
    RUN(test_ids_that_do_not_fit_are_a_limit);
    json_free(golden);
    buf_deinit(&text);
    return test_finish();
}

/* The cuts of each pre-tokenizer where it differs from the others. */
#include "engine/tokenizer/pretokenizer.h"

#include "base/bytes/buf.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "test.h"

struct joined {
    char text[512];
    size_t len;
};

static bool join(void *context, struct td_str piece)
{
    struct joined *joined = context;
    if (joined->len + piece.len + 1 >= sizeof(joined->text))
        return false;
    memcpy(joined->text + joined->len, piece.data, piece.len);
    joined->len += piece.len;
    joined->text[joined->len++] = '|';
    joined->text[joined->len] = '\0';
    return true;
}

static void check_cuts(const char *pre, const char *text, const char *expected)
{
    struct joined joined = {.len = 0};
    const struct pretokenizer *pretokenizer = pretokenizer_find(str_from(pre));
    REQUIRE(pretokenizer != NULL);
    CHECK(pretokenizer_split(pretokenizer, str_from(text), join, &joined));
    if (strcmp(joined.text, expected) != 0) {
        fprintf(stderr, "%s: %s\n", pre, joined.text);
        test_case_failed = 1;
    }
}

static void test_gpt_2_cuts(void)
{
    check_cuts("gpt-2", "I'm HE'S 12345  x\n\n y", "I|'m| HE|'|S| 12345| | x|\n\n| y|");
    check_cuts("gpt-2", "a... (b) ", "a|...| (|b|)| |");
    check_cuts("gpt-2", "", "");
}

static void test_llama_3_takes_three_digits_and_any_case(void)
{
    check_cuts("llama-bpe", "I'm HE'S 12345", "I|'m| HE|'S| |123|45|");
    check_cuts("llama-bpe", "x();\n\n  y\r\n", "x|();\n\n| | y|\r\n|");
    check_cuts("llama-bpe", "\ttab  \n  two", "\ttab|  \n| | two|");
    check_cuts("llama-bpe", "#tag (x)", "#tag| (|x|)|");
}

static void test_qwen2_takes_single_digits(void)
{
    check_cuts("qwen2", "a 123", "a| |1|2|3|");
    check_cuts("smollm", "a 12b", "a| |1|2|b|");
}

static void test_default_and_falcon_cut_punctuation_first(void)
{
    check_cuts("default", "it's a+b 1234", "it|'|s| a|+|b| |123|4|");
    check_cuts("falcon", "a`b 12345", "a|`|b| |123|45|");
    check_cuts("default", "a`b", "a|`|b|");
}

static void test_deepseek_cuts_lines_words_and_ideographs(void)
{
    check_cuts("deepseek-llm", "ab cd\n\n12!  ", "ab| cd|\n|\n|12|!|  |");
    check_cuts("deepseek-llm", "x\xE4\xB8\x96\xE7\x95\x8C.", "x|\xE4\xB8\x96\xE7\x95\x8C|.|");
}

static void test_bytes_that_are_not_utf8_are_symbols(void)
{
    check_cuts("gpt-2", "a\xFF\x80 b\xE2\x82", "a|\xFF\x80| b|\xE2\x82|");
    check_cuts("llama-bpe", "\xC3", "\xC3|");
}

static void test_splitting_stops_when_asked(void)
{
    char text[1024];
    memset(text, 'x', sizeof(text));
    struct joined joined = {.len = 0};
    CHECK(!pretokenizer_split(pretokenizer_find(STR("gpt-2")), (struct td_str){text, sizeof(text)},
                              join, &joined));
    CHECK(joined.len == 0);
}

static void test_names_are_found_whole(void)
{
    char list[512], tiny[8];
    CHECK(pretokenizer_find(STR("llama3")) == pretokenizer_find(STR("llama-bpe")));
    CHECK(pretokenizer_find(STR("llama")) == NULL);
    CHECK(pretokenizer_find(STR("")) == NULL);
    pretokenizer_list(list, sizeof(list));
    CHECK(strstr(list, "qwen2") && strstr(list, "falcon"));
    pretokenizer_list(tiny, sizeof(tiny));
    CHECK(strlen(tiny) < sizeof(tiny));
}

/* ---- against the regular expressions (tests/golden/make_pretokens.py) ---- */

struct expected_cuts {
    const char *at; /* lengths, decimal, spaces between them */
    bool equal;
};

static bool compare_length(void *context, struct td_str piece)
{
    struct expected_cuts *cuts = context;
    char *end;
    unsigned long length = strtoul(cuts->at, &end, 10);
    cuts->equal = end != cuts->at && length == piece.len;
    cuts->at = end;
    return cuts->equal;
}

static void check_golden(const char *name, struct td_str text, const char *lengths)
{
    struct expected_cuts cuts = {lengths, text.len == 0};
    const struct pretokenizer *pretokenizer = pretokenizer_find(str_from(name));
    REQUIRE(pretokenizer != NULL);
    pretokenizer_split(pretokenizer, text, compare_length, &cuts);
    CHECK(cuts.equal && *cuts.at == '\0');
    if (!cuts.equal || *cuts.at)
        fprintf(stderr, "%s: %.*s\n  expected %s\n", name, (int)text.len, text.data, lengths);
}

static void test_cuts_are_those_of_the_published_expressions(void)
{
    const char *other = getenv("TANDEM_PRETOKENS"); /* a larger set */
    struct json *golden = NULL;
    struct buf file;
    buf_init(&file, (size_t)1 << 30);
    REQUIRE(buf_read_file(&file, other ? other : TANDEM_GOLDEN_DIR "/pretokens.json", NULL) ==
            TD_OK);
    CHECK(json_parse(buf_view(&file), &golden, NULL) == TD_OK);
    const struct json *texts = json_get(golden, "texts"), *all = json_get(golden, "cuts");
    CHECK(json_count(texts) >= 60 && json_count(all) >= 15);
    const char *name;
    const struct json *cuts;
    for (void *iterator = NULL; json_next(all, &iterator, &name, &cuts);) {
        CHECK(json_count(cuts) == json_count(texts));
        for (size_t j = 0; j < json_count(cuts); j++)
            check_golden(name, json_text(json_at(texts, j)), json_cstr(json_at(cuts, j)));
    }
    json_free(golden);
    buf_deinit(&file);
}

int main(void)
{
    RUN(test_gpt_2_cuts);
    RUN(test_llama_3_takes_three_digits_and_any_case);
    RUN(test_qwen2_takes_single_digits);
    RUN(test_default_and_falcon_cut_punctuation_first);
    RUN(test_deepseek_cuts_lines_words_and_ideographs);
    RUN(test_bytes_that_are_not_utf8_are_symbols);
    RUN(test_splitting_stops_when_asked);
    RUN(test_names_are_found_whole);
    RUN(test_cuts_are_those_of_the_published_expressions);
    return test_finish();
}

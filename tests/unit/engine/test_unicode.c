/* Classes of code points, and the cuts of each pre-tokenizer where it differs from the others. */
#include "base/str.h"
#include "engine/tokenizer/pretokenizer.h"
#include "engine/tokenizer/unicode.h"
#include "test.h"

static void test_classes_of_well_known_characters(void)
{
    CHECK(unicode_class_of('a') & UNICODE_LETTER && unicode_class_of('Z') & UNICODE_LETTER);
    CHECK(unicode_class_of('7') == UNICODE_NUMBER);
    CHECK(unicode_class_of(' ') == UNICODE_SPACE);
    CHECK(unicode_class_of('\n') == (UNICODE_SPACE | UNICODE_CONTROL));
    CHECK(unicode_class_of('!') & UNICODE_PUNCTUATION);
    CHECK(!(unicode_class_of('+') & UNICODE_PUNCTUATION)); /* a symbol */
    CHECK(unicode_class_of(0x00E9) & UNICODE_LETTER);      /* é */
    CHECK(unicode_class_of(0x4E16) & UNICODE_LETTER);      /* 世 */
    CHECK(unicode_class_of(0x0664) & UNICODE_NUMBER);      /* Arabic-Indic digit four */
    CHECK(unicode_class_of(0x00BD) & UNICODE_NUMBER);      /* ½ */
    CHECK(unicode_class_of(0x3000) == UNICODE_SPACE);
    CHECK(unicode_class_of(0x85) == (UNICODE_SPACE | UNICODE_CONTROL));
    CHECK(unicode_class_of(0x200B) == UNICODE_CONTROL); /* zero width space is no white space */
    CHECK(unicode_class_of(0x0301) == UNICODE_MARK);    /* a combining mark is no letter */
    CHECK(unicode_class_of(0x1F600) == 0);
}

static void test_code_points_at_and_beyond_the_ends_have_a_class(void)
{
    CHECK(unicode_class_of(0) == UNICODE_CONTROL);
    CHECK(unicode_class_of(0x10FFFF) == 0);
    CHECK(unicode_class_of(0x110000) == 0);
    CHECK(unicode_class_of(UINT32_MAX) == 0);
    CHECK(unicode_class_of(0x1E943) & UNICODE_DEEPSEEK_WORD);
    CHECK(!(unicode_class_of(0x561) &
            UNICODE_DEEPSEEK_WORD)); /* Armenian small letters are not listed */
}

static void check_parts(uint32_t code_point, const uint32_t *expected, size_t count)
{
    uint32_t parts[UNICODE_PARTS_MAX];
    CHECK(unicode_decompose(code_point, parts) == count);
    CHECK(memcmp(parts, expected, count * sizeof(*expected)) == 0);
}

static void test_characters_decompose_fully_and_hangul_by_arithmetic(void)
{
    check_parts('a', (uint32_t[]){'a'}, 1);
    check_parts(0xE9, (uint32_t[]){'e', 0x301}, 2);                   /* é */
    check_parts(0x1F82, (uint32_t[]){0x3B1, 0x313, 0x300, 0x345}, 4); /* in three steps */
    check_parts(0x212B, (uint32_t[]){'A', 0x30A}, 2);                 /* the Angstrom sign */
    check_parts(0xAC00, (uint32_t[]){0x1100, 0x1161}, 2);             /* 가 */
    check_parts(0xD7A3, (uint32_t[]){0x1112, 0x1175, 0x11C2}, 3);
    check_parts(0xD7A4, (uint32_t[]){0xD7A4}, 1);
    check_parts(0x2FA1D, (uint32_t[]){0x2A600}, 1); /* the last of the table */
    check_parts(0x2FA1E, (uint32_t[]){0x2FA1E}, 1);
    check_parts(0xFB01, (uint32_t[]){0xFB01}, 1); /* a ligature is a compatibility matter */
    check_parts(0x110000, (uint32_t[]){0x110000}, 1);
    check_parts(UINT32_MAX, (uint32_t[]){UINT32_MAX}, 1);
}

static void test_lower_case_is_found_in_runs_and_between_them(void)
{
    static const uint32_t pairs[][2] = {
        {'A', 'a'},         {'Z', 'z'},         {'a', 'a'},         {'[', '['},
        {0xC9, 0xE9},       {0xD7, 0xD7},       {0x100, 0x101},     {0x101, 0x101},
        {0x178, 0xFF},      {0x130, 0x130},     {0x3A3, 0x3C3},     {0x410, 0x430},
        {0x1E9E, 0xDF},     {0x10A0, 0x2D00},   {0x13A0, 0xAB70},   {0x24B6, 0x24D0},
        {0x10400, 0x10428}, {0x1E921, 0x1E943}, {0x1E922, 0x1E922}, {UINT32_MAX, UINT32_MAX}};
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        CHECK(unicode_lower(pairs[i][0]) == pairs[i][1]);
}

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

int main(void)
{
    RUN(test_classes_of_well_known_characters);
    RUN(test_characters_decompose_fully_and_hangul_by_arithmetic);
    RUN(test_lower_case_is_found_in_runs_and_between_them);
    RUN(test_code_points_at_and_beyond_the_ends_have_a_class);
    RUN(test_gpt_2_cuts);
    RUN(test_llama_3_takes_three_digits_and_any_case);
    RUN(test_qwen2_takes_single_digits);
    RUN(test_default_and_falcon_cut_punctuation_first);
    RUN(test_deepseek_cuts_lines_words_and_ideographs);
    RUN(test_bytes_that_are_not_utf8_are_symbols);
    RUN(test_splitting_stops_when_asked);
    RUN(test_names_are_found_whole);
    return test_finish();
}

#include "app/terminal/word_wrap.h"
#include "base/core/str.h"
#include "test.h"

#include <locale.h>

struct written {
    char text[32768];
    size_t len;
};

static void write_text(void *ctx, struct td_str text)
{
    struct written *written = ctx;
    REQUIRE(written->len + text.len < sizeof written->text);
    memcpy(written->text + written->len, text.data, text.len);
    written->len += text.len;
    written->text[written->len] = '\0';
}

/* The text in pieces of so many bytes. */
static bool wraps(unsigned columns, size_t piece, const char *text, const char *expected)
{
    struct written written = {.len = 0};
    struct word_wrap wrap = {.columns = columns, .write = write_text, .ctx = &written};
    struct td_str all = str_from(text);
    word_wrap_init(&wrap);
    for (size_t at = 0; at < all.len; at += piece)
        word_wrap_add(&wrap, str_slice(all, at, at + piece));
    word_wrap_end(&wrap);
    word_wrap_deinit(&wrap);
    bool same = strcmp(written.text, expected) == 0;
    if (!same)
        fprintf(stderr, "pieces of %zu: got\n%s\n", piece, written.text);
    return same;
}

static bool wraps_in_any_pieces(unsigned columns, const char *text, const char *expected)
{
    bool all = true;
    for (size_t piece = 1; piece < 9; piece++)
        all = wraps(columns, piece, text, expected) && all;
    return wraps(columns, 1000, text, expected) && all;
}

static void test_words_are_not_broken(void)
{
    CHECK(wraps_in_any_pieces(10, "one two three four", "one two\nthree four\n"));
    CHECK(wraps_in_any_pieces(10, "exactly 10 and", "exactly 10\nand\n"));
    CHECK(wraps_in_any_pieces(10, "a\n\nb  c \n", "a\n\nb  c\n"));
}

static void test_a_word_wider_than_the_line_is_cut_at_its_end(void)
{
    CHECK(wraps_in_any_pieces(5, "abcdefghijkl m", "abcde\nfghij\nkl m\n"));
    CHECK(wraps_in_any_pieces(1, "ab", "a\nb\n"));
}

static void test_a_broken_line_goes_on_below_its_first_word(void)
{
    CHECK(wraps_in_any_pieces(14, "- one two three", "- one two\n  three\n"));
    CHECK(wraps_in_any_pieces(18, "  1. one two three four", "  1. one two three\n     four\n"));
    /* Not where little of the line would be left. */
    CHECK(wraps_in_any_pieces(12, "     deep in words", "     deep in\nwords\n"));
}

static void test_wide_characters_count_two_columns(void)
{
    CHECK(wraps_in_any_pieces(8, "你好世界再见", "你好世界\n再见\n"));
    CHECK(wraps_in_any_pieces(7, "你好世界", "你好世\n界\n"));
    CHECK(wraps_in_any_pieces(8, "你好世界。再", "你好世\n界。再\n"));
    CHECK(wraps_in_any_pieces(8, "ab 你好世界", "ab 你好\n世界\n"));
}

static void test_accents_that_combine_have_no_width(void)
{
    CHECK(wraps_in_any_pieces(4,
                              "e\xCC\x81"
                              "e\xCC\x81"
                              "e\xCC\x81"
                              "e\xCC\x81 x",
                              "e\xCC\x81"
                              "e\xCC\x81"
                              "e\xCC\x81"
                              "e\xCC\x81\nx\n"));
}

static void test_code_is_left_as_it_is(void)
{
    CHECK(wraps_in_any_pieces(10, "see:\n```c\nint main(void) { }\n```\nafter the code",
                              "see:\n```c\nint main(void) { }\n```\nafter the\ncode\n"));
}

static void test_characters_that_steer_a_terminal_are_replaced(void)
{
    CHECK(wraps_in_any_pieces(40,
                              "a\033[2Jb\007\x7f\xC2\x9B"
                              "1m",
                              "a\xEF\xBF\xBD[2Jb\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
                              "1m\n"));
    CHECK(wraps_in_any_pieces(40, "a\r\nb", "a\nb\n"));
}

static void test_bytes_that_are_no_utf8_are_replaced(void)
{
    CHECK(wraps_in_any_pieces(40, "a\xFFz \xE4\xBD", "a\xEF\xBF\xBDz \xEF\xBF\xBD\n"));
    /* A character that is cut short, with a whole one after it. */
    CHECK(
        wraps_in_any_pieces(40, "\xE5\xA5\xE3\x80\x82", "\xEF\xBF\xBD\xEF\xBF\xBD\xE3\x80\x82\n"));
}

static void test_without_columns_every_byte_is_passed_on(void)
{
    CHECK(wraps_in_any_pieces(0, "a\033[2J\xFF  b", "a\033[2J\xFF  b\n"));
    CHECK(wraps_in_any_pieces(0, "ends\n", "ends\n"));
    CHECK(wraps_in_any_pieces(0, "", ""));
}

static void test_a_word_without_an_end_is_bounded(void)
{
    static struct written written;
    struct word_wrap wrap = {.columns = 4000, .write = write_text, .ctx = &written};
    word_wrap_init(&wrap);
    for (int i = 0; i < 20000; i++)
        word_wrap_add(&wrap, STR("x"));
    CHECK(wrap.word.len <= 8192 && !wrap.word.failed);
    word_wrap_deinit(&wrap);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    RUN(test_words_are_not_broken);
    RUN(test_a_word_wider_than_the_line_is_cut_at_its_end);
    RUN(test_a_broken_line_goes_on_below_its_first_word);
    RUN(test_wide_characters_count_two_columns);
    RUN(test_accents_that_combine_have_no_width);
    RUN(test_code_is_left_as_it_is);
    RUN(test_characters_that_steer_a_terminal_are_replaced);
    RUN(test_bytes_that_are_no_utf8_are_replaced);
    RUN(test_without_columns_every_byte_is_passed_on);
    RUN(test_a_word_without_an_end_is_bounded);
    return test_finish();
}

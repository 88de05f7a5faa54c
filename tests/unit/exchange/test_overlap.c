/* What is shown of a second tier's answer: no character twice, none missing, however it goes on. */
#include "exchange/limits/overlap.h"

#include "base/core/str.h"
#include "test.h"

#include <string.h>

static const char whole[] = "Zwölf Monate: January, February, very, very warm July; und so "
                            "weiter – bis zum Dezember 2024, der 31 Tage hat. 😀 The very end.";

/* Feeds `text` in steps of that many bytes; what is shown of it, or NULL when it was refused. */
static const char *joined(const char *shown, const char *text, size_t step, bool exact)
{
    static char out_text[4096];
    struct overlap overlap = {0};
    struct buf out;
    struct td_str rest = str_from(text);
    buf_init(&out, sizeof out_text - 1);
    overlap_init(&overlap, str_from(shown), exact);
    bool ok = true;
    for (size_t at = 0; ok && at < rest.len; at += step)
        ok = overlap_feed(&overlap, str_slice(rest, at, at + step), &out);
    ok = ok && overlap_end(&overlap, &out);
    snprintf(out_text, sizeof out_text, "%s", out.data ? out.data : "");
    buf_deinit(&out);
    overlap_deinit(&overlap);
    return ok ? out_text : NULL;
}

static bool joins(const char *shown, const char *text, const char *expected, bool exact)
{
    for (size_t step = 1; step < 12; step++) {
        const char *got = joined(shown, text, step, exact);
        if (!got || strcmp(got, expected) != 0)
            return false;
    }
    return true;
}

static bool is_cut(size_t at)
{
    return ((unsigned char)whole[at] & 0xC0) != 0x80;
}

static void test_cut_anywhere_it_goes_on_there(void)
{
    char shown[sizeof whole];
    for (size_t at = 1; at < strlen(whole); at++) {
        if (!is_cut(at))
            continue;
        snprintf(shown, sizeof shown, "%.*s", (int)at, whole);
        CHECK(joins(shown, whole + at, whole + at, true));
        CHECK(joins(shown, whole + at, whole + at, false));
        CHECK(joins(shown, whole, whole + at, false)); /* from its beginning */
        if (at >= 48)
            CHECK(joins(shown, whole, whole + at, true));
    }
}

static void test_words_that_are_said_again_are_left_out(void)
{
    char shown[sizeof whole];
    for (size_t at = 30; at < strlen(whole); at++) {
        if (!is_cut(at))
            continue;
        size_t from = at - 12; /* the beginning of a word */
        while (from > 0 && whole[from - 1] != ' ')
            from--;
        snprintf(shown, sizeof shown, "%.*s", (int)at, whole);
        CHECK(joins(shown, whole + from, whole + at, false));
    }
    CHECK(joins("I say Hel", "Hello world", "lo world", false));
    CHECK(joins("It costs 1", "100 euros", "100 euros", false)); /* 1100 may be meant */
    CHECK(joins("a very", " very good", " very good", false));
    CHECK(joins("a very ", "very good", "good", false));
    CHECK(joins("a very ", "very good", "very good", true));
    CHECK(joins("Missi", "ssippi", "ssippi", false));
}

static void test_another_answer_is_refused(void)
{
    char other[sizeof whole + 32];
    snprintf(other, sizeof other, "%.60s something quite different.", whole);
    for (size_t step = 1; step < 9; step++) {
        CHECK(!joined(whole, other, step, false));
        CHECK(joined(whole, other, step, true)); /* a text may look like its own beginning */
    }
    snprintf(other, sizeof other, "%.60s", whole); /* ends in the middle of what was shown */
    CHECK(!joined(whole, other, 7, false));
}

static void test_an_end_without_a_new_word_is_one(void)
{
    CHECK(joins(whole, whole, "", false) && joins(whole, whole, "", true));
    CHECK(joins(whole, "", "", false) && joins("", whole, whole, false));
}

int main(void)
{
    RUN(test_cut_anywhere_it_goes_on_there);
    RUN(test_words_that_are_said_again_are_left_out);
    RUN(test_another_answer_is_refused);
    RUN(test_an_end_without_a_new_word_is_one);
    return test_finish();
}

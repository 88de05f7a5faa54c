/* Text between tokens and reader: stop strings and characters that cross token boundaries. */
#include "engine/session/text_gate.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "base/text/utf8.h"
#include "test.h"

/* Pushes pieces (a NULL ends them); returns everything let through, a '|' after each push. */
static void run_gate(const char *const *pieces, const struct td_str *stops, size_t stop_count,
                     struct buf *out, bool *stopped)
{
    struct text_gate gate;
    struct td_error err = {0};
    struct td_str text;
    buf_clear(out);
    CHECK(text_gate_init(&gate, stops, stop_count, &err) == TD_OK);
    for (size_t i = 0; pieces[i]; i++) {
        CHECK(text_gate_push(&gate, str_from(pieces[i]), &text, &err) == TD_OK);
        CHECK(utf8_is_valid(text));
        buf_append_str(out, text);
        buf_append_char(out, '|');
    }
    *stopped = gate.stopped;
    if (!gate.stopped) {
        CHECK(text_gate_finish(&gate, &text, &err) == TD_OK);
        buf_append_str(out, text);
    }
    text_gate_deinit(&gate);
}

static void expect(const char *const *pieces, const char *const *stop_texts, const char *expected,
                   bool expect_stopped)
{
    struct td_str stops[TD_STOPS_MAX];
    size_t stop_count = 0;
    while (stop_texts && stop_texts[stop_count]) {
        stops[stop_count] = str_from(stop_texts[stop_count]);
        stop_count++;
    }
    struct buf out;
    bool stopped;
    buf_init(&out, 1 << 16);
    run_gate(pieces, stops, stop_count, &out, &stopped);
    if (!str_equal(buf_view(&out), str_from(expected)))
        fprintf(stderr, "got '%s', expected '%s'\n", out.data ? out.data : "", expected);
    CHECK(str_equal(buf_view(&out), str_from(expected)));
    CHECK(stopped == expect_stopped);
    buf_deinit(&out);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void test_text_passes_at_once_without_stops(void)
{
    expect(TEXTS("a", "", "bc"), NULL, "a||bc|", false);
}

static void test_stop_inside_one_piece_cuts_there(void)
{
    expect(TEXTS("one STOP two"), TEXTS("STOP"), "one |", true);
}

static void test_stop_across_pieces_is_held_and_never_shown(void)
{
    expect(TEXTS("xS", "T", "OP rest"), TEXTS("STOP"), "x|||", true);
}

static void test_held_text_is_released_when_it_is_no_stop(void)
{
    expect(TEXTS("xS", "T", "UP"), TEXTS("STOP"), "x||STUP|", false);
    expect(TEXTS("xST"), TEXTS("STOP"), "x|ST", false); /* at the end */
}

static void test_overlapping_prefixes_hold_the_longest(void)
{
    expect(TEXTS("aab", "aac"), TEXTS("aabaab", "aac"), "|aab|", true);
    expect(TEXTS("\n", "\n", "x"), TEXTS("\n\n"), "|||", true);
}

static void test_earliest_of_several_stops_wins(void)
{
    expect(TEXTS("a END b STOP"), TEXTS("STOP", "END"), "a |", true);
}

static void test_nothing_comes_after_a_stop(void)
{
    expect(TEXTS("aX", "more"), TEXTS("X"), "a||", true);
}

static void test_characters_split_over_tokens_are_completed(void)
{
    expect(TEXTS("\xe2", "\x82", "\xac!"), NULL, "||\xe2\x82\xac!|", false);
    expect(TEXTS("a\xf0\x9f", "\x98\x80"), NULL, "a|\xf0\x9f\x98\x80|", false);
}

static void test_broken_characters_become_replacement_characters(void)
{
    expect(TEXTS("\xff"
                 "a"),
           NULL,
           "\xef\xbf\xbd"
           "a|",
           false);
    expect(TEXTS("\xe2", "a"), NULL,
           "|\xef\xbf\xbd"
           "a|",
           false);
    expect(TEXTS("ab\xe2\x82"), NULL, "ab|\xef\xbf\xbd\xef\xbf\xbd", false);
}

static void test_stop_may_begin_inside_a_multibyte_tail(void)
{
    expect(TEXTS("\xc3", "\xa9STOP"), TEXTS("\xc3\xa9STOP"), "||", true);
}

static void test_bad_stop_lists_are_refused(void)
{
    struct text_gate gate;
    struct td_error err = {0};
    struct td_str stops[TD_STOPS_MAX + 1] = {{"", 0}};
    CHECK(text_gate_init(&gate, stops, 1, &err) == TD_INVALID);
    text_gate_deinit(&gate);
    err = (struct td_error){0};
    CHECK(text_gate_init(&gate, stops, TD_STOPS_MAX + 1, &err) == TD_INVALID);
    text_gate_deinit(&gate);
}

/* The whole output is the same, however a text is cut into pieces. */
static void test_cutting_does_not_matter(void)
{
    struct rng rng;
    rng_init(&rng, 3);
    for (int round = 0; round < 3000; round++) {
        char text[64], whole[256] = "", cut[256] = "";
        size_t len = 1 + rng_below(&rng, 40);
        for (size_t i = 0; i < len; i++)
            text[i] = "ab\n\xc3\xa9\xe2\x82\xac\xff"[rng_below(&rng, 9)];
        struct td_str stops[] = {STR("aab"), STR("a\n"), STR("\xc3\xa9")};
        for (int way = 0; way < 2; way++) {
            struct text_gate gate;
            struct td_str part;
            struct td_error err = {0};
            char *out = way ? cut : whole;
            size_t used = 0;
            CHECK(text_gate_init(&gate, stops, 3, &err) == TD_OK);
            for (size_t at = 0; at < len;) {
                size_t step = way ? 1 + rng_below(&rng, 4) : len;
                step = step < len - at ? step : len - at;
                CHECK(text_gate_push(&gate, (struct td_str){text + at, step}, &part, &err) ==
                      TD_OK);
                if (part.len)
                    memcpy(out + used, part.data, part.len);
                used += part.len;
                at += step;
            }
            if (!gate.stopped) {
                CHECK(text_gate_finish(&gate, &part, &err) == TD_OK);
                if (part.len)
                    memcpy(out + used, part.data, part.len);
                used += part.len;
            }
            out[used] = '\0';
            text_gate_deinit(&gate);
        }
        CHECK(strcmp(whole, cut) == 0);
        CHECK(utf8_is_valid(str_from(cut)));
    }
}

int main(void)
{
    RUN(test_text_passes_at_once_without_stops);
    RUN(test_stop_inside_one_piece_cuts_there);
    RUN(test_stop_across_pieces_is_held_and_never_shown);
    RUN(test_held_text_is_released_when_it_is_no_stop);
    RUN(test_overlapping_prefixes_hold_the_longest);
    RUN(test_earliest_of_several_stops_wins);
    RUN(test_nothing_comes_after_a_stop);
    RUN(test_characters_split_over_tokens_are_completed);
    RUN(test_broken_characters_become_replacement_characters);
    RUN(test_stop_may_begin_inside_a_multibyte_tail);
    RUN(test_bad_stop_lists_are_refused);
    RUN(test_cutting_does_not_matter);
    return test_finish();
}

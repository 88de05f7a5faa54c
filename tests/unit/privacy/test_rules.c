/* The operator's patterns and words: what they find, what is refused, and that what cannot be
 * finished within its limits keeps the text here. */
#include "privacy/scan/privacy.h"
#include "privacy/scan/rules.h"

#include "base/core/str.h"
#include "scanners.h"
#include "test.h"

#include <stdlib.h>

static struct privacy_rules *with_pattern(const char *regex, enum td_data_class data_class)
{
    struct td_error err = {0};
    struct privacy_rules *rules = privacy_rules_new();
    if (rules &&
        privacy_rules_add_pattern(rules, "STAFF_ID", regex, data_class, 0.8, &err) != TD_OK)
        fprintf(stderr, "%s\n", err.message);
    return rules;
}

static void test_a_pattern_gives_its_class_name_and_place(void)
{
    struct privacy_span spans[4];
    struct privacy_scanner *scanner =
        scanner_with(with_pattern("EMP-\\d{5}", TD_CLASS_RESTRICTED), NULL);
    struct td_str text = STR("ask EMP-12345 or a@acmeltd.com or EMP-54321");
    REQUIRE(privacy_scan(scanner, text, spans, 4) == 3);
    CHECK(spans[0].kind == PRIVACY_CUSTOM && spans[0].begin == 4 && spans[0].end == 13);
    CHECK(spans[0].data_class == TD_CLASS_RESTRICTED && spans[1].kind == PRIVACY_EMAIL);
    CHECK(spans[2].begin == 34 && spans[2].end == 43);
    CHECK(strcmp(span_name(&spans[0]), "STAFF_ID") == 0);
    CHECK(privacy_classify(scanner, text, NULL) == TD_CLASS_RESTRICTED);
    privacy_scanner_free(scanner);
    CHECK(privacy_classify(plain_scanner(), text, NULL) == TD_CLASS_SENSITIVE);
}

static void test_words_and_phrases_stand_alone_in_any_case(void)
{
    struct td_error err = {0};
    struct privacy_span spans[8];
    struct privacy_rules *rules = privacy_rules_new();
    REQUIRE(privacy_rules_add_words(rules, "PROJECT",
                                    STR("# names\nBluebird\nRed  Fox\nRed Fox Two\n\n"),
                                    TD_CLASS_SENSITIVE, &err) == TD_OK);
    struct privacy_scanner *scanner = scanner_with(rules, NULL);
    struct td_str text = STR("BLUEBIRD, bluebirds, red\n fox, red fox two; redfox");
    size_t count = privacy_scan(scanner, text, spans, 8);
    REQUIRE(count == 3);
    CHECK(spans[0].begin == 0 && spans[0].end == 8);
    CHECK(spans[1].begin == 21 && spans[1].end == 29);
    CHECK(spans[2].begin == 31 && spans[2].end == 42);
    privacy_scanner_free(scanner);
}

/* Whatever the order of the list, and whichever of its phrases are in it: of those that stand at a
 * place the longest covers it. */
static void test_of_phrases_that_begin_alike_the_longest_is_found(void)
{
    static const char *const phrases[] = {"red", "red fox", "red fox two", "red fox two north"};
    static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 3, 0, 2}};
    static const char text[] = "(Red  fox two North)";
    static const size_t ends[] = {4, 9, 13, 19};
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++)
        for (unsigned of = 1; of < 16; of++) {
            char list[128] = "";
            size_t longest = 0;
            for (int i = 0; i < 4; i++)
                if (of >> orders[o][i] & 1) {
                    strcat(strcat(list, phrases[orders[o][i]]), "\n");
                    longest = ends[orders[o][i]] > longest ? ends[orders[o][i]] : longest;
                }
            struct privacy_span spans[8];
            struct privacy_rules *rules = privacy_rules_new();
            REQUIRE(privacy_rules_add_words(rules, "PROJECT", str_from(list), TD_CLASS_SENSITIVE,
                                            NULL) == TD_OK);
            struct privacy_scanner *scanner = scanner_with(rules, NULL);
            REQUIRE(privacy_scan(scanner, STR(text), spans, 8) == 1);
            CHECK(spans[0].begin == 1 && spans[0].end == longest);
            privacy_scanner_free(scanner);
        }
}

static void test_what_cannot_be_right_is_refused_with_words(void)
{
    static const struct {
        const char *name, *regex, *says;
    } wrong[] = {{"A", "(", "missing closing parenthesis"},
                 {"A", "x*", "matches the empty text"},
                 {"", "x", "must be 1 to 64"},
                 {"a b", "x", "must be 1 to 64"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct td_error err = {0};
        struct privacy_rules *rules = privacy_rules_new();
        CHECK(privacy_rules_add_pattern(rules, wrong[i].name, wrong[i].regex, TD_CLASS_SENSITIVE,
                                        0.5, &err) == TD_INVALID);
        CHECK(strstr(err.message, wrong[i].says) != NULL);
        privacy_rules_free(rules);
    }
    struct td_error err = {0};
    struct privacy_rules *rules = privacy_rules_new();
    CHECK(privacy_rules_add_words(rules, "W", STR("ok\n!!\n"), TD_CLASS_SENSITIVE, &err) ==
          TD_INVALID);
    CHECK(strstr(err.message, "line 2") != NULL);
    privacy_rules_free(rules);
}

/* Each start costs exponential steps: the limit ends it and the whole text stays. */
static void test_catastrophic_patterns_end_and_keep_the_text(void)
{
    static const char *const patterns[] = {"(a+)+$", "(a|aa)+$", "^(\\w+\\s?)*!$"};
    enum { BYTES = 1 << 20 };
    char *text = malloc(BYTES);
    REQUIRE(text != NULL);
    memset(text, 'a', BYTES);
    text[BYTES - 1] = '.';
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct privacy_scanner *scanner =
            scanner_with(with_pattern(patterns[i], TD_CLASS_PUBLIC), NULL);
        struct privacy_span span = {0};
        CHECK(privacy_scan(scanner, (struct td_str){text, BYTES}, &span, 1) == 1);
        CHECK(span.kind == PRIVACY_CUSTOM && span.data_class == TD_CLASS_RESTRICTED);
        CHECK(span.begin == 0 && span.end == BYTES);
        CHECK(privacy_classify(scanner, (struct td_str){text, BYTES}, NULL) == TD_CLASS_RESTRICTED);
        privacy_scanner_free(scanner);
    }
    free(text);
}

static void test_patterns_find_beside_bytes_that_are_no_text(void)
{
    struct privacy_span spans[4];
    struct privacy_scanner *scanner =
        scanner_with(with_pattern("Z\\w{3}", TD_CLASS_SENSITIVE), NULL);
    struct td_str text = STR("\xff\xfe Zabc \xc3 Z\xc3\xa9"
                             "bc");
    REQUIRE(privacy_scan(scanner, text, spans, 4) == 2);
    CHECK(spans[0].begin == 3 && spans[0].end == 7 && spans[1].begin == 10 && spans[1].end == 15);
    privacy_scanner_free(scanner);
}

static void test_a_pattern_is_found_at_every_place_of_a_long_text(void)
{
    enum { BYTES = 40000, STEP = 61 };
    static char text[BYTES];
    static struct privacy_span spans[BYTES / STEP + 2];
    memset(text, '.', BYTES);
    size_t planted = 0;
    for (size_t at = 0; at + 3 < BYTES; at += STEP, planted++)
        memcpy(text + at, "QZ7", 3);
    struct privacy_scanner *scanner = scanner_with(with_pattern("QZ7", TD_CLASS_SENSITIVE), NULL);
    CHECK(privacy_scan(scanner, (struct td_str){text, BYTES}, spans, planted + 1) == planted);
    for (size_t i = 0; i < planted; i++)
        CHECK(spans[i].begin == i * STEP);
    privacy_scanner_free(scanner);
}

static void test_a_rules_finding_that_overlaps_another_becomes_one(void)
{
    struct privacy_span spans[4];
    struct privacy_scanner *scanner =
        scanner_with(with_pattern("order \\d{4}", TD_CLASS_SENSITIVE), NULL);
    struct td_str text = STR("the order 4111 1111 1111 1111 is late");
    REQUIRE(privacy_scan(scanner, text, spans, 4) == 1);
    CHECK(spans[0].kind == PRIVACY_CARD && spans[0].begin == 4 && spans[0].end == 29);
    privacy_scanner_free(scanner);
}

/* What shows the same is the same: invisible characters, full width, letters of other scripts. */
static void test_what_is_disguised_is_found_where_it_stands(void)
{
    static const struct {
        const char *text;
        size_t begin, end;
    } rows[] = {{"the Blue\xe2\x80\x8b"
                 "bird flies",
                 4, 15},
                {"the \xef\xbc\xa2luebird flies", 4, 14},
                {"the Blu\xd0\xb5"
                 "bird flies",
                 4, 13},
                {"the Red\xc2\xa0"
                 "Fox",
                 4, 12},
                {"ask E\xe2\x80\x8bMP-1\xe2\x80\x8b"
                 "2345.",
                 4, 19},
                {"ask \xef\xbc\xa5\xef\xbc\xad\xef\xbc\xb0-12345", 4, 19},
                {"ask EM\xd0\xa0-12345", 4, 14}};
    struct td_error err = {0};
    struct privacy_rules *rules = with_pattern("EMP-\\d{5}", TD_CLASS_RESTRICTED);
    REQUIRE(privacy_rules_add_words(rules, "PROJECT", STR("Bluebird\nRed Fox\n"),
                                    TD_CLASS_SENSITIVE, &err) == TD_OK);
    struct privacy_scanner *scanner = scanner_with(rules, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct privacy_span spans[4];
        size_t count = privacy_scan(scanner, str_from(rows[i].text), spans, 4);
        CHECK(count == 1 && spans[0].kind == PRIVACY_CUSTOM);
        CHECK(count == 1 && spans[0].begin == rows[i].begin && spans[0].end == rows[i].end);
        if (count != 1 || spans[0].begin != rows[i].begin || spans[0].end != rows[i].end)
            fprintf(stderr, "  row %zu: %zu found, %zu to %zu\n", i, count,
                    count ? spans[0].begin : 0, count ? spans[0].end : 0);
    }
    privacy_scanner_free(scanner);
}

/* Who forgot to make a scanner must not find that there is nothing. */
static void test_without_a_scanner_the_whole_text_is_restricted(void)
{
    const struct td_str text = STR("nothing to see here");
    struct privacy_span span;
    CHECK(privacy_scan(NULL, text, &span, 1) == 1);
    CHECK(span.begin == 0 && span.end == text.len && span.data_class == TD_CLASS_RESTRICTED);
    CHECK(privacy_scan_strict(NULL, text, &span, 1) == 1 && span.end == text.len);
    CHECK(privacy_classify(NULL, text, NULL) == TD_CLASS_RESTRICTED);
    CHECK(privacy_classify(NULL, STR(""), NULL) == TD_CLASS_RESTRICTED);
}

/* --- what is taken, at its limits --- */

static enum td_status add_named(const char *name)
{
    struct privacy_rules *rules = privacy_rules_new();
    if (rules == NULL)
        return TD_NO_MEMORY;
    enum td_status as_pattern =
        privacy_rules_add_pattern(rules, name, "x", TD_CLASS_SENSITIVE, 0.5, NULL);
    enum td_status as_words =
        privacy_rules_add_words(rules, name, STR("x"), TD_CLASS_SENSITIVE, NULL);
    CHECK(as_pattern == as_words);
    privacy_rules_free(rules);
    return as_pattern;
}

static void test_a_name_has_1_to_64_letters_digits_and_two_signs(void)
{
    char name[80];
    for (size_t len = 0; len < sizeof name; len++) {
        memset(name, 'N', len);
        name[len] = '\0';
        CHECK(add_named(name) == (len >= 1 && len <= 64 ? TD_OK : TD_INVALID));
    }
    for (int c = 1; c < 256; c++)
        for (int at = 0; at < 3; at++) {
            char spelled[] = "abc";
            spelled[at] = (char)c;
            bool taken =
                strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-", c);
            CHECK(add_named(spelled) == (taken ? TD_OK : TD_INVALID));
        }
}

static void test_as_many_rules_as_the_limit_says_are_taken_and_all_are_found(void)
{
    struct td_error err = {0};
    static struct privacy_span spans[PRIVACY_RULES_MAX + 1];
    static char text[16 * PRIVACY_RULES_MAX];
    char name[16], word[16], *end = text;
    struct privacy_rules *rules = privacy_rules_new();
    REQUIRE(rules != NULL);
    for (int i = 0; i < PRIVACY_RULES_MAX; i++) {
        snprintf(name, sizeof name, "R%d", i);
        snprintf(word, sizeof word, "quz%dx", i);
        end += sprintf(end, "%s ", word);
        CHECK((i % 2
                   ? privacy_rules_add_words(rules, name, str_from(word), TD_CLASS_SENSITIVE, &err)
                   : privacy_rules_add_pattern(rules, name, word, TD_CLASS_RESTRICTED, 0.75,
                                               &err)) == TD_OK);
    }
    CHECK(privacy_rules_add_words(rules, "MORE", STR("x"), TD_CLASS_SENSITIVE, &err) == TD_LIMIT);
    CHECK(privacy_rules_add_pattern(rules, "MORE", "x", TD_CLASS_SENSITIVE, 0.5, &err) == TD_LIMIT);
    struct privacy_scanner *scanner = scanner_with(rules, NULL);
    REQUIRE(privacy_scan(scanner, str_from(text), spans, PRIVACY_RULES_MAX + 1) ==
            PRIVACY_RULES_MAX);
    for (int i = 0; i < PRIVACY_RULES_MAX; i++) {
        snprintf(name, sizeof name, "R%d", i);
        CHECK(strcmp(span_name(&spans[i]), name) == 0);
        CHECK(spans[i].data_class == (i % 2 ? TD_CLASS_SENSITIVE : TD_CLASS_RESTRICTED));
        CHECK(spans[i].score == (i % 2 ? 0.9f : 0.75f));
    }
    privacy_scanner_free(scanner);
}

static void test_a_phrase_has_up_to_256_bytes(void)
{
    char line[300], text[280];
    for (size_t len = 250; len < 262; len++)
        for (int blanks = 0; blanks < 2; blanks++) { /* more blanks than one do not count */
            struct td_error err = {0};
            struct privacy_rules *rules = privacy_rules_new();
            REQUIRE(rules != NULL);
            memset(text, 'w', len);
            text[100] = ' ';
            text[len] = '\0';
            snprintf(line, sizeof line, "%.100s%s%.160s\n", text, blanks ? " \t  " : " ",
                     text + 101);
            bool taken = len <= 256;
            CHECK(privacy_rules_add_words(rules, "W", str_from(line), TD_CLASS_SENSITIVE, &err) ==
                  (taken ? TD_OK : TD_LIMIT));
            CHECK(taken == (strstr(err.message, "line 1") == NULL));
            struct privacy_scanner *scanner = scanner_with(rules, NULL);
            struct privacy_span found;
            if (taken)
                CHECK(privacy_scan(scanner, str_from(text), &found, 1) == 1 && found.begin == 0 &&
                      found.end == len);
            privacy_scanner_free(scanner);
        }
}

static void test_a_list_without_a_word_is_refused_also_after_one_with_words(void)
{
    static const char *const empty[] = {"", "\n", "# only\n# words\n", "  \n\t\n"};
    for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
        for (int after = 0; after < 2; after++) {
            struct td_error err = {0};
            struct privacy_rules *rules = privacy_rules_new();
            if (after)
                CHECK(privacy_rules_add_words(rules, "A", STR("x"), TD_CLASS_SENSITIVE, &err) ==
                      TD_OK);
            CHECK(privacy_rules_add_words(rules, "B", str_from(empty[i]), TD_CLASS_SENSITIVE,
                                          &err) == TD_INVALID);
            CHECK(strstr(err.message, "no word") != NULL);
            privacy_rules_free(rules);
        }
}

/* --- where words begin and end --- */

static void test_a_phrase_is_found_between_what_is_no_letter_and_no_digit(void)
{
    static const struct {
        const char *phrase, *text;
        size_t begin, end; /* equal: not there */
    } rows[] = {
        {"red fox", "red fox", 0, 7},
        {"red fox", "a red fox.", 2, 9},
        {"red fox", "red\tfox", 0, 7},
        {"red fox", "red\nfox", 0, 7},
        {"red fox", "red\r\n fox", 0, 9},
        {"red fox", "red  \t fox!", 0, 10},
        {"red fox", "redfox", 0, 0},
        {"red fox", "red-fox", 0, 0},
        {"red fox", "red fo", 0, 0},
        {"red fox", "red ", 0, 0},
        {"red fox", "red", 0, 0},
        {"red fox", "red foxy", 0, 0},
        {"red fox", "red fox2", 0, 0},
        {"red fox", "red fox\xc3\xa9", 0, 0},
        {"red fox", "bred fox", 0, 0},
        {"red fox", "2red fox", 0, 0},
        {"red fox", "\xc3\xa9red fox", 0, 0},
        {"red fox", "red red fox", 4, 11},
        {"RED FOX", "rEd FoX", 0, 7},
        {"c++", "use C++20", 4, 7},
        {"c++", "use C++", 4, 7},
        {"c++", "use C+", 0, 0},
        {"\xc3\x84rger", "viel \xc3\x84rger.", 5, 11},
        {"7up", "a 7UP b", 2, 5},
        {"@x", "", 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct privacy_span spans[2];
        struct privacy_rules *rules = privacy_rules_new();
        enum td_status status =
            privacy_rules_add_words(rules, "W", str_from(rows[i].phrase), TD_CLASS_SENSITIVE, NULL);
        CHECK(status == (rows[i].text[0] ? TD_OK : TD_INVALID));
        struct privacy_scanner *scanner = scanner_with(rules, NULL);
        size_t count = privacy_scan(scanner, str_from(rows[i].text), spans, 2);
        bool there = rows[i].begin < rows[i].end;
        bool right = count == there &&
                     (!there || (spans[0].begin == rows[i].begin && spans[0].end == rows[i].end));
        CHECK(right);
        if (!right)
            fprintf(stderr, "  \"%s\" in \"%s\": %zu found\n", rows[i].phrase, rows[i].text, count);
        privacy_scanner_free(scanner);
    }
}

/* Every word of long lists, whatever its place in the table. */
static void test_each_word_of_long_lists_is_found_and_no_other(void)
{
    enum { WORDS = 20000 };
    struct privacy_rules *rules = privacy_rules_new();
    char *list = malloc(WORDS * 16), *end = list;
    REQUIRE(rules != NULL && list != NULL);
    for (unsigned i = 0; i < WORDS; i++)
        end += sprintf(end, "w%ux\n", i * 2);
    struct td_str all = {list, (size_t)(end - list)};
    size_t half = str_find(all, STR("w20000x"), 0);
    CHECK(privacy_rules_add_words(rules, "A", str_slice(all, 0, half), TD_CLASS_SENSITIVE, NULL) ==
          TD_OK);
    CHECK(privacy_rules_add_words(rules, "B", str_slice(all, half, all.len), TD_CLASS_RESTRICTED,
                                  NULL) == TD_OK);
    for (unsigned i = 0; i < 2 * WORDS; i++) {
        char word[16];
        struct privacy_span *spans;
        snprintf(word, sizeof word, "w%ux", i);
        size_t count = privacy_rules_find(rules, str_from(word), &spans);
        CHECK(count == (i % 2 == 0));
        CHECK(count == 0 ||
              spans[0].data_class == (i < 20000 ? TD_CLASS_SENSITIVE : TD_CLASS_RESTRICTED));
        free(spans);
    }
    free(list);
    privacy_rules_free(rules);
}

/* --- what patterns find --- */

/* Starts are tried by portions: neither a portion's end nor a character of several bytes there may
 * hide a match, or double it. */
static void test_a_pattern_is_found_wherever_a_portion_ends(void)
{
    static char text[12000];
    static const char *const fillers[] = {".", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x99\x82"};
    struct privacy_rules *rules = with_pattern("\xc3\xbc[0-9]{2}", TD_CLASS_SENSITIVE);
    REQUIRE(rules != NULL);
    for (size_t f = 0; f < 4; f++)
        for (size_t offset = 0; offset < 2; offset++)
            for (size_t near = 4080; near < 4110; near++) {
                size_t len = 0, step = strlen(fillers[f]), planted = 0;
                while (len < 9000) {
                    if (planted == 0 && len + step > near) {
                        planted = len;
                        len += (size_t)sprintf(text + len, "\xc3\xbc"
                                                           "42");
                    }
                    memcpy(text + len, len < offset ? "." : fillers[f], len < offset ? 1 : step);
                    len += len < offset ? 1 : step;
                }
                struct privacy_span *spans;
                size_t count = privacy_rules_find(rules, (struct td_str){text, len}, &spans);
                CHECK(count == 1 && spans[0].begin == planted && spans[0].end == planted + 4);
                free(spans);
            }
    privacy_rules_free(rules);
}

static void test_findings_come_in_order_whichever_rule_made_them(void)
{
    struct privacy_span *spans;
    struct privacy_rules *rules = with_pattern("z[0-9]", TD_CLASS_SENSITIVE);
    REQUIRE(rules != NULL);
    CHECK(privacy_rules_add_pattern(rules, "Y", "y[0-9]", TD_CLASS_RESTRICTED, 0.5, NULL) == TD_OK);
    CHECK(privacy_rules_add_words(rules, "W", STR("mole\nvole"), TD_CLASS_SENSITIVE, NULL) ==
          TD_OK);
    size_t count = privacy_rules_find(rules, STR("z1 vole y2 z3 y4 mole"), &spans);
    static const size_t begins[] = {0, 3, 8, 11, 14, 17};
    REQUIRE(count == 6);
    for (size_t i = 0; i < 6; i++)
        CHECK(spans[i].begin == begins[i]);
    free(spans);
    privacy_rules_free(rules);
}

/* A pattern may match at a place without taking a character; that is no finding, and no end. */
static void test_a_match_of_nothing_is_no_finding(void)
{
    static const struct {
        const char *regex;
        size_t count;
    } rows[] = {{"\\b", 0},    {"(?=x)", 0},    {"(?=x)|x1", 0},
                {"\\b|yy", 0}, {"x1|(?=x)", 2}, {"(?<=x)1", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct privacy_span *spans;
        struct privacy_rules *rules = with_pattern(rows[i].regex, TD_CLASS_SENSITIVE);
        REQUIRE(rules != NULL);
        CHECK(privacy_rules_find(rules, STR("x1 a x1 \xc3\xa9"), &spans) == rows[i].count);
        free(spans);
        privacy_rules_free(rules);
    }
}

static void test_more_findings_than_the_limit_keep_the_whole_text(void)
{
    enum { FINDINGS_MAX = 100000 };
    struct privacy_rules *rules = with_pattern("x", TD_CLASS_PUBLIC);
    char *text = malloc(FINDINGS_MAX + 1);
    REQUIRE(rules != NULL && text != NULL);
    memset(text, 'x', FINDINGS_MAX + 1);
    for (size_t len = FINDINGS_MAX - 1; len <= FINDINGS_MAX + 1; len++) {
        struct privacy_span *spans;
        size_t count = privacy_rules_find(rules, (struct td_str){text, len}, &spans);
        CHECK(count == (len <= FINDINGS_MAX ? len : 1));
        if (len > FINDINGS_MAX)
            CHECK(spans[0].data_class == TD_CLASS_RESTRICTED && spans[0].begin == 0 &&
                  spans[0].end == len);
        free(spans);
    }
    free(text);
    privacy_rules_free(rules);
}

int main(void)
{
    RUN(test_without_a_scanner_the_whole_text_is_restricted);
    RUN(test_a_pattern_gives_its_class_name_and_place);
    RUN(test_words_and_phrases_stand_alone_in_any_case);
    RUN(test_of_phrases_that_begin_alike_the_longest_is_found);
    RUN(test_what_cannot_be_right_is_refused_with_words);
    RUN(test_catastrophic_patterns_end_and_keep_the_text);
    RUN(test_patterns_find_beside_bytes_that_are_no_text);
    RUN(test_a_pattern_is_found_at_every_place_of_a_long_text);
    RUN(test_a_rules_finding_that_overlaps_another_becomes_one);
    RUN(test_what_is_disguised_is_found_where_it_stands);
    RUN(test_a_name_has_1_to_64_letters_digits_and_two_signs);
    RUN(test_as_many_rules_as_the_limit_says_are_taken_and_all_are_found);
    RUN(test_a_phrase_has_up_to_256_bytes);
    RUN(test_a_list_without_a_word_is_refused_also_after_one_with_words);
    RUN(test_a_phrase_is_found_between_what_is_no_letter_and_no_digit);
    RUN(test_each_word_of_long_lists_is_found_and_no_other);
    RUN(test_a_pattern_is_found_wherever_a_portion_ends);
    RUN(test_findings_come_in_order_whichever_rule_made_them);
    RUN(test_a_match_of_nothing_is_no_finding);
    RUN(test_more_findings_than_the_limit_keep_the_whole_text);
    return test_finish();
}

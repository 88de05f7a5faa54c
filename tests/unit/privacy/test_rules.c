/* The operator's patterns and words: what they find, what is refused, and that what cannot be
 * finished within its limits keeps the text here. */
#include "privacy/scan/privacy.h"

#include "base/str.h"
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
    struct td_str text = STR("ask EMP-12345 or a@example.com or EMP-54321");
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

int main(void)
{
    RUN(test_without_a_scanner_the_whole_text_is_restricted);
    RUN(test_a_pattern_gives_its_class_name_and_place);
    RUN(test_words_and_phrases_stand_alone_in_any_case);
    RUN(test_what_cannot_be_right_is_refused_with_words);
    RUN(test_catastrophic_patterns_end_and_keep_the_text);
    RUN(test_patterns_find_beside_bytes_that_are_no_text);
    RUN(test_a_pattern_is_found_at_every_place_of_a_long_text);
    RUN(test_a_rules_finding_that_overlaps_another_becomes_one);
    RUN(test_what_is_disguised_is_found_where_it_stands);
    return test_finish();
}

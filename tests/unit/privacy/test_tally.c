/* What is counted by type: an operator's rules by their own names, whatever is reloaded
 * meanwhile. */
#include "privacy/scan/tally.h"

#include "base/core/str.h"
#include "privacy/pseudonym/mask.h"
#include "privacy/scan/privacy.h"
#include "scanners.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static struct privacy_rules *two_rules(const char *pattern_name, const char *words_name)
{
    struct td_error err = {0};
    struct privacy_rules *rules = privacy_rules_new();
    CHECK(rules && privacy_rules_add_pattern(rules, pattern_name, "EMP-\\d{5}", TD_CLASS_SENSITIVE,
                                             0.8, &err) == TD_OK);
    CHECK(privacy_rules_add_words(rules, words_name, STR("Bluebird\n"), TD_CLASS_SENSITIVE, &err) ==
          TD_OK);
    return rules;
}

static uint32_t count_of(const struct privacy_tally *tally, const char *name)
{
    struct privacy_tally_row rows[PRIVACY_TALLY_ROWS_MAX];
    size_t count = privacy_tally_rows(tally, rows);
    uint32_t found = 0, times = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].name, name) == 0) {
            found = rows[i].count;
            times++;
        }
    CHECK(times <= 1); /* names are keys of JSON objects */
    return found;
}

static void test_rules_are_counted_by_their_names(void)
{
    struct privacy_tally tally = {0};
    struct privacy_scanner *scanner = scanner_with(two_rules("STAFF_ID", "PROJECT"), NULL);
    (void)privacy_classify(scanner, STR("EMP-12345 and EMP-54321 of bluebird, a@acmeltd.com"),
                           &tally);
    CHECK(count_of(&tally, "STAFF_ID") == 2 && count_of(&tally, "PROJECT") == 1);
    CHECK(count_of(&tally, "EMAIL_ADDRESS") == 1 && count_of(&tally, "CUSTOM") == 0);
    privacy_scanner_free(scanner);
    CHECK(count_of(&tally, "STAFF_ID") == 2);
}

static void test_a_finding_has_the_name_of_its_own_scanners_rule(void)
{
    struct privacy_span before, after;
    struct privacy_scanner *old = scanner_with(two_rules("STAFF_ID", "PROJECT"), NULL);
    struct privacy_scanner *new = scanner_with(two_rules("OTHER_ID", "OTHER"), NULL);
    REQUIRE(privacy_scan(old, STR("EMP-12345"), &before, 1) == 1);
    REQUIRE(privacy_scan(new, STR("EMP-12345"), &after, 1) == 1);
    CHECK(strcmp(span_name(&before), "STAFF_ID") == 0 &&
          strcmp(span_name(&after), "OTHER_ID") == 0);
    privacy_scanner_free(old);
    CHECK(strcmp(span_name(&after), "OTHER_ID") == 0);
    privacy_scanner_free(new);
    const struct privacy_span unread = privacy_unread(STR("x"));
    CHECK(strcmp(span_name(&unread), "RULE_OVER_LIMIT") == 0);
}

static void test_rules_of_one_name_and_of_a_kinds_name_are_one_row(void)
{
    struct privacy_tally tally = {0};
    struct privacy_scanner *scanner = scanner_with(two_rules("PERSON", "PERSON"), NULL);
    (void)privacy_classify(scanner, STR("EMP-12345 bluebird"), &tally);
    privacy_tally_add(&tally, &(struct privacy_span){.kind = PRIVACY_PERSON});
    CHECK(count_of(&tally, "PERSON") == 3);
    privacy_scanner_free(scanner);
}

static void test_more_rules_than_are_named_are_counted_together(void)
{
    struct privacy_tally tally = {0};
    char name[PRIVACY_RULE_NAME_BYTES];
    for (int rule = 0; rule < PRIVACY_TALLY_RULES + 5; rule++) {
        snprintf(name, sizeof name, "RULE_%d", rule);
        privacy_tally_add(&tally, &(struct privacy_span){.kind = PRIVACY_CUSTOM, .rule = name});
    }
    CHECK(tally.rule_count == PRIVACY_TALLY_RULES);
    CHECK(count_of(&tally, "RULE_0") == 1 && count_of(&tally, "CUSTOM") == 5);
}

/* Also where only the mask knows the value again, because no detector saw it. */
static void test_what_was_replaced_is_counted_by_rule(void)
{
    static const uint8_t key[KEYED_KEY_BYTES] = {1};
    struct td_error err = {0};
    struct vault_uses *uses = calloc(1, sizeof *uses);
    struct vault *vault = vault_with_key(key);
    enum td_data_class rest = TD_CLASS_PUBLIC;
    struct buf out;
    buf_init(&out, 4096);
    struct privacy_scanner *scanner = scanner_with(two_rules("STAFF_ID", "PROJECT"), NULL);
    const struct mask_rules sensitive = {.scanner = scanner,
                                         .classes = {[TD_CLASS_SENSITIVE] = true}};
    REQUIRE(uses && vault);
    struct mask *mask = mask_new(vault, &sensitive, uses);
    const struct td_str text = STR("EMP-12345, bluebird, emp-12345, b@acmeltd.com");
    CHECK(mask_one(mask, text, &out, &rest, &err) == TD_OK);
    CHECK(str_find(buf_view(&out), STR("12345"), 0) == SIZE_MAX);
    CHECK(count_of(mask_replaced(mask), "STAFF_ID") == 2);
    CHECK(count_of(mask_replaced(mask), "PROJECT") == 1);
    CHECK(count_of(mask_replaced(mask), "EMAIL_ADDRESS") == 1);
    CHECK(count_of(mask_replaced(mask), "CUSTOM") == 0);
    mask_free(mask);
    vault_uses_deinit(uses);
    free(uses);
    vault_free(vault);
    buf_deinit(&out);
    privacy_scanner_free(scanner);
}

int main(void)
{
    RUN(test_rules_are_counted_by_their_names);
    RUN(test_a_finding_has_the_name_of_its_own_scanners_rule);
    RUN(test_rules_of_one_name_and_of_a_kinds_name_are_one_row);
    RUN(test_more_rules_than_are_named_are_counted_together);
    RUN(test_what_was_replaced_is_counted_by_rule);
    return test_finish();
}

/* The vault: related spellings stay related, limits hold, nothing collides; and the automaton below
 * it. */
#include "test.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "privacy/pseudonym/vault.h"
#include "privacy/text/automaton.h"

#include <stdbool.h>

static const uint8_t key[KEYED_KEY_BYTES] = {3};

static struct td_str view(const char *text)
{
    return (struct td_str){text, strlen(text)};
}

static const char *replace(struct vault *vault, enum privacy_kind kind, const char *value,
                           const struct word_set *taken)
{
    static char copies[8][512];
    static size_t next;
    char *copy = copies[next++ % 8];
    struct td_error err = {0};
    struct buf out;
    buf_init(&out, 1 << 16);
    bool ok = vault_replace(vault, kind, view(value), taken, NULL, &out, &err) == TD_OK;
    snprintf(copy, sizeof copies[0], "%s", ok && out.data ? out.data : err.message);
    buf_deinit(&out);
    return copy;
}

static void test_parts_of_a_name_stay_related(void)
{
    struct vault *vault = vault_with_key(key);
    char full[512], first[64], last[64];
    snprintf(full, sizeof full, "%s", replace(vault, PRIVACY_PERSON, "John Smith", NULL));
    REQUIRE(sscanf(full, "%63s %63s", first, last) == 2);
    CHECK(strcmp(replace(vault, PRIVACY_PERSON, "Smith", NULL), last) == 0);
    CHECK(strcmp(replace(vault, PRIVACY_PERSON, "John", NULL), first) == 0);
    char expected[256];
    snprintf(expected, sizeof expected, "Dr. %s", last);
    CHECK(strcmp(replace(vault, PRIVACY_PERSON, "Dr. Smith", NULL), expected) == 0);
    snprintf(expected, sizeof expected, "%c. %s", first[0], last);
    CHECK(strcmp(replace(vault, PRIVACY_PERSON, "J. Smith", NULL), expected) == 0);
    snprintf(expected, sizeof expected, "%s, %s", last, first);
    CHECK(strcmp(replace(vault, PRIVACY_PERSON, "Smith, John", NULL), expected) == 0);
    const char *upper = replace(vault, PRIVACY_PERSON, "SMITH", NULL);
    CHECK(upper[0] == last[0] && upper[1] == (last[1] & ~0x20));
    const char *mary = replace(vault, PRIVACY_PERSON, "Mary Smith", NULL);
    CHECK(str_ends_with(view(mary), view(last)) && strncmp(mary, first, strlen(first)) != 0);
    vault_free(vault);
}

static void test_a_womans_name_in_cyrillic_stays_one(void)
{
    struct vault *vault = vault_with_key(key);
    char first[64], last[64];
    REQUIRE(sscanf(replace(vault, PRIVACY_PERSON, "Анна Петрова", NULL), "%63s %63s", first,
                   last) == 2);
    CHECK(str_ends_with(view(first), STR("а")) || str_ends_with(view(first), STR("я")));
    CHECK(str_ends_with(view(last), STR("а")) || str_ends_with(view(last), STR("ая")));
    vault_free(vault);
}

static void test_a_firm_keeps_what_kind_of_firm_it_is(void)
{
    struct vault *vault = vault_with_key(key);
    const char *firm = replace(vault, PRIVACY_ORGANIZATION, "Contoso Insurance GmbH", NULL);
    CHECK(str_ends_with(view(firm), STR(" Insurance GmbH")) && strstr(firm, "Contoso") == NULL);
    const char *street = replace(vault, PRIVACY_ADDRESS, "Lindenstraße 12", NULL);
    CHECK(strstr(street, "straße ") != NULL && strstr(street, "Linden") == NULL);
    vault_free(vault);
}

static void test_ten_thousand_values_have_ten_thousand_surrogates(void)
{
    struct vault *vault = vault_with_key(key);
    for (int i = 0; i < 10000; i++) {
        char value[64];
        snprintf(value, sizeof value, "user%d@host%d.com", i, i % 77);
        (void)replace(vault, PRIVACY_EMAIL, value, NULL);
    }
    CHECK(vault_count(vault) == 10000);
    struct word_set seen = {0};
    for (uint32_t i = 0; i < vault_count(vault); i++) {
        struct td_str surrogate = vault_at(vault, i).surrogate;
        CHECK(!word_set_has(&seen, surrogate));
        word_set_add_joined(&seen, surrogate);
    }
    word_set_deinit(&seen);
    vault_free(vault);
}

static void test_a_full_vault_refuses_and_keeps_what_it_has(void)
{
    struct vault *vault = vault_with_key(key);
    struct td_error err = {0};
    struct buf out;
    buf_init(&out, 1 << 22);
    enum td_status status = TD_OK;
    for (int i = 0; status == TD_OK && i < 20000; i++) {
        char value[32];
        snprintf(value, sizeof value, "ID-%07d", i);
        status = vault_replace(vault, PRIVACY_CUSTOM, view(value), NULL, NULL, &out, &err);
    }
    CHECK(status == TD_LIMIT && strstr(err.message, "more private values") != NULL);
    CHECK(vault_count(vault) == VAULT_ENTRIES_MAX);
    CHECK(vault_replace(vault, PRIVACY_CUSTOM, STR("ID-0000000"), NULL, NULL, &out, &err) == TD_OK);
    char *large = calloc(1, VAULT_VALUE_BYTES_MAX + 2);
    memset(large, 'a', VAULT_VALUE_BYTES_MAX + 1);
    CHECK(vault_replace(vault, PRIVACY_CUSTOM, view(large), NULL, NULL, &out, &err) == TD_LIMIT);
    free(large);
    buf_deinit(&out);
    vault_free(vault);
}

static void test_a_surrogate_avoids_every_word_that_is_taken(void)
{
    struct word_set taken = {0};
    char before[64] = "";
    for (int i = 0; i < 40; i++) { /* each answer becomes a word of the text */
        struct vault *vault = vault_with_key(key);
        char name[64];
        snprintf(name, sizeof name, "%.60s", replace(vault, PRIVACY_PERSON, "Smith", &taken));
        CHECK(!word_set_has(&taken, view(name)) && strcmp(name, before) != 0);
        memcpy(before, name, sizeof before);
        word_set_add(&taken, view(name));
        vault_free(vault);
    }
    word_set_deinit(&taken);
}

static void test_the_automaton_finds_what_a_plain_search_finds(void)
{
    struct rng rng;
    rng_init(&rng, 5);
    for (int round = 0; round < 200; round++) {
        char words[12][8], text[200];
        struct automaton *automaton = automaton_new(4096);
        for (uint32_t i = 0; i < 12; i++) {
            size_t len = 1 + rng_below(&rng, 6);
            for (size_t k = 0; k < len; k++)
                words[i][k] = (char)('a' + (char)rng_below(&rng, 2));
            words[i][len] = '\0';
            uint32_t value = i;
            REQUIRE(automaton_add(automaton, view(words[i]), NULL, &value));
        }
        REQUIRE(automaton_seal(automaton));
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = (char)('a' + (char)rng_below(&rng, 2));
        uint32_t state = AUTOMATON_ROOT;
        for (size_t end = 1; end <= sizeof text; end++) {
            state = automaton_step(automaton, state, (unsigned char)text[end - 1]);
            size_t longest = 0, found = 0;
            for (int i = 0; i < 12; i++) {
                size_t len = strlen(words[i]);
                if (len <= end && memcmp(text + end - len, words[i], len) == 0 && len > longest)
                    longest = len;
            }
            uint32_t whole = automaton_value(automaton, state) != AUTOMATON_NONE
                                 ? state
                                 : automaton_next_whole(automaton, state);
            if (whole != AUTOMATON_NONE)
                found = automaton_depth(automaton, whole);
            CHECK(found == longest);
        }
        automaton_free(automaton);
    }
}

static void test_the_automaton_keeps_to_its_limit(void)
{
    struct automaton *automaton = automaton_new(10);
    uint32_t value = 1, again = 2;
    CHECK(automaton_add(automaton, STR("abcde"), NULL, &value));
    CHECK(automaton_add(automaton, STR("abcde"), NULL, &again) && again == 1);
    CHECK(!automaton_add(automaton, STR("vwxyz"), NULL, &value));
    CHECK(!automaton_add(automaton, STR(""), NULL, &value));
    automaton_free(automaton);
}

/* "2" has ten surrogates of its own shape, and all of them stand in the texts or are another's. */
static void test_a_value_of_one_digit_has_a_surrogate_of_its_own_where_no_digit_is_left(void)
{
    struct vault *vault = vault_with_key(key);
    struct word_set digits = {0};
    char seen[10][64];
    for (int i = 0; i < 10; i++) {
        char value[2] = {(char)('0' + i), '\0'};
        snprintf(seen[i], sizeof seen[i], "%s", replace(vault, PRIVACY_ADDRESS, value, NULL));
        for (int k = 0; k < i; k++)
            CHECK(strcmp(seen[i], seen[k]) != 0);
    }
    word_set_add(&digits, view("0 1 2 3 4 5 6 7 8 9"));
    const char *word = replace(vault, PRIVACY_ADDRESS, "2", &digits);
    CHECK(strlen(word) > 1 && strspn(word, "abcdefghijklmnopqrstuvwxyz") == strlen(word));
    word_set_deinit(&digits);
    vault_free(vault);
}

/* The ranges for documentation have some 760 addresses. */
static void test_addresses_of_machines_have_surrogates_when_the_ranges_are_used_up(void)
{
    struct vault *vault = vault_with_key(key);
    size_t words = 0;
    for (int i = 0; i < 2000; i++) {
        char value[32];
        snprintf(value, sizeof value, "81.2.%d.%d", i / 250, i % 250 + 1);
        const char *surrogate = replace(vault, PRIVACY_IP, value, NULL);
        bool word = strspn(surrogate, "abcdefghijklmnopqrstuvwxyz") == 12 && !surrogate[12];
        CHECK(word || strspn(surrogate, "0123456789.") == strlen(surrogate));
        words += word;
    }
    CHECK(words > 1000 && vault_count(vault) == 2000);
    vault_free(vault);
}

/* The longest value that is replaced, and one byte more. */
static void test_a_value_has_a_longest_length(void)
{
    static const enum privacy_kind kinds[] = {PRIVACY_CUSTOM, PRIVACY_EMAIL, PRIVACY_PERSON};
    static char letters[VAULT_VALUE_BYTES_MAX + 1];
    memset(letters, 'a', sizeof letters);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t more = 0; more < 2; more++)
            for (int word = 0; word < 2; word++) {
                struct vault *vault = vault_with_key(key);
                struct buf out;
                buf_init(&out, 1 << 20);
                const struct td_str value = {letters, VAULT_VALUE_BYTES_MAX + more};
                enum td_status status = (word ? vault_replace_by_word : vault_replace)(
                    vault, kinds[i], value, NULL, NULL, &out, NULL);
                CHECK(status == (more ? TD_LIMIT : TD_OK) && (out.len == 0) == more);
                CHECK(str_find(buf_view(&out), value, 0) == SIZE_MAX);
                buf_deinit(&out);
                vault_free(vault);
            }
}

/* Each entry once, in the order of first use, and none after it was cleared. */
static void test_what_was_used_is_noted_once_and_in_order(void)
{
    static const char *const values[] = {"ID-1", "ID-2", "ID-1", "ID-3", "ID-2"};
    static const uint32_t last[] = {0, 1, 0, 2, 1};
    struct vault *vault = vault_with_key(key);
    struct vault_uses *uses = calloc(1, sizeof *uses);
    struct buf out;
    buf_init(&out, 1 << 16);
    REQUIRE(vault && uses);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 5; i++) {
            CHECK(vault_replace(vault, PRIVACY_CUSTOM, view(values[i]), NULL, uses, &out, NULL) ==
                  TD_OK);
            CHECK(uses->last == last[i]);
        }
        CHECK(uses->count == 3 && vault_count(vault) == 3);
        for (uint32_t i = 0; i < 3; i++)
            CHECK(uses->entries[i] == i);
        CHECK(vault_uses_count(vault, uses, PRIVACY_CUSTOM, 9) == 3);
        CHECK(vault_uses_count(vault, uses, PRIVACY_CUSTOM, 3) == 3);
        CHECK(vault_uses_count(vault, uses, PRIVACY_CUSTOM, 2) == 2);
        CHECK(vault_uses_count(vault, uses, PRIVACY_DATE, 9) == 0);
        vault_uses_clear(uses);
        CHECK(uses->count == 0);
    }
    for (int i = 0; i < 40; i++) { /* more than there was room for */
        char value[16];
        snprintf(value, sizeof value, "ID-%d", i);
        CHECK(vault_replace(vault, PRIVACY_CUSTOM, view(value), NULL, NULL, &out, NULL) == TD_OK);
    }
    CHECK(vault_uses_all(vault, uses, NULL) == TD_OK && uses->count == vault_count(vault));
    for (uint32_t i = 0; i < uses->count; i++)
        CHECK(uses->entries[i] == i);
    vault_uses_deinit(uses);
    free(uses);
    vault_free(vault);
    buf_deinit(&out);
}

/* Of one kind a value is not another kind's value, and what was retired gets another surrogate. */
static void test_a_value_is_of_its_kind_and_a_retired_surrogate_is_not_given_again(void)
{
    struct vault *vault = vault_with_key(key);
    char first[64], second[64], third[64];
    snprintf(first, sizeof first, "%s", replace(vault, PRIVACY_CUSTOM, "AB-123456", NULL));
    snprintf(second, sizeof second, "%s", replace(vault, PRIVACY_ID, "AB-123456", NULL));
    CHECK(strcmp(first, second) != 0 && vault_count(vault) == 2);
    vault_retire(vault, 0);
    snprintf(third, sizeof third, "%s", replace(vault, PRIVACY_CUSTOM, "AB-123456", NULL));
    CHECK(strcmp(first, third) != 0 && strcmp(second, third) != 0 && vault_count(vault) == 3);
    CHECK(strcmp(replace(vault, PRIVACY_ID, "AB-123456", NULL), second) == 0);
    CHECK(strcmp(replace(vault, PRIVACY_CUSTOM, "AB-123456", NULL), third) == 0);
    vault_free(vault);
}

int main(void)
{
    RUN(test_parts_of_a_name_stay_related);
    RUN(test_a_womans_name_in_cyrillic_stays_one);
    RUN(test_a_firm_keeps_what_kind_of_firm_it_is);
    RUN(test_ten_thousand_values_have_ten_thousand_surrogates);
    RUN(test_a_full_vault_refuses_and_keeps_what_it_has);
    RUN(test_a_surrogate_avoids_every_word_that_is_taken);
    RUN(test_the_automaton_finds_what_a_plain_search_finds);
    RUN(test_the_automaton_keeps_to_its_limit);
    RUN(test_a_value_of_one_digit_has_a_surrogate_of_its_own_where_no_digit_is_left);
    RUN(test_addresses_of_machines_have_surrogates_when_the_ranges_are_used_up);
    RUN(test_a_value_has_a_longest_length);
    RUN(test_what_was_used_is_noted_once_and_in_order);
    RUN(test_a_value_is_of_its_kind_and_a_retired_surrogate_is_not_given_again);
    return test_finish();
}

/* Surrogates: the shape stays, the value goes, nothing valid comes out, the key decides. */
#include "scanners.h"
#include "test.h"

#include "base/core/str.h"
#include "privacy/pseudonym/surrogate.h"
#include "privacy/pseudonym/surrogate_names.h"
#include "privacy/pseudonym/vault.h"
#include "privacy/scan/privacy.h"
#include "privacy/text/spell.h"

#include <stdbool.h>
#include <time.h>

static const uint8_t key_a[KEYED_KEY_BYTES] = {1}, key_b[KEYED_KEY_BYTES] = {2};

static struct td_str view(const char *text)
{
    return (struct td_str){text, strlen(text)};
}

/* The surrogate in a buffer that the next call uses again. */
static const char *write_one(enum privacy_kind kind, const char *value, const uint8_t *key,
                             uint32_t salt)
{
    static struct buf out;
    struct buf canonical;
    buf_deinit(&out);
    buf_init(&out, 65536);
    buf_init(&canonical, 65536);
    surrogate_canonical(kind, view(value), &canonical);
    surrogate_write(&(struct surrogate_request){.kind = kind,
                                                .value = view(value),
                                                .canonical = buf_view(&canonical),
                                                .key = key,
                                                .salt = salt},
                    &out);
    buf_deinit(&canonical);
    return out.data ? out.data : "";
}

static bool is_found(const char *before, const char *text, enum privacy_kind kind)
{
    char whole[512];
    struct privacy_span spans[16];
    snprintf(whole, sizeof whole, "%s%s", before, text);
    size_t count = privacy_scan(plain_scanner(), view(whole), spans, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        if (spans[i].kind == kind)
            return true;
    return false;
}

static void test_numbers_with_check_digits_never_have_right_ones(void)
{
    static const struct {
        enum privacy_kind kind;
        const char *before, *value;
    } cases[] = {
        {PRIVACY_CARD, "card ", "4111 1111 1111 1111"},
        {PRIVACY_CARD, "card ", "5500005555555559"},
        {PRIVACY_CARD, "card ", "3782-822463-10005"},
        {PRIVACY_IBAN, "", "DE89 3704 0044 0532 0130 00"},
        {PRIVACY_IBAN, "", "GB82WEST12345698765432"},
        {PRIVACY_DE_TAX_ID, "steuer-id ", "86095742719"},
        {PRIVACY_FR_NIR, "", "2 55 08 14 168 025 38"},
        {PRIVACY_BR_CPF, "", "529.982.247-25"},
        {PRIVACY_CH_AHV, "", "756.9217.0769.85"},
        {PRIVACY_US_SSN, "ssn ", "536-22-1234"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(
            is_found(cases[i].before, cases[i].value, cases[i].kind)); /* the test sees something */
        for (uint32_t salt = 0; salt < 40; salt++) {
            const char *other = write_one(cases[i].kind, cases[i].value, key_a, salt);
            CHECK(strlen(other) == strlen(cases[i].value));
            CHECK(strcmp(other, cases[i].value) != 0);
            if (is_found(cases[i].before, other, cases[i].kind))
                printf("%s -> %s\n", cases[i].value, other);
            CHECK(!is_found(cases[i].before, other, cases[i].kind));
        }
    }
}

static void test_separators_and_the_brand_stay(void)
{
    const char *card = write_one(PRIVACY_CARD, "4111-1111-1111-1111", key_a, 0);
    CHECK(card[0] == '4' && card[4] == '-' && card[9] == '-' && card[14] == '-');
    const char *iban = write_one(PRIVACY_IBAN, "DE89 3704 0044 0532 0130 00", key_a, 0);
    CHECK(strncmp(iban, "DE", 2) == 0 && iban[4] == ' ');
    CHECK(strncmp(write_one(PRIVACY_API_KEY, "sk-abcdefghijklmnopqrstuvwx", key_a, 0), "sk-", 3) ==
          0);
}

static void test_formats_of_one_number_get_the_same_digits(void)
{
    char spaced[64], plain[64];
    snprintf(spaced, sizeof spaced, "%s", write_one(PRIVACY_CARD, "4111 1111 1111 1111", key_a, 0));
    snprintf(plain, sizeof plain, "%s", write_one(PRIVACY_CARD, "4111111111111111", key_a, 0));
    CHECK(spell_hash(view(spaced)) == spell_hash(view(plain)));
    CHECK(strlen(plain) == 16);
}

static void test_addresses_are_of_the_ranges_for_documentation(void)
{
    for (uint32_t salt = 0; salt < 200; salt++) {
        const char *ip = write_one(PRIVACY_IP, "81.2.69.160", key_a, salt);
        CHECK(str_starts_with(view(ip), STR("192.0.2.")) ||
              str_starts_with(view(ip), STR("198.51.100.")) ||
              str_starts_with(view(ip), STR("203.0.113.")) ||
              str_starts_with(view(ip), STR("198.18.")) ||
              str_starts_with(view(ip), STR("198.19.")));
        const char *ip6 = write_one(PRIVACY_IP, "2a00:1450:4001:81b::200e", key_a, salt);
        CHECK(str_starts_with(view(ip6), STR("2001:db8:")));
        const char *mail = write_one(PRIVACY_EMAIL, "john.smith@acme.com", key_a, salt);
        CHECK(strstr(mail, ".example.") != NULL && strchr(mail, '@') != NULL);
        CHECK(strstr(mail, "smith") == NULL && strstr(mail, "acme") == NULL);
    }
}

static void test_telephone_numbers_are_those_kept_for_fiction(void)
{
    for (uint32_t salt = 0; salt < 50; salt++) {
        const char *us = write_one(PRIVACY_PHONE, "(415) 867-5309", key_a, salt);
        CHECK(strlen(us) == 14 && strncmp(us + 6, "555-01", 6) == 0);
        const char *plus = write_one(PRIVACY_PHONE, "+1 415 867 5309", key_a, salt);
        CHECK(strncmp(plus, "+1 ", 3) == 0 && strncmp(plus + 7, "555 01", 6) == 0);
        CHECK(strncmp(write_one(PRIVACY_PHONE, "07912 345678", key_a, salt), "07700 900", 9) == 0);
        CHECK(strncmp(write_one(PRIVACY_PHONE, "+44 20 7183 8750", key_a, salt), "+44 20 7946 0",
                      13) == 0);
        CHECK(strncmp(write_one(PRIVACY_PHONE, "06 12 34 56 78", key_a, salt), "06 39 98 0", 10) ==
              0);
        CHECK(strncmp(write_one(PRIVACY_PHONE, "+48 601 234 567", key_a, salt), "+48 000 ", 8) ==
              0);
    }
}

static void test_dates_move_together_and_stay_dates(void)
{
    static const char *const same_day[] = {"1980-05-06", "06.05.1980",  "May 6, 1980",
                                           "6 May 1980", "6. Mai 1980", "6 mai 1980"};
    char iso[32];
    snprintf(iso, sizeof iso, "%s", write_one(PRIVACY_DATE, same_day[0], key_a, 0));
    int year = 0, month = 0, day = 0;
    REQUIRE(sscanf(iso, "%d-%d-%d", &year, &month, &day) == 3);
    CHECK(month >= 1 && month <= 12 && day >= 1 && day <= 31 && year > 1970 && year < 1990);
    char expected[32];
    snprintf(expected, sizeof expected, "%02d.%02d.%04d", day, month, year);
    CHECK(strcmp(write_one(PRIVACY_DATE, same_day[1], key_a, 0), expected) == 0);
    for (size_t i = 2; i < sizeof same_day / sizeof *same_day; i++) {
        const char *other = write_one(PRIVACY_DATE, same_day[i], key_a, 0);
        char number[8];
        snprintf(number, sizeof number, "%d", year);
        CHECK(strstr(other, number) != NULL);
    }
    /* Spans stay: two dates a week apart are so again. */
    int y2, m2, d2;
    REQUIRE(sscanf(write_one(PRIVACY_DATE, "1980-05-13", key_a, 0), "%d-%d-%d", &y2, &m2, &d2) ==
            3);
    CHECK(y2 * 372 + m2 * 31 + d2 > year * 372 + month * 31 + day);
    CHECK(strcmp(write_one(PRIVACY_DATE, "Feb 29, 2024", key_a, 0), "Feb 29, 2024") != 0);
}

static void test_another_key_gives_another_surrogate_and_the_same_key_the_same(void)
{
    char first[128];
    snprintf(first, sizeof first, "%s", write_one(PRIVACY_EMAIL, "a.b@acme.com", key_a, 0));
    CHECK(strcmp(write_one(PRIVACY_EMAIL, "a.b@acme.com", key_a, 0), first) == 0);
    CHECK(strcmp(write_one(PRIVACY_EMAIL, "a.b@acme.com", key_b, 0), first) != 0);
    CHECK(strcmp(write_one(PRIVACY_EMAIL, "a.b@acme.com", key_a, 1), first) != 0);
}

static void test_a_private_key_becomes_a_short_block(void)
{
    static const char pem[] = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq\nXyZ/01+aa==\n"
                              "-----END RSA PRIVATE KEY-----";
    const char *other = write_one(PRIVACY_PRIVATE_KEY, pem, key_a, 0);
    CHECK(str_starts_with(view(other), STR("-----BEGIN RSA PRIVATE KEY-----\n")));
    CHECK(str_ends_with(view(other), STR("\n-----END RSA PRIVATE KEY-----")));
    CHECK(strstr(other, "MIIEpAIBAAKCAQEA7bq") == NULL);
}

static void test_any_bytes_keep_their_shape(void)
{
    for (int kind = 0; kind < PRIVACY_KIND_COUNT; kind++) {
        static const char *const odd[] = {"",  "x",     "\xff\xfe", "ä", "12",
                                          "@", "\\u00", "::",       "+", "-----BEGIN"};
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
            if (!surrogate_is_worded((enum privacy_kind)kind))
                (void)write_one((enum privacy_kind)kind, odd[i], key_a, 0);
    }
    CHECK(strlen(write_one(PRIVACY_CUSTOM, "EMP-12345", key_a, 0)) == 9);
    CHECK(write_one(PRIVACY_CUSTOM, "EMP-12345", key_a, 0)[3] == '-');
}

static void test_names_of_a_list_are_long_enough_and_told_apart_by_script(void)
{
    for (int group = 0; group < NAMES_GROUP_COUNT; group++)
        for (int part = 0; part < NAME_PART_COUNT; part++) {
            size_t count = surrogate_names_count((enum name_group)group, (enum name_part)part);
            CHECK(count >= 5);
            for (size_t i = 0; i < count; i++) {
                struct td_str name =
                    surrogate_names_at((enum name_group)group, (enum name_part)part, i);
                CHECK(spell_count(name) >= (group >= NAMES_CHINESE ? 2u : 3u));
                CHECK(spell_count(name) >= 1 &&
                      surrogate_names_part_of(name) == surrogate_names_part_of(name));
            }
        }
    CHECK(surrogate_names_group_of(view("Иван Петров")) == NAMES_CYRILLIC);
    CHECK(surrogate_names_group_of(view("Anna Kowalska")) == NAMES_SLAVIC);
    CHECK(surrogate_names_group_of(view("Jürgen Müller")) == NAMES_GERMAN);
    CHECK(surrogate_names_group_of(view("王小明")) == NAMES_CHINESE);
    CHECK(surrogate_names_group_of(view("John Smith")) == NAMES_ENGLISH);
    CHECK(surrogate_names_part_of(view("MARY")) == NAME_FEMALE &&
          surrogate_names_part_of(view("Xyzzy")) == NAME_FAMILY);
}

/* A date's surrogate is written as the date was: the same separators, as many digits in a year. */
static void test_a_dates_surrogate_has_the_dates_form(void)
{
    static const char *const dates[] = {"12/03/87",   "12.03.87",   "31.12.99",   "01-02-03",
                                        "12/03/1987", "1987-03-12", "12.03.1987", "1999/12/31"};
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++)
        for (uint8_t k = 1; k < 40; k++) { /* forward and backward, over a century's end */
            const uint8_t own[KEYED_KEY_BYTES] = {k};
            struct vault *vault = vault_with_key(own);
            struct buf out;
            buf_init(&out, 256);
            REQUIRE(vault_replace(vault, PRIVACY_DATE, str_from(dates[i]), NULL, NULL, &out,
                                  NULL) == TD_OK);
            bool same = out.len == strlen(dates[i]);
            for (size_t c = 0; same && c < out.len; c++) {
                bool digit = dates[i][c] >= '0' && dates[i][c] <= '9';
                same =
                    digit ? out.data[c] >= '0' && out.data[c] <= '9' : out.data[c] == dates[i][c];
            }
            if (!same)
                printf("%s became " STR_FMT "\n", dates[i], STR_ARG(buf_view(&out)));
            CHECK(same && !str_equal(buf_view(&out), str_from(dates[i])));
            buf_deinit(&out);
            vault_free(vault);
        }
}

/* Days since 1970, by the C library. */
static long day_number(int year, int month, int day)
{
    struct tm date = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
    return (long)(timegm(&date) / 86400);
}

/* How dates are written, and the places of year, month and day. late: only with a day beyond 12,
 * which tells that the form is this one. */
static const struct date_order {
    const char *write, *read;
    int year, month, day;
    bool late;
} orders[] = {
    {"%Y-%m-%d", "%d-%d-%d", 0, 1, 2, false}, {"%Y/%m/%d", "%d/%d/%d", 0, 1, 2, false},
    {"%d.%m.%Y", "%d.%d.%d", 2, 1, 0, false}, {"%d-%m-%Y", "%d-%d-%d", 2, 1, 0, false},
    {"%m/%d/%Y", "%d/%d/%d", 2, 0, 1, false}, {"%d/%m/%Y", "%d/%d/%d", 2, 1, 0, true},
    {"%m.%d.%Y", "%d.%d.%d", 2, 0, 1, true},  {"%m-%d-%Y", "%d-%d-%d", 2, 0, 1, true},
};

/* By how many days the surrogate of the day lies elsewhere. */
static long move_of(long day, const struct date_order *order, const uint8_t *key)
{
    char text[32];
    int numbers[3] = {0};
    time_t then = (time_t)day * 86400;
    struct tm date;
    strftime(text, sizeof text, order->write, gmtime_r(&then, &date));
    CHECK(sscanf(write_one(PRIVACY_DATE, text, key, 0), order->read, &numbers[0], &numbers[1],
                 &numbers[2]) == 3);
    return day_number(numbers[order->year], numbers[order->month], numbers[order->day]) - day;
}

/* Every day over the ends of years, leap years and a century, in every form: all move equally far,
 * so that the spans between them are what they were. */
static void test_every_day_moves_by_the_same_number_of_days(void)
{
    static const struct {
        int first, last; /* years */
    } stretches[] = {{1899, 1904}, {1999, 2004}, {2024, 2025}, {2099, 2101}};
    const uint8_t *const keys[] = {key_a, key_b};
    for (size_t k = 0; k < 2; k++) {
        const long shift = move_of(0, &orders[0], keys[k]);
        CHECK(shift != 0);
        for (size_t s = 0; s < sizeof stretches / sizeof *stretches; s++) {
            long last = day_number(stretches[s].last, 12, 31);
            for (long day = day_number(stretches[s].first, 1, 1); day <= last; day++)
                for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
                    time_t then = (time_t)day * 86400;
                    struct tm date;
                    if (orders[o].late && gmtime_r(&then, &date)->tm_mday <= 12)
                        continue;
                    CHECK(move_of(day, &orders[o], keys[k]) == shift);
                }
        }
    }
}

int main(void)
{
    RUN(test_numbers_with_check_digits_never_have_right_ones);
    RUN(test_separators_and_the_brand_stay);
    RUN(test_formats_of_one_number_get_the_same_digits);
    RUN(test_addresses_are_of_the_ranges_for_documentation);
    RUN(test_telephone_numbers_are_those_kept_for_fiction);
    RUN(test_dates_move_together_and_stay_dates);
    RUN(test_another_key_gives_another_surrogate_and_the_same_key_the_same);
    RUN(test_a_private_key_becomes_a_short_block);
    RUN(test_any_bytes_keep_their_shape);
    RUN(test_names_of_a_list_are_long_enough_and_told_apart_by_script);
    RUN(test_a_dates_surrogate_has_the_dates_form);
    RUN(test_every_day_moves_by_the_same_number_of_days);
    return test_finish();
}

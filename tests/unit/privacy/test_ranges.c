/* Numbers of cards and accounts at the edges of their ranges: for every beginning of four digits
 * and every length whether a brand has them, and for every country its length and neither one less
 * nor one more. The tables are written down here a second time. */
#include "scanners.h"
#include "test.h"

#include "privacy/scan/privacy.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LEN(n) (1u << (n))
#define SIXTEEN_ON (LEN(16) | LEN(17) | LEN(18) | LEN(19))
#define MAESTRO (LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19))

/* By the first four digits. */
static const struct brand {
    const char *name;
    unsigned first, last;
    uint32_t lengths;
} brands[] = {
    {"Visa", 4000, 4999, LEN(13) | LEN(16) | LEN(19)},
    {"Mastercard", 5100, 5599, LEN(16)},
    {"Mastercard, second range", 2221, 2720, LEN(16)},
    {"American Express", 3400, 3499, LEN(15)},
    {"American Express", 3700, 3799, LEN(15)},
    {"Diners", 3000, 3059, LEN(14) | LEN(16)},
    {"Diners", 3095, 3095, LEN(14) | LEN(16)},
    {"Diners", 3600, 3699, LEN(14) | LEN(16)},
    {"Diners", 3800, 3999, LEN(14) | LEN(16)},
    {"Discover", 6011, 6011, LEN(16) | LEN(19)},
    {"Discover", 6440, 6599, LEN(16) | LEN(19)},
    {"JCB", 3500, 3599, LEN(16)},
    {"JCB, longer ones", 3528, 3589, LEN(17) | LEN(18) | LEN(19)},
    {"JCB", 2131, 2131, LEN(15)},
    {"JCB", 1800, 1800, LEN(15)},
    {"UnionPay", 6200, 6299, SIXTEEN_ON},
    {"UnionPay", 8100, 8199, SIXTEEN_ON},
    {"Mir", 2200, 2204, SIXTEEN_ON},
    {"Maestro", 5018, 5018, MAESTRO},
    {"Maestro", 5020, 5020, MAESTRO},
    {"Maestro", 5038, 5038, MAESTRO},
    {"Maestro", 5893, 5893, MAESTRO},
    {"Maestro", 6304, 6304, MAESTRO},
    {"Maestro", 6759, 6759, MAESTRO},
    {"Maestro", 6761, 6763, MAESTRO},
    {"Troy", 9792, 9792, LEN(16)},
    {"RuPay", 6000, 6099, LEN(16)},
    {"RuPay", 5080, 5089, LEN(16)},
};

static uint32_t lengths_of(unsigned beginning)
{
    uint32_t lengths = 0;
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        if (beginning >= brands[i].first && beginning <= brands[i].last)
            lengths |= brands[i].lengths;
    return lengths;
}

static bool is_found(enum privacy_kind kind, const char *value)
{
    struct privacy_span spans[8];
    char text[128];
    int before = snprintf(text, sizeof text, "it was ");
    int len = snprintf(text + before, sizeof text - (size_t)before, "%s then", value) + before;
    size_t count = privacy_scan(plain_scanner(), (struct td_str){text, (size_t)len}, spans, 8);
    for (size_t i = 0; i < count && i < 8; i++)
        if (spans[i].kind == kind && spans[i].begin == (size_t)before &&
            spans[i].end == (size_t)before + strlen(value))
            return true;
    return false;
}

/* A number of that length with a right check digit. */
static void make_card(unsigned beginning, size_t length, char out[static 24])
{
    unsigned sum = 0;
    snprintf(out, 24, "%04u%.*s", beginning, (int)length - 4, "730528416395027");
    out[length - 1] = '0';
    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)(out[length - 1 - i] - '0');
        digit = i % 2 == 1 ? 2 * digit : digit;
        sum += digit > 9 ? digit - 9 : digit;
    }
    out[length - 1] = (char)('0' + (10 - sum % 10) % 10);
}

static void test_every_beginning_of_every_brand_and_no_other_is_a_cards(void)
{
    size_t wrong = 0;
    for (unsigned beginning = 0; beginning < 10000; beginning++)
        for (size_t length = 12; length <= 19; length++) {
            char card[24];
            make_card(beginning, length, card);
            bool wanted = lengths_of(beginning) >> length & 1;
            bool found = is_found(PRIVACY_CARD, card);
            if (found != wanted && wrong++ < 5)
                printf("%s (%zu digits) is %sfound\n", card, length, found ? "" : "not ");
        }
    CHECK(wrong == 0);
}

static void test_a_wrong_check_digit_makes_no_card_of_any_brand(void)
{
    for (size_t i = 0; i < sizeof brands / sizeof *brands; i++)
        for (size_t length = 12; length <= 19; length++) {
            char card[24];
            make_card(brands[i].last, length, card);
            card[length - 1] = card[length - 1] == '9' ? '0' : (char)(card[length - 1] + 1);
            CHECK(!is_found(PRIVACY_CARD, card));
        }
}

/* Country and length of the registry, and how many letters the bank's code begins with; 9: the
 * number has no letters. */
static const struct country {
    const char *code;
    uint8_t length, letters;
} countries[] = {
    {"AD", 24, 0}, {"AE", 23, 9}, {"AL", 28, 0}, {"AO", 25, 0}, {"AT", 20, 9}, {"AZ", 28, 4},
    {"BA", 20, 9}, {"BE", 16, 9}, {"BF", 28, 0}, {"BG", 22, 4}, {"BH", 22, 4}, {"BI", 27, 9},
    {"BJ", 28, 0}, {"BR", 29, 0}, {"BY", 28, 0}, {"CF", 27, 0}, {"CG", 27, 0}, {"CH", 21, 0},
    {"CI", 28, 0}, {"CM", 27, 0}, {"CR", 22, 9}, {"CV", 25, 0}, {"CY", 28, 0}, {"CZ", 24, 9},
    {"DE", 22, 9}, {"DJ", 27, 9}, {"DK", 18, 9}, {"DO", 28, 0}, {"DZ", 26, 0}, {"EE", 20, 9},
    {"EG", 29, 9}, {"ES", 24, 9}, {"FI", 18, 9}, {"FK", 18, 2}, {"FO", 18, 9}, {"FR", 27, 0},
    {"GA", 27, 0}, {"GB", 22, 4}, {"GE", 22, 2}, {"GI", 23, 4}, {"GL", 18, 9}, {"GQ", 27, 0},
    {"GR", 27, 0}, {"GT", 28, 0}, {"GW", 25, 0}, {"HN", 28, 4}, {"HR", 21, 9}, {"HU", 28, 9},
    {"IE", 22, 4}, {"IL", 23, 9}, {"IQ", 23, 4}, {"IR", 26, 0}, {"IS", 26, 9}, {"IT", 27, 1},
    {"JO", 30, 4}, {"KM", 27, 0}, {"KW", 30, 4}, {"KZ", 20, 0}, {"LB", 28, 0}, {"LC", 32, 4},
    {"LI", 21, 0}, {"LT", 20, 9}, {"LU", 20, 0}, {"LV", 21, 4}, {"LY", 25, 9}, {"MA", 28, 0},
    {"MC", 27, 0}, {"MD", 24, 0}, {"ME", 22, 9}, {"MG", 27, 0}, {"MK", 19, 0}, {"ML", 28, 0},
    {"MN", 20, 9}, {"MR", 27, 9}, {"MT", 31, 4}, {"MU", 30, 4}, {"MZ", 25, 0}, {"NE", 28, 0},
    {"NI", 28, 4}, {"NL", 18, 4}, {"NO", 15, 9}, {"OM", 23, 0}, {"PK", 24, 4}, {"PL", 28, 9},
    {"PS", 29, 4}, {"PT", 25, 9}, {"QA", 29, 4}, {"RO", 24, 4}, {"RS", 22, 9}, {"RU", 33, 0},
    {"SA", 24, 0}, {"SC", 31, 4}, {"SD", 18, 9}, {"SE", 24, 9}, {"SI", 19, 9}, {"SK", 24, 9},
    {"SM", 27, 1}, {"SN", 28, 0}, {"SO", 23, 9}, {"ST", 25, 9}, {"SV", 28, 4}, {"TD", 27, 0},
    {"TG", 28, 0}, {"TL", 23, 9}, {"TN", 24, 9}, {"TR", 26, 0}, {"UA", 29, 0}, {"VA", 22, 9},
    {"VG", 24, 4}, {"XK", 20, 9}, {"YE", 30, 4},
};

/* An account number of that length with right check digits (ISO 13616). */
static void make_iban(const char *code, size_t length, size_t letters, char out[static 40])
{
    unsigned remainder = 0;
    snprintf(out, 40, "%.2s00", code);
    for (size_t i = 4; i < length; i++)
        out[i] = letters != 9 && i - 4 < letters ? "BANK"[(i - 4) % 4] : "7305284163"[i % 10];
    out[length] = '\0';
    for (size_t i = 0; i < length; i++) {
        char c = out[(i + 4) % length];
        remainder = c <= '9' ? (remainder * 10 + (unsigned)(c - '0')) % 97
                             : (remainder * 100 + (unsigned)(c - 'A' + 10)) % 97;
    }
    unsigned check = 98 - remainder;
    out[2] = (char)('0' + check / 10);
    out[3] = (char)('0' + check % 10);
}

static void test_every_country_has_account_numbers_of_its_length_and_of_no_other(void)
{
    for (size_t i = 0; i < sizeof countries / sizeof *countries; i++) {
        const struct country *country = &countries[i];
        for (int more = -1; more <= 1; more++) {
            char iban[40];
            make_iban(country->code, (size_t)(country->length + more), country->letters, iban);
            if (is_found(PRIVACY_IBAN, iban) != (more == 0))
                printf("%s: %s\n", country->code, iban);
            CHECK(is_found(PRIVACY_IBAN, iban) == (more == 0));
        }
        char iban[40];
        make_iban(country->code, country->length, country->letters, iban);
        iban[country->length - 1] = iban[country->length - 1] == '9' ? '0' : '9';
        CHECK(!is_found(PRIVACY_IBAN, iban));
    }
}

static void test_what_is_no_country_has_no_account_numbers(void)
{
    for (char first = 'A'; first <= 'Z'; first++)
        for (char second = 'A'; second <= 'Z'; second++) {
            char code[3] = {first, second, 0};
            bool known = false;
            for (size_t i = 0; i < sizeof countries / sizeof *countries; i++)
                known |= strcmp(countries[i].code, code) == 0;
            for (size_t length = 15; !known && length <= 33; length++) {
                char iban[40];
                make_iban(code, length, 9, iban);
                CHECK(!is_found(PRIVACY_IBAN, iban));
            }
        }
}

/* A bank's code has its letters in every place of them, and nowhere else. */
static void test_letters_stand_where_a_countrys_numbers_have_them(void)
{
    for (size_t i = 0; i < sizeof countries / sizeof *countries; i++) {
        const struct country *country = &countries[i];
        if (country->letters == 0 || (country->letters != 9 && country->letters < 2))
            continue;
        char iban[40];
        size_t letters = country->letters == 9 ? 1 : (size_t)country->letters - 1u;
        make_iban(country->code, country->length, letters, iban);
        CHECK(!is_found(PRIVACY_IBAN, iban));
    }
}

int main(void)
{
    RUN(test_every_beginning_of_every_brand_and_no_other_is_a_cards);
    RUN(test_a_wrong_check_digit_makes_no_card_of_any_brand);
    RUN(test_every_country_has_account_numbers_of_its_length_and_of_no_other);
    RUN(test_what_is_no_country_has_no_account_numbers);
    RUN(test_letters_stand_where_a_countrys_numbers_have_them);
    return test_finish();
}

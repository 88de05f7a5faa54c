/* The numbers at which a detector begins and ends: of each range the value before the first, the
 * first, the last and the one behind it. `%s` in a form is where the number stands. */
#include "privacy/scan/privacy.h"
#include "scanners.h"
#include "test.h"

#define VALUES_MAX 12

struct range {
    enum privacy_kind kind;
    const char *forms[8]; /* NULL-ended */
    const char *within[VALUES_MAX], *beyond[VALUES_MAX];
};

static const struct range ranges[] = {
    {PRIVACY_AGE,
     {"a %s year old man", "she is %s years old", "He is %s, and works.", "aged %s", "Age: %s",
      "Sie ist %s Jahre alt", "her %sth birthday"},
     {"4", "9", "10", "99", "100", "104", "119", "120"},
     {"0", "121", "999", "1000"}},
    {PRIVACY_IP,
     {"from %s.20.30.40", "from %s.20.30.40:8080", "host=%s.20.30.40"},
     {"1", "9", "11", "126", "128", "192", "254"},
     {"0", "10", "127", "255", "256", "999", "1000"}},
    {PRIVACY_IP,
     {"from 83.%s.30.40", "from 83.20.%s.40", "from 83.20.30.%s now", "[::ffff:83.20.30.%s]"},
     {"0", "1", "99", "100", "254", "255"},
     {"256", "300", "999", "1000"}},
    {PRIVACY_US_SSN,
     {"SSN %s-36-1234", "her %s-36-1234 and", "SSN %s 36 1234"},
     {"001", "665", "667", "899"},
     {"000", "666", "900", "999"}},
    {PRIVACY_US_SSN,
     {"SSN 536-%s-1234", "her 536-%s-1234 and", "SSN 536 %s 1234", "SSN: 536%s1234"},
     {"01", "09", "10", "90", "99"},
     {"00"}},
    {PRIVACY_US_SSN,
     {"SSN 536-36-%s", "her 536-36-%s and", "SSN 536 36 %s", "SSN: 53636%s"},
     {"0001", "0010", "0100", "1000", "9999"},
     {"0000"}},
    {PRIVACY_DATE,
     {"on 2024-05-%s we met", "on %s.05.2024 we met", "on %s May 2024", "on 05/%s/2024 we"},
     {"01", "09", "10", "30", "31"},
     {"00", "32", "99"}},
    {PRIVACY_DATE,
     {"on 2024-%s-17 we met", "on 17.%s.2024 we met", "on %s/17/2024 we"},
     {"01", "09", "10", "11", "12"},
     {"00", "13", "99"}},
    {PRIVACY_COORDINATES,
     {"at %s, 2.2945 in", "at %s, -179.9999"},
     {"0.0001", "-90.0000", "-89.9999", "89.9999", "90.0000"},
     {"-90.0001", "90.0001", "180.1234"}},
    {PRIVACY_COORDINATES,
     {"at 48.8584, %s in", "at -48.8584, %s"},
     {"0.0001", "-180.0000", "-179.9999", "179.9999", "180.0000"},
     {"-180.0001", "180.0001", "999.1234"}},
    {PRIVACY_PHONE, /* an extension */
     {"see +1 903 440 4508 ext. %s there", "see +49 30 901820 toestel %s.", "+44 20 7946 0958 x%s",
      "see (415) 555-2671 extension: %s", "see +33 1 23 45 67 89, poste %s", "+14155552671 ext%s,",
      "see 415-555-2671 x%s"},
     {"1", "12", "123", "1234", "12345", "123456"},
     {"1234567", "123456789"}},
    {PRIVACY_CVV, {"CVV: %s,", "\"cvc\": \"%s\""}, {"000", "123", "999"}, {"1", "12", "12345"}},
    {PRIVACY_PIN, {"my PIN is %s."}, {"0000", "4821", "48219", "482193"}, {"1", "12"}},
};

/* Whether a finding of the kind covers the number. */
static bool is_found(enum privacy_kind kind, const char *text, size_t begin, size_t end)
{
    struct privacy_span spans[16];
    size_t count = privacy_scan(plain_scanner(), (struct td_str){text, strlen(text)}, spans, 16);
    for (size_t i = 0; i < count && i < 16; i++)
        if (spans[i].kind == kind && spans[i].begin <= begin && spans[i].end >= end)
            return true;
    return false;
}

static void check_values(const struct range *range, const char *const *values, bool expected)
{
    for (size_t v = 0; v < VALUES_MAX && values[v]; v++)
        for (size_t f = 0; range->forms[f]; f++) {
            char text[128];
            size_t begin = (size_t)(strstr(range->forms[f], "%s") - range->forms[f]);
            snprintf(text, sizeof text, "%.*s%s%s", (int)begin, range->forms[f], values[v],
                     range->forms[f] + begin + 2);
            bool found = is_found(range->kind, text, begin, begin + strlen(values[v]));
            if (found != expected)
                printf("%s: %s %s\n", privacy_kind_name(range->kind), text,
                       expected ? "is not found" : "is found");
            CHECK(found == expected);
        }
}

static void test_a_number_is_found_from_the_first_to_the_last_of_its_range(void)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        check_values(&ranges[i], ranges[i].within, true);
}

static void test_a_number_beyond_its_range_is_none(void)
{
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        check_values(&ranges[i], ranges[i].beyond, false);
}

/* RFC 5321, 4.5.3.1.1 and RFC 1035, 2.3.4: the longest names, and one character more. */
static void test_a_mail_address_is_found_whole_up_to_its_longest_names(void)
{
    static const struct {
        size_t local, label;
        bool found;
    } cases[] = {{1, 2, true},  {2, 1, true},  {63, 2, true},  {64, 2, true},  {65, 2, false},
                 {1, 62, true}, {1, 63, true}, {64, 63, true}, {1, 64, false}, {65, 63, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char local[80] = "", label[80] = "", text[256];
        memset(local, 'n', cases[i].local);
        memset(label, 'h', cases[i].label);
        int end = snprintf(text, sizeof text, "to %s@%s.com", local, label);
        CHECK(is_found(PRIVACY_EMAIL, text, 3, (size_t)end) == cases[i].found);
    }
}

/* Between the groups of an account's number: what people and programs put there. */
static void test_an_account_is_found_with_up_to_three_signs_between_its_groups(void)
{
    static const char *const signs[] = {"", " ", "  ", "   ", "-", ".", " - ", "--", "...", ". "};
    static const char *const numbers[][8] = {
        {"DE89", "3704", "0044", "0532", "0130", "00"},
        {"GB82", "WEST", "1234", "5698", "7654", "32"},
        {"FR14", "2004", "1010", "0505", "0001", "3M02", "606"},
        {"DE", "89", "370400440532013000"}, /* the check is strong: groups may have any size */
        {"NL91", "ABNA", "0417164300"}};
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        for (size_t s = 0; s < sizeof signs / sizeof *signs; s++) {
            char text[160] = "to ";
            for (size_t g = 0; g < 8 && numbers[n][g]; g++)
                strcat(strcat(text, g ? signs[s] : ""), numbers[n][g]);
            size_t end = strlen(text);
            strcat(text, " today");
            bool found = is_found(PRIVACY_IBAN, text, 3, end);
            if (!found)
                printf("not found: %s\n", text);
            CHECK(found);
        }
}

/* The groups of real cards with any one sign between them, and groups that no card has. Without an
 * announcing word a list of short numbers must stay one. */
static void test_a_card_in_unusual_signs_is_one_only_in_the_groups_of_a_card(void)
{
    static const char *const signs[] = {",", "/", "_", "|", ", ", " / ", "</td><td>", "*", "\n"};
    static const struct {
        const char *groups[20];
        bool found;
    } rows[] = {
        {{"4111", "1111", "1111", "1111"}, true},
        {{"41111111", "11111111"}, true},
        {{"3782", "822463", "10005"}, true},
        {{"3056", "930902", "5904"}, true},
        {{"4", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1", "1"}, true},
        {{"3", "7", "8", "2", "8", "2", "2", "4", "6", "3", "1", "0", "0", "0", "5"}, true},
        {{"4111", "1111", "1111", "1112"}, false}, /* the check digit */
        {{"4111", "1111", "1111", "111", "1"}, false},
        {{"411", "1111", "1111", "11111"}, false},
        {{"41", "11", "11", "11", "11", "11", "11", "11"}, false},
        {{"4111", "1111", "1111", "1111", "1111"}, false},
        {{"9999", "4111", "1111", "1111", "1111"}, false},
        {{"3782", "82246", "310005"}, false},
        {{"378", "2822463", "10005"}, false},
        {{"41111111", "1111111", "1"}, false},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (size_t s = 0; s < sizeof signs / sizeof *signs; s++) {
            char text[256] = "see ";
            for (size_t g = 0; g < 20 && rows[r].groups[g]; g++)
                strcat(strcat(text, g ? signs[s] : ""), rows[r].groups[g]);
            size_t end = strlen(text);
            strcat(text, " there");
            bool found = is_found(PRIVACY_CARD, text, 4, end);
            if (found != rows[r].found)
                printf("%s: %s\n", found ? "found" : "not found", text);
            CHECK(found == rows[r].found);
        }
}

/* Whole thousands, as programs write a number for people: one byte between groups of three. */
static void test_a_card_in_thousands_is_found(void)
{
    static const struct {
        const char *text;
        bool found;
    } rows[] = {
        {"see 4,111,111,111,111,111 there", true},       {"see 4_111_111_111_111_111 there", true},
        {"see 4'111'111'111'111'111 there", true},       {"see 378,282,246,310,005 there", true},
        {"see 4, 111, 111, 111, 111, 111 there", false}, {"see 4,111_111,111_111,111 there", false},
        {"see 4,111,111,111,111,112 there", false},      {"see 4,111,111,111,111 there", false},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        size_t end = (size_t)(strstr(rows[r].text, " there") - rows[r].text);
        bool found = is_found(PRIVACY_CARD, rows[r].text, 4, end);
        if (found != rows[r].found)
            printf("%s: %s\n", found ? "found" : "not found", rows[r].text);
        CHECK(found == rows[r].found);
    }
}

/* Not all signs between the groups are the same: an eye still reads one number over blanks and what
 * parts groups, but not over arithmetic. */
static void test_a_card_in_mixed_signs_is_found_where_none_is_of_arithmetic(void)
{
    static const char signs[] = " -./|_\t\n+=*,;:";
    static const char *const plain = " -./|_\t\n";
    for (const char *a = signs; *a; a++)
        for (const char *b = signs; *b; b++) {
            char text[64];
            int end = snprintf(text, sizeof text, "see 4111%c1111%c1111%c1111", *a, *b, *a);
            strcat(text, " there");
            bool wanted = *a == *b || (strchr(plain, *a) && strchr(plain, *b));
            bool found = is_found(PRIVACY_CARD, text, 4, (size_t)end);
            if (found != wanted)
                printf("%s: %s\n", found ? "found" : "not found", text);
            CHECK(found == wanted);
        }
}

/* Of a strict scan: five digits beside a capital, or eight alone, though nothing tells of what. */
static void test_a_strict_scan_takes_a_code_from_its_fewest_digits_on(void)
{
    static const struct {
        const char *code;
        bool found;
    } rows[] = {
        {"C1203", false},    {"C12033", true},   {"12033C", true},   {"1203C", false},
        {"CD12033", true},   {"CD1203", false},  {"A12B345", true},  {"A12B34", false},
        {"c12033", false},   {"C12033x", false}, {"1203344", false}, {"12033445", true},
        {"120334451", true}, {"1203344C", true}, {"ABCDEF", false},  {"12033", false},
        {"Z99999", true},    {"99999999", true}, {"A00000", true},   {"00000000", true},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        char text[64];
        struct privacy_span spans[4];
        int end = snprintf(text, sizeof text, "it says %s", rows[r].code);
        snprintf(text, sizeof text, "it says %s there", rows[r].code);
        size_t count =
            privacy_scan_strict(plain_scanner(), (struct td_str){text, strlen(text)}, spans, 4);
        bool found = count == 1 && spans[0].kind == PRIVACY_ID && spans[0].begin == 8 &&
                     spans[0].end == (size_t)end && spans[0].data_class == TD_CLASS_SENSITIVE;
        if (found != rows[r].found)
            printf("%s %s: %zu\n", found ? "found" : "not found", text, count);
        CHECK(found == rows[r].found);
        CHECK(!is_found(PRIVACY_ID, text, 8, (size_t)end)); /* not of a scan that is not strict */
    }
}

int main(void)
{
    RUN(test_a_number_is_found_from_the_first_to_the_last_of_its_range);
    RUN(test_a_number_beyond_its_range_is_none);
    RUN(test_a_mail_address_is_found_whole_up_to_its_longest_names);
    RUN(test_an_account_is_found_with_up_to_three_signs_between_its_groups);
    RUN(test_a_card_in_unusual_signs_is_one_only_in_the_groups_of_a_card);
    RUN(test_a_card_in_thousands_is_found);
    RUN(test_a_card_in_mixed_signs_is_found_where_none_is_of_arithmetic);
    RUN(test_a_strict_scan_takes_a_code_from_its_fewest_digits_on);
    return test_finish();
}

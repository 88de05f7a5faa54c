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
     {"1", "10", "126", "128", "192", "254"},
     {"0", "127", "255", "256", "999", "1000"}},
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

int main(void)
{
    RUN(test_a_number_is_found_from_the_first_to_the_last_of_its_range);
    RUN(test_a_number_beyond_its_range_is_none);
    return test_finish();
}

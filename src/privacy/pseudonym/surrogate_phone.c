/* Surrogates for telephone numbers. Regulators keep ranges for films and books. A number is moved
 * into such a range of its own country and of the same length: it still looks like a number of
 * that place, and it rings nowhere. Separators and extension keep their shape. */
#include "base/core/ascii.h"
#include "base/core/str.h"
#include "privacy/pseudonym/surrogate_writers.h"
#include "privacy/text/spell.h"

#include <stdio.h>
#include <string.h>

/* A row serves the numbers of a country that begin with the prefix and are as long as `number`. */
static const struct fiction {
    const char *country; /* the digits after the '+' */
    const char *prefix;  /* of the number without the country */
    const char *number;  /* x: any digit */
} fictions[] = {
    {"1", "", "xxx55501xx"},   /* NANPA: 555-0100 to 0199; the area is put in below */
    {"44", "7", "7700900xxx"}, /* Ofcom: numbers for drama */
    {"44", "20", "2079460xxx"}, {"44", "", "1632960xxx"},
    {"49", "1", "17604069xxx"},                           /* Bundesnetzagentur, Vfg. 148/2021 */
    {"49", "", "3023125xxx"},   {"33", "6", "639980xxx"}, /* ARCEP 2012-0856 */
    {"33", "", "19900xxxx"},    {"61", "4", "491570xxx"}, /* ACMA */
    {"61", "", "255501xxx"},    {"46", "7", "701740xxx"}, /* PTS */
    {"353", "", "2091xxxxx"},                             /* ComReg */
};

/* Neither an escape nor a character beyond ASCII. */
static bool is_plain(struct td_str value)
{
    for (size_t i = 0; i < value.len; i++)
        if ((unsigned char)value.data[i] >= 0x80 || value.data[i] == '\\')
            return false;
    return true;
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Rewrites digits that stand after their country code. They move into the country's range for
 * fiction, or begin with 000, which no country assigns. */
static void fill_national(const char *country, char *digits, struct draw *draw)
{
    size_t len = strlen(digits);
    const char *form = NULL;
    for (size_t i = 0; !form && i < sizeof fictions / sizeof *fictions; i++)
        if (strcmp(fictions[i].country, country) == 0 && starts(digits, fictions[i].prefix) &&
            strlen(fictions[i].number) == len)
            form = fictions[i].number;
    for (size_t i = 0; i < len; i++)
        digits[i] = form && form[i] != 'x' ? form[i]
                    : !form && i < 3       ? '0'
                                           : (char)('0' + (char)draw_below(draw, 10));
    if (form && strcmp(country, "1") == 0) { /* an area code begins with 2 to 9 and is no N11 */
        digits[0] = (char)('2' + (char)draw_below(draw, 8));
        digits[1] = (char)('0' + (char)draw_below(draw, 9));
        digits[2] = (char)('2' + (char)draw_below(draw, 8));
    }
}

/* Length of the country code that the digits after a '+' begin with (ITU-T E.164, list of 2016). */
static size_t country_len(const char *digits)
{
    static const char *const twos[] = {
        "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46",
        "47", "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63",
        "64", "65", "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98", NULL};
    if (digits[0] == '1' || digits[0] == '7')
        return 1;
    for (size_t i = 0; twos[i]; i++)
        if (starts(digits, twos[i]))
            return 2;
    return 3;
}

static bool looks_american(const char *digits, size_t len)
{
    return len == 10 && digits[0] >= '2' && digits[3] >= '2';
}

/* National numbers with a trunk zero: of countries that can be told by length and beginning. */
static const char *country_of_trunk(const char *digits, size_t len)
{
    if (len == 11 && (digits[1] == '7' || digits[1] == '2' || digits[1] == '1'))
        return "44";
    if (len == 10 && digits[1] == '4')
        return "61";
    if (len == 10)
        return "33";
    return "49";
}

/* A number's digits, and how many of them name the country or are a trunk zero. */
struct number {
    char digits[40], country[4];
    size_t len, kept;
};

#define DIGITS_MIN 6
#define NATIONAL_DIGITS_MIN 4

/* Reads the digits up to an extension. False when there are too few or too many. */
static bool read_digits(struct td_str value, struct number *number, bool *plus)
{
    *number = (struct number){.len = 0};
    *plus = false;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (ascii_is_letter(c))
            break; /* "ext. 12" */
        *plus |= c == '+';
        if (!ascii_is_digit(c))
            continue;
        if (number->len + 1 >= sizeof number->digits)
            return false;
        number->digits[number->len++] = c;
    }
    return number->len >= DIGITS_MIN;
}

static void find_country(struct number *number, bool plus)
{
    const char *digits = number->digits;
    const char *country = "";
    size_t country_bytes = 0;
    if (plus || starts(digits, "00")) {
        size_t skip = plus ? 0 : 2;
        country = digits + skip;
        country_bytes = country_len(country);
        number->kept = skip + country_bytes;
        if (number->kept < number->len && digits[number->kept] == '0') /* +49 (0) 30 ... */
            number->kept++;
    } else if (looks_american(digits, number->len)) {
        country = "1";
    } else if (number->len == 11 && digits[0] == '1' && looks_american(digits + 1, 10)) {
        country = "1";
        number->kept = 1;
    } else if (digits[0] == '0') {
        country = country_of_trunk(digits, number->len);
        number->kept = 1;
    }
    if (country_bytes == 0)
        country_bytes = strlen(country);
    snprintf(number->country, sizeof number->country, "%.*s", (int)country_bytes, country);
}

bool surrogate_write_phone(const struct surrogate_request *request, struct draw *draw,
                           struct buf *out)
{
    struct td_str value = request->value;
    struct number number;
    bool plus;
    if (!is_plain(value) || !read_digits(value, &number, &plus))
        return false;
    find_country(&number, plus);
    if (number.len < number.kept + NATIONAL_DIGITS_MIN)
        return false;
    fill_national(number.country, number.digits + number.kept, draw);
    struct buf all, folded; /* with the extension, if any */
    buf_init(&all, value.len + 64);
    buf_init(&folded, value.len + 64);
    buf_append(&all, number.digits, number.len);
    spell_fold(value, &folded);
    if (spell_count(value) > number.len)
        surrogate_write_shape(str_slice(buf_view(&folded), number.len, folded.len), draw, &all);
    spell_fill(value, buf_view(&all), out);
    buf_deinit(&folded);
    buf_deinit(&all);
    return true;
}

/* Addresses: of mail and machines, and telephone numbers. */
#include "privacy/pseudonym/surrogate.h"

#include "base/str.h"
#include "privacy/pseudonym/surrogate_names.h"
#include "privacy/text/spell.h"

#include <stdio.h>

/* --- mail and hosts --- */

static void append_lower(struct td_str text, struct buf *out)
{
    spell_in_case(text, SPELL_LOWER, out);
}

static void append_word(struct draw *draw, struct buf *out)
{
    struct buf word;
    buf_init(&word, 64);
    surrogate_names_invent(draw_u64(draw), &word);
    append_lower(buf_view(&word), out);
    buf_deinit(&word);
}

static void append_host(struct draw *draw, struct buf *out)
{
    static const char *const tops[] = {"example.com", "example.org", "example.net"}; /* RFC 2606 */
    append_word(draw, out);
    buf_append_char(out, '.');
    buf_append_str(out, str_from(tops[draw_below(draw, 3)]));
}

bool surrogate_write_email(struct td_str value, struct draw *draw, struct buf *out)
{
    size_t at = str_find(value, STR("@"), 0);
    if (at == SIZE_MAX || at == 0 || str_find(value, STR("@"), at + 1) != SIZE_MAX ||
        str_find(value, STR(" "), 0) != SIZE_MAX)
        return false; /* in words, or encoded */
    struct td_str local = str_slice(value, 0, at);
    bool two = str_find(local, STR("."), 0) != SIZE_MAX || str_find(local, STR("_"), 0) != SIZE_MAX;
    size_t given = surrogate_names_count(NAMES_ENGLISH, NAME_FEMALE);
    size_t family = surrogate_names_count(NAMES_ENGLISH, NAME_FAMILY);
    if (two) {
        append_lower(
            surrogate_names_at(NAMES_ENGLISH, NAME_FEMALE, draw_below(draw, (uint32_t)given)), out);
        buf_append_char(out, '.');
    }
    append_lower(surrogate_names_at(NAMES_ENGLISH, NAME_FAMILY, draw_below(draw, (uint32_t)family)),
                 out);
    buf_printf(out, "%u", 10 + draw_below(draw, 990));
    buf_append_char(out, '@');
    append_host(draw, out);
    return true;
}

/* scheme://host:port/path, or a host: another host, and the path's shape. */
bool surrogate_write_domain(struct td_str value, struct draw *draw, struct buf *out)
{
    size_t scheme = str_find(value, STR("://"), 0), begin = scheme == SIZE_MAX ? 0 : scheme + 3;
    size_t end = begin;
    while (end < value.len && !strchr("/?#:", value.data[end]))
        end++;
    buf_append_str(out, str_slice(value, 0, begin));
    append_host(draw, out);
    surrogate_write_shape(str_slice(value, end, value.len), draw, out);
    return true;
}

/* --- machines --- */

bool surrogate_write_ip(struct td_str value, struct draw *draw, struct buf *out)
{
    if (str_find(value, STR(":"), 0) != SIZE_MAX && str_find(value, STR("."), 0) == SIZE_MAX) {
        buf_printf(out, "2001:db8:%x:%x::%x", 0x1000 + draw_below(draw, 0xf000), /* RFC 3849 */
                   0x1000 + draw_below(draw, 0xf000), 0x10 + draw_below(draw, 0xfff0));
        return true;
    }
    static const char *const nets[][3] = {
        {"192", "0", "2"}, {"198", "51", "100"}, {"203", "0", "113"}};
    char sign =
        '\0'; /* between the numbers: a host may be named after the address, with other signs */
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if (c >= '0' && c <= '9')
            continue;
        if ((c != '.' && c != '-' && c != '_') || (sign != '\0' && c != sign))
            return false;
        sign = c;
    }
    sign = sign ? sign : '.';
    if (draw_below(draw, 16) != 0) { /* RFC 5737 */
        const char *const *net = nets[draw_below(draw, 3)];
        buf_printf(out, "%s%c%s%c%s%c%u", net[0], sign, net[1], sign, net[2], sign,
                   1 + draw_below(draw, 254));
        return true;
    }
    /* Those are few; 198.18/15 is for benchmarks (RFC 2544), nobody's address either. */
    uint32_t net = 18 + draw_below(draw, 2), part = draw_below(draw, 256);
    buf_printf(out, "198%c%u%c%u%c%u", sign, net, sign, part, sign, 1 + draw_below(draw, 254));
    return true;
}

/* A locally administered address: the second hex digit is 2. */
bool surrogate_write_mac(struct td_str value, struct draw *draw, struct buf *out)
{
    char digits[13];
    if (spell_count(value) != 12)
        return false;
    snprintf(digits, sizeof digits, "02%010llx",
             (unsigned long long)(draw_u64(draw) & UINT64_C(0xffffffffff)));
    struct buf filled;
    buf_init(&filled, value.len + 16);
    spell_fill(value, str_from(digits), &filled);
    spell_in_case(buf_view(&filled),
                  spell_case_of(value) == SPELL_UPPER ? SPELL_UPPER : SPELL_LOWER, out);
    buf_deinit(&filled);
    return true;
}

/* --- telephones --- */

/* Numbers that regulators keep for films and books; x: any digit. The prefix tells what a number must
 * begin with to get one; lengths must be the same. */
static const struct fiction {
    const char *country; /* digits behind the '+'; "" = national form */
    const char *prefix;  /* of the number without the country */
    const char *number;  /* as long as the numbers that it stands for */
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

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Digits without their country, as the country's fiction range has them, else with 000 in front, which no
 * country assigns. */
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

/* Length of the country code that the digits behind a '+' begin with (ITU-T E.164, list of 2016). */
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

bool surrogate_write_phone(struct td_str value, struct draw *draw, struct buf *out)
{
    char digits[40], country[4] = "";
    size_t len = 0, kept = 0;
    bool plus = false;
    for (size_t i = 0; i < value.len; i++) {
        char c = value.data[i];
        if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
            break; /* an extension */
        plus |= c == '+';
        if (c < '0' || c > '9')
            continue;
        if (len + 1 >= sizeof digits)
            return false;
        digits[len++] = c;
    }
    digits[len] = '\0';
    if (len < 6)
        return false;
    if (plus || starts(digits, "00")) {
        size_t skip = plus ? 0 : 2;
        kept = skip + country_len(digits + skip);
        snprintf(country, sizeof country, "%.*s", (int)(kept - skip), digits + skip);
        if (kept < len && digits[kept] == '0') /* +49 (0) 30 ... */
            kept++;
    } else if (looks_american(digits, len)) {
        snprintf(country, sizeof country, "1");
    } else if (len == 11 && digits[0] == '1' && looks_american(digits + 1, 10)) {
        snprintf(country, sizeof country, "1");
        kept = 1;
    } else if (digits[0] == '0') {
        snprintf(country, sizeof country, "%s", country_of_trunk(digits, len));
        kept = 1;
    }
    if (len - kept < 4)
        return false;
    fill_national(country, digits + kept, draw);
    struct buf all; /* and the extension, if any */
    buf_init(&all, value.len + 64);
    buf_append(&all, digits, len);
    size_t count = spell_count(value);
    if (count > len) {
        struct buf folded;
        buf_init(&folded, value.len + 64);
        spell_fold(value, &folded);
        surrogate_write_shape(str_slice(buf_view(&folded), len, folded.len), draw, &all);
        buf_deinit(&folded);
    }
    spell_fill(value, buf_view(&all), out);
    buf_deinit(&all);
    return true;
}

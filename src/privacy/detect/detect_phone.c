/* Telephone numbers: international ones (ITU-T E.164: '+' or 00, country code, 8 to 15 digits in
 * all), North American ones in their usual dress, and any national number beside a word that says
 * what it is. */
#include "privacy/detect/detect.h"

#include "base/core/str.h"

#include <string.h>

#define PHONE_MIN 8
#define PHONE_MAX 15
#define CONTEXT_BYTES 28 /* "call me on my mobile number " */

/* Digits of the country code (ITU list of assigned codes), 0 when unassigned. */
static size_t country_code_digits(const char *digits, size_t count)
{
    if (count < 3)
        return 0;
    if (digits[0] == '1' || digits[0] == '7')
        return 1;
    static const char *const two[] = {
        "20", "27", "30", "31", "32", "33", "34", "36", "39", "40", "41", "43", "44", "45", "46",
        "47", "48", "49", "51", "52", "53", "54", "55", "56", "57", "58", "60", "61", "62", "63",
        "64", "65", "66", "81", "82", "84", "86", "90", "91", "92", "93", "94", "95", "98"};
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        if (digits[0] == two[i][0] && digits[1] == two[i][1])
            return 2;
    static const char *const three[] = {"21", "22", "23", "24", "25", "26", "29", "35",
                                        "37", "38", "42", "50", "59", "67", "68", "69",
                                        "80", "85", "87", "88", "96", "97", "99"};
    for (size_t i = 0; i < sizeof three / sizeof three[0]; i++)
        if (digits[0] == three[i][0] && digits[1] == three[i][1])
            return 3;
    return 0;
}

/* Characters between two groups of one number, 0 when what stands there ends the number: one of "
 * -./", a bracket with at most one of them, or " - ". */
static size_t separator_len(const struct window *window, size_t i)
{
    size_t len = 0, brackets = 0;
    if (i + 3 < window->count && window->c[i] == ' ' && window->c[i + 1] == '-' &&
        window->c[i + 2] == ' ' && ascii_is_digit(window->c[i + 3]))
        return 3;
    while (i + len < window->count && !ascii_is_digit(window->c[i + len])) {
        int c = window->c[i + len];
        brackets += c == '(' || c == ')';
        if (++len > 2)
            return 0;
    }
    if (i + len >= window->count || (len == 2 && brackets == 0))
        return 0;
    return len;
}

/* 2024-05-01, 01.05.2024, 5/1/2024 at index i. */
static bool is_date(const struct window *window, size_t i)
{
    size_t lens[3], at = i;
    int separator = 0;
    for (size_t g = 0; g < 3; g++) {
        lens[g] = window_digits(window, at);
        at += lens[g];
        if (g == 2)
            break;
        int c = window->c[at];
        if ((c != '-' && c != '.' && c != '/') || (separator && c != separator))
            return false;
        separator = c;
        at++;
    }
    bool year_first = lens[0] == 4 && lens[1] <= 2 && lens[1] && lens[2] <= 2 && lens[2];
    bool year_last =
        lens[0] <= 2 && lens[0] && lens[1] <= 2 && lens[1] && (lens[2] == 4 || lens[2] == 2);
    bool goes_on =
        (window->c[at] == '.' || window->c[at] == '-') && ascii_is_digit(window->c[at + 1]);
    return year_first || (year_last && !goes_on);
}

/* text_editor_20250124: the date in a tool's name, however the name begins. */
static bool is_version(const struct place *place, const struct window *window)
{
    const int *c = window->c;
    if (place->before != '_' || !is_word(place->before2) || ascii_is_digit(place->before2) ||
        window_digits(window, 0) != 8)
        return false;
    int century = (c[0] - '0') * 10 + c[1] - '0', month = (c[4] - '0') * 10 + c[5] - '0';
    int day = (c[6] - '0') * 10 + c[7] - '0';
    return (century == 19 || century == 20) && month >= 1 && month <= 12 && day >= 1 && day <= 31;
}

struct number {
    char digits[PHONE_MAX];
    size_t count;  /* digits up to `end` */
    size_t groups; /* up to `end` */
    size_t end;    /* index after the last digit that belongs */
};

/* Reads groups from index i while the number stays in [min, max]; `full` (0 = unknown) digits end
 * it. */
static bool number_read(const struct window *window, size_t i, size_t min, size_t full,
                        struct number *number)
{
    size_t count = 0, groups = 0, trunks = 0;
    number->end = 0;
    for (;;) {
        size_t group = window_digits(window, i);
        bool trunk = group == 1 && window->c[i] == '0' && i > 0 && window->c[i - 1] == '(' &&
                     window->c[i + 1] == ')'; /* +46 (0)8: dialled only inside the country */
        trunks += trunk;
        if (group == 0 || trunks > 1 || count + group > PHONE_MAX ||
            (count >= min && is_date(window, i)) ||
            (group == 1 && i > 0 && window->c[i - 1] == '.')) /* +35236450.6 is a decimal number */
            break;
        for (size_t k = 0; k < group && !trunk; k++)
            number->digits[count++] = (char)window->c[i + k];
        groups++;
        i += group;
        if (is_word(window->c[i]) && window->c[i] != 'x' && window->c[i] != 'e')
            break; /* digits that run into a word are not part of it */
        if (count >= min) {
            number->count = count;
            number->groups = groups;
            number->end = i;
            if (count == full || group >= min)
                break; /* complete, or written in one piece */
        }
        size_t separator = separator_len(window, i);
        if (separator == 0)
            break;
        i += separator;
    }
    return number->end != 0;
}

/* An extension after the number: "x123", " ext. 123"; its end or `end`. */
static size_t extension_end(struct td_str text, size_t end)
{
    struct plain next = plain_at(text, end);
    if (next.c == ',')
        next = plain_at(text, next.end);
    if (next.c == ' ')
        next = plain_at(text, next.end);
    struct word word = spelled_after(text, next.begin, 0);
    if (word_in(text, &word, "ext extn extension durchwahl dw toestel interno poste ramal")) {
        next = plain_at(text, word.end);
        for (int i = 0; i < 2 && (next.c == '.' || next.c == ':' || next.c == ' '); i++)
            next = plain_at(text, next.end);
    } else if (next.c == 'x') {
        next = plain_at(text, next.end);
    } else if (word_is(text, &word, "ext") == false && word.end - word.begin > 3 &&
               str_equal_nocase(str_slice(text, word.begin, word.begin + 3), STR("ext")) &&
               ascii_is_digit((unsigned char)text.data[word.begin + 3])) {
        next = plain_at(text, word.begin + 3); /* "ext123" */
    } else {
        return end;
    }
    size_t digits = 0;
    size_t last = end;
    while (ascii_is_digit(next.c) && digits < 6) {
        last = next.end;
        digits++;
        next = plain_at(text, next.end);
    }
    return digits == 0 || is_word(next.c) ? end : last;
}

/* Area code and exchange of the North American plan begin with 2..9. */
static bool is_nanp(const char *ten_digits)
{
    return ten_digits[0] >= '2' && ten_digits[3] >= '2';
}

static bool find_plus(const struct place *place, struct privacy_span *out)
{
    if (is_word(place->before) || place->before == '+' || place->before == ')')
        return false; /* a sum, C++11 */
    struct window window;
    struct number number;
    window_read(place->text, plain_at(place->text, place->begin).end, &window);
    bool apart =
        window.c[0] == ' ' && place_context(place, PRIVACY_PHONE, CONTEXT_BYTES); /* + 4 4 7 7 */
    size_t first = window.c[0] == '(' || apart ? 1 : 0;
    if (!ascii_is_digit(window.c[first]) || window.c[first] == '0')
        return false;
    size_t full = window.c[first] == '1' || window.c[first] == '7' ? 11 : 0;
    if (!number_read(&window, first, PHONE_MIN, full, &number) ||
        (apart && number.groups != number.count) ||
        country_code_digits(number.digits, number.count) == 0)
        return false;
    size_t end = extension_end(place->text, window.end[number.end - 1]);
    *out = span_of(PRIVACY_PHONE, place->begin, end, 0.9f);
    return true;
}

/* 0046 8 928 571 38: what follows 00 must be a country's number. */
static bool read_00(const struct window *window, struct number *number)
{
    if (window->c[0] != '0' || window->c[1] != '0' || window->c[2] == '0')
        return false;
    size_t i = 2 + (ascii_is_digit(window->c[2]) ? 0 : separator_len(window, 2));
    if (!ascii_is_digit(window->c[i]) || window->c[i] == '0')
        return false;
    size_t full = window->c[i] == '1' || window->c[i] == '7' ? 11 : 0;
    if (!number_read(window, i, PHONE_MIN + 1, full, number) ||
        country_code_digits(number->digits, number->count) == 0)
        return false;
    return number->digits[0] != '1' || (number->count == 11 && is_nanp(number->digits + 1));
}

/* (415) 555-2671, 415-555-2671, 1-415-555-2671, 415.555.2671: index after it, or 0. */
static size_t read_nanp(const struct place *place, const struct window *window)
{
    bool bracket = place->before == '(';
    size_t i = 0;
    if (!bracket && window->c[0] == '1' && (window->c[1] == '-' || window->c[1] == ' ')) {
        i = 2;
        bracket = window->c[2] == '(';
        i += bracket;
    }
    if (window_digits(window, i) != 3 || window->c[i] < '2')
        return 0;
    int separator = window->c[i + 3];
    i += 4;
    if (bracket) {
        if (separator != ')')
            return 0;
        i += window->c[i] == ' ' || window->c[i] == '-';
    } else if (separator != '-' && separator != '.') {
        return 0;
    }
    if (window_digits(window, i) != 3 || window->c[i] < '2')
        return 0;
    int second = window->c[i + 3];
    if (bracket ? second != '-' && second != '.' && second != ' ' : second != separator)
        return 0;
    i += 4;
    return window_digits(window, i) == 4 ? i + 4 : 0;
}

/* "contact us about order 12345678": the word right before it says that the number is something
 * else. */
static bool counts_things(const struct place *place)
{
    return word_has_letters(place->previous) &&
           word_in(place->text, place->previous,
                   "order orders invoice ref reference ticket case policy claim tracking item sku "
                   "part po serial "
                   "model batch lot booking contract bestellung bestellnummer rechnung auftrag "
                   "commande facture "
                   "pedido factura ordine fattura bestelling factuur");
}

/* A national number: 7 to 12 digits beside a telling word, no date, and not a sum of money. */
static bool read_national(const struct place *place, const struct window *window,
                          struct number *number)
{
    bool before = place_context(place, PRIVACY_PHONE, CONTEXT_BYTES) ||
                  script_announces(place, PRIVACY_PHONE);
    if (!before && window->full)
        return false; /* a word after a row of numbers this long says nothing of the first */
    return !is_date(window, 0) && !is_version(place, window) &&
           number_read(window, 0, 7, 0, number) && number->count <= 12 &&
           (number->groups <= 6 || number->groups == number->count) &&
           !(number->groups == 1 && number->count > 11) && !counts_things(place) &&
           (before || place_context_after(place, window->end[number->end - 1], PRIVACY_PHONE));
}

/* --- national numbers by their grouping ---
 *
 * What the numbering plans of these countries print. Digits alone say little, so a form has its
 * trunk prefix or its first digits, one kind of separator, and no grouping that thousands or dates
 * have as well. Beside a telling word any grouping is taken (read_national). */

#define GROUPS_MAX 6

struct groups {
    size_t count, digits, end; /* end: index after the last digit in the window */
    uint8_t lens[GROUPS_MAX];
    unsigned form;         /* lens as one decimal number */
    char sign[GROUPS_MAX]; /* after each but the last */
};

/* By lens, so that a number finds its own. */
static const struct {
    unsigned lens;     /* digits of each group, as one decimal number */
    const char *first; /* what the number begins with, by '|'; "" anything */
    const char *signs; /* that may part the groups */
    float score;
} forms[] = {
    {27, "0", "/-", 0.6f},  /* Italy, Austria: 02/6845045 */
    {28, "0", "/- ", 0.6f}, /* 06-12345678 */
    {36, "0", "/-", 0.6f},
    {37, "0", " /-", 0.6f}, /* Netherlands 020-1234567, Germany */
    {38, "0", " /-", 0.6f},
    {46, "0", " /-", 0.65f},
    {47, "0", " /-", 0.65f},
    {48, "0", "/-", 0.6f},
    {54, "0", " /-", 0.55f},
    {55, "0|6|7|8|9", " -", 0.55f}, /* India */
    {56, "0", " -/", 0.7f},         /* United Kingdom, Germany */
    {57, "0", "/-", 0.6f},
    {234, "0", " -", 0.6f},                       /* Korea 02-123-4567 */
    {244, "0|55|33|81", " -", 0.65f},             /* Australia 02, Japan 03; Mexico 55 */
    {323, "4|9|8", " ", 0.5f},                    /* Norway 432 03 163 */
    {333, "5|6|7|8|9", " -", 0.45f},              /* Spain, Poland, Portugal */
    {334, "0", " -", 0.7f},                       /* South Africa, Finland, Israel, Korea */
    {335, "0", " -", 0.6f},                       /* Germany 030 123 45678 */
    {343, "0", " -", 0.65f},                      /* Finland 040 1234 567 */
    {344, "0|13|14|15|16|17|18|19", " -", 0.75f}, /* UK 020, Japan 090, Korea 010; China 1xx */
    {433, "0|1300|1800", " -", 0.7f},             /* Australia 0412 345 678, Netherlands */
    {434, "0|1800|1300", " -", 0.75f},            /* United Kingdom: 0161 496 0000 */
    {533, "0", " -", 0.75f},                      /* United Kingdom: 07700 063 966 */
    {1322, "8|9", " ", 0.4f},
    {1334, "8", "- ", 0.5f},
    {2222, "2|3|4|5|6|7|8|9", "-", 0.6f}, /* Denmark, Norway: 60-56-85-91 */
    {2322, "0", " ./-", 0.7f},            /* Belgium, Sweden: 02 123 45 67 */
    {2322, "9|8|5|2|3", "- ", 0.5f},      /* Spain 91 123 45 67, Ukraine */
    {2332, "0", " -", 0.65f},             /* Sweden: 08-123 456 78 */
    {2422, "0", " -", 0.6f},              /* Austria */
    {3222, "6|7|8|9", " ", 0.55f},        /* Spain 612 34 56 78 */
    {3222, "0", " -", 0.65f},             /* Sweden: 031-12 34 56 */
    {3322, "0", " .-/", 0.75f},           /* Switzerland, Sweden, Turkey */
    {3422, "0", " -", 0.65f},             /* Finland */
    {4222, "0", " ./-", 0.75f},           /* Belgium: 0490 39 07 81 */
    {4322, "0", " -", 0.7f},              /* Austria, Finland 0680 298 70 63 */
    {5322, "0", " -", 0.65f},
    {13322, "8", "- ", 0.7f},   /* Russia */
    {22222, "0", " .-", 0.75f}, /* France: 01 84 17 61 18 */
};

static bool read_groups(const struct window *window, bool bracket, struct groups *groups)
{
    size_t i = 0;
    *groups = (struct groups){0};
    while (groups->count < GROUPS_MAX) {
        size_t run = window_digits(window, i);
        if (run == 0 || run > 9)
            return false;
        groups->lens[groups->count++] = (uint8_t)run;
        groups->digits += run;
        groups->form = groups->form * 10 + (unsigned)run;
        i += run;
        groups->end = i;
        int sign = window->c[i];
        if (bracket && groups->count == 1) {
            if (sign != ')')
                return false;
            i += 1 + (window->c[i + 1] == ' ' || window->c[i + 1] == '-');
        } else if ((sign == ' ' || sign == '-' || sign == '.' || sign == '/') &&
                   i + 1 < window->count && ascii_is_digit(window->c[i + 1])) {
            groups->sign[groups->count - 1] = (char)sign;
            i++;
        } else {
            break;
        }
        if (!ascii_is_digit(window->c[i]))
            return false;
    }
    return groups->count > 1 && !ascii_is_digit(window->c[groups->end]);
}

/* After the first separator, which may differ ("0171/123 456"), all are alike. */
static bool signs_fit(const struct groups *groups, const char *signs)
{
    for (size_t i = 0; i + 1 < groups->count; i++)
        if (strchr(signs, groups->sign[i]) == NULL || groups->sign[i] == '\0' ||
            (i > 1 && groups->sign[i] != groups->sign[1]))
            return false;
    return true;
}

static bool first_fits(const struct window *window, const char *first)
{
    for (const char *p = first; *p;) {
        size_t len = strcspn(p, "|"), i = 0, at = 0;
        while (i < len && at < window->count) {
            if (ascii_is_digit(window->c[at])) {
                if (window->c[at] != p[i])
                    break;
                i++;
            }
            at++;
        }
        if (i == len)
            return true;
        p += len + (p[len] == '|');
    }
    return *first == '\0';
}

/* The first form of this grouping. */
static size_t first_form(unsigned lens)
{
    size_t begin = 0, end = sizeof forms / sizeof *forms;
    while (begin < end) {
        size_t middle = (begin + end) / 2;
        if (forms[middle].lens < lens)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* The index after a number in one of the national groupings, 0 when it is none. */
static size_t phone_national(const struct place *place, const struct window *window, float *score)
{
    struct groups groups;
    bool bracket = place->before == '(';
    if (place->before == ' ' && ascii_is_digit(place->before2))
        return 0; /* a piece of a longer row of numbers */
    if (!read_groups(window, bracket, &groups))
        return 0;
    if (bracket) { /* (08) 8747 6301, (11) 91234-5678, (37) 788-063 */
        *score = 0.65f;
        bool fits = groups.count >= 2 && groups.lens[0] >= 2 && groups.lens[0] <= 5 &&
                    groups.digits >= 7 && groups.digits <= 12 && groups.lens[1] >= 2;
        return fits ? groups.end : 0;
    }
    bool thousands = true;
    for (size_t i = 1; i < groups.count; i++)
        thousands &= groups.lens[i] == 3;
    bool round = window->c[groups.end - 1] == '0' && window->c[groups.end - 2] == '0' &&
                 window->c[groups.end - 3] == '0';
    for (size_t i = first_form(groups.form);
         i < sizeof forms / sizeof *forms && forms[i].lens == groups.form; i++)
        if (signs_fit(&groups, forms[i].signs) && first_fits(window, forms[i].first) &&
            !(thousands && round)) {
            *score = forms[i].score;
            return groups.end;
        }
    return 0;
}

static bool find_phone(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    if (((place->before == '.' || place->before == '-') && is_word(place->before2)) ||
        (place->before == ',' && ascii_is_digit(place->before2)) || place->before == '+' ||
        place->before == '$' || place->before == '#')
        return false; /* a piece of something longer, a sum of money, an order number */
    if (window->digits < 7)
        return false;
    struct number number;
    size_t after;
    float score;
    size_t begin = place->begin;
    if (read_00(window, &number)) {
        after = number.end;
        score = 0.8f;
    } else if ((after = read_nanp(place, window)) != 0) {
        score = 0.7f;
        if (place->before == '(')
            begin = place->before_begin;
    } else if (!is_date(window, 0) && (after = phone_national(place, window, &score)) != 0) {
        if (place->before == '(')
            begin = place->before_begin;
        if (place_context(place, PRIVACY_PHONE, CONTEXT_BYTES))
            score = 0.9f;
    } else if (read_national(place, window, &number)) {
        after = number.end;
        score = 0.6f;
        for (size_t i = 0; i < after && place->before == '('; i++)
            if (window->c[i] == ')')
                begin = place->before_begin;
    } else {
        return false;
    }
    size_t end = extension_end(place->text, window->end[after - 1]);
    int next = plain_at(place->text, end).c;
    if (is_word(next) || next == '%' ||
        (next == '-' && ascii_is_digit(plain_at(place->text, plain_at(place->text, end).end).c)))
        return false;
    *out = span_of(PRIVACY_PHONE, begin, end, score);
    return true;
}

const struct detector detector_phone = {
    .kinds = {PRIVACY_PHONE, KINDS_END},
    .triggers = ON(NUMBER),
    .all = NUMBER_IN_GROUPS | NUMBER_7_DIGITS,
    .find = find_phone,
};

const struct detector detector_phone_plus = {
    .kinds = {PRIVACY_PHONE, KINDS_END},
    .triggers = ON(PLUS),
    .find = find_plus,
};

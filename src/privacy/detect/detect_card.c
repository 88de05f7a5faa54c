/* Payment cards: issuer prefix with its lengths (ISO/IEC 7812 ranges as the brands publish them),
 * Luhn, and a grouping that people use. All three together keep order numbers and timestamps
 * out. */
#include "privacy/detect/detect.h"

#define CARD_MIN 12 /* the shortest Maestro */
#define CARD_MAX 19
#define SMALL_GROUPS_MIN 15
#define CONTEXT_BYTES 32
#define LEN(n) (1u << (n))

static const struct {
    uint32_t first, last; /* prefix range, both inclusive, of `digits` digits */
    uint8_t digits;
    uint32_t lengths; /* bit n: n digits are possible */
} brands[] = {
    {4, 4, 1, LEN(13) | LEN(16) | LEN(19)}, /* Visa */
    {51, 55, 2, LEN(16)},                   /* Mastercard */
    {2221, 2720, 4, LEN(16)},               /* Mastercard */
    {34, 34, 2, LEN(15)},                   /* Amex */
    {37, 37, 2, LEN(15)},                   /* Amex */
    {300, 305, 3, LEN(14) | LEN(16)},       /* Diners */
    {3095, 3095, 4, LEN(14) | LEN(16)},     /* Diners */
    {36, 36, 2, LEN(14) | LEN(16)},         /* Diners */
    {38, 39, 2, LEN(14) | LEN(16)},         /* Diners */
    {6011, 6011, 4, LEN(16) | LEN(19)},     /* Discover */
    {644, 649, 3, LEN(16) | LEN(19)},       /* Discover */
    {65, 65, 2, LEN(16) | LEN(19)},         /* Discover */
    {35, 35, 2, LEN(16)}, /* JCB has 3528 to 3589; generators of test data use all of 35 */
    {3528, 3589, 4, LEN(17) | LEN(18) | LEN(19)},           /* JCB */
    {2131, 2131, 4, LEN(15)},                               /* JCB */
    {1800, 1800, 4, LEN(15)},                               /* JCB */
    {62, 62, 2, LEN(16) | LEN(17) | LEN(18) | LEN(19)},     /* UnionPay */
    {81, 81, 2, LEN(16) | LEN(17) | LEN(18) | LEN(19)},     /* UnionPay */
    {2200, 2204, 4, LEN(16) | LEN(17) | LEN(18) | LEN(19)}, /* Mir */
    {5018, 5018, 4,
     LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19)}, /* Maestro */
    {5020, 5020, 4, LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19)},
    {5038, 5038, 4, LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19)},
    {5893, 5893, 4, LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19)},
    {6304, 6304, 4, LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19)},
    {6759, 6759, 4, LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19)},
    {6761, 6763, 4, LEN(12) | LEN(13) | LEN(14) | LEN(15) | LEN(16) | LEN(18) | LEN(19)},
    {9792, 9792, 4, LEN(16)}, /* Troy */
    {60, 60, 2, LEN(16)},     /* RuPay */
    {508, 508, 3, LEN(16)},   /* RuPay */
};

/* The lengths that numbers which begin like this have, as bits. */
static uint32_t brand_lengths(const struct window *window)
{
    uint32_t prefix[5] = {0}, lengths = 0;
    for (size_t i = 0, at = 0; i < 4; at++)
        if (ascii_is_digit(window->c[at])) {
            prefix[i + 1] = prefix[i] * 10 + (uint32_t)(window->c[at] - '0');
            i++;
        }
    for (size_t b = 0; b < sizeof brands / sizeof brands[0]; b++)
        if (prefix[brands[b].digits] >= brands[b].first &&
            prefix[brands[b].digits] <= brands[b].last)
            lengths |= brands[b].lengths;
    return lengths;
}

/* Characters of the separator at i: one of " -.", or " - "; 0 none. */
static size_t separator_at(const struct window *window, size_t i)
{
    int c = window->c[i];
    if (c == ' ' && window->c[i + 1] == '-' && i + 2 < window->count && window->c[i + 2] == ' ')
        return 3;
    return c == ' ' || c == '-' || c == '.' ? 1 : 0;
}

/* Does a fraction follow at i that is more than a program's ".0"? */
static bool is_decimal(const struct window *window, size_t i)
{
    size_t at = i + 1;
    if (window->c[i] != '.' || window_digits(window, at) == 0)
        return false;
    while (at < window->count && window->c[at] == '0')
        at++;
    return at - i > 7 || ascii_is_digit(window->c[at]) || is_word(window->c[at]);
}

#define WRAPPED_DIGITS 16

/* "4111 1111\n1111 1111", as mail is wrapped: groups of four with one line's end between two of
 * them, of a brand, and no rows of a table: neither a line before nor one after ends or begins
 * with a number. */
static bool detect_wrapped(const struct place *place, const struct window *window,
                           struct privacy_span *out)
{
    struct td_str text = place->text;
    size_t offset = place->begin, sum = 0, count = 0;
    int breaks = 0, separator = 0;
    if ((place->before == '\n' || place->before == ' ') && ascii_is_digit(place->before2))
        return false;
    while (count < WRAPPED_DIGITS) {
        struct plain next = plain_at(text, offset);
        for (; ascii_is_digit(next.c) && count < WRAPPED_DIGITS; next = plain_at(text, offset)) {
            size_t digit = (size_t)(next.c - '0') << (count % 2 == 0);
            sum += digit > 9 ? digit - 9 : digit;
            count++;
            offset = next.end;
        }
        if (count == WRAPPED_DIGITS)
            break;
        size_t end = after_line_end(text, offset);
        if (count == 0 || count % 4 != 0)
            return false;
        if (end != 0 && breaks++ == 0)
            offset = end;
        else if (end == 0 && (next.c == ' ' || next.c == '-') &&
                 (separator == 0 || separator == next.c)) {
            separator = next.c;
            offset = next.end;
        } else {
            return false;
        }
        if (!ascii_is_digit(plain_at(text, offset).c))
            return false;
    }
    size_t line = after_line_end(text, offset);
    struct plain next = plain_at(text, offset);
    if (breaks != 1 || sum % 10 != 0 || is_word(next.c) ||
        (next.c == ' ' && ascii_is_digit(plain_at(text, next.end).c)) ||
        (line != 0 && ascii_is_digit(plain_at(text, line).c)) ||
        !(brand_lengths(window) >> WRAPPED_DIGITS & 1))
        return false;
    *out = span_of(PRIVACY_CARD, place->begin, offset, 0.9f);
    return true;
}

/* The longest run of groups that is a card, with one kind of separator. Groups but the last have 3
 * to 8 digits. Smaller ones are how a list of small numbers looks: they must all be alike, end
 * where the card ends, and be as many as cards of today have. */
static bool find_card(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    size_t count = 0, i = 0, found_end = 0, first_group = window->run, separator_len = 0;
    uint32_t lengths = 0; /* 0: not asked yet */
    int separator = 0;
    /* beside "card" a number of no known brand is one when Luhn holds: ranges are added every year
     */
    bool announced = place_context(place, PRIVACY_CARD, CONTEXT_BYTES);
    bool small = first_group < 3, piece = ascii_is_digit(place->before2);
    if ((place->before == '.' && piece) ||
        (small && (place->before == ' ' || place->before == '-') && piece))
        return false; /* the fraction of a decimal number, the middle of a list */
    while (i < window->count) {
        size_t group = window_digits(window, i);
        if (group == 0 || count + group > CARD_MAX)
            break;
        count += group;
        i += group;
        int next = window->c[i];
        size_t len = separator_at(window, i);
        bool goes_on = len > 0 && i + len < window->count && ascii_is_digit(window->c[i + len]);
        if (count >= (small ? SMALL_GROUPS_MIN : CARD_MIN) && !is_word(next) &&
            !is_decimal(window, i) && !(small && (goes_on || group > first_group)) &&
            window_luhn_holds(window, i)) {
            lengths = announced ? UINT32_MAX : lengths ? lengths : brand_lengths(window);
            if (lengths >> count & 1)
                found_end = window->end[i - 1];
            else if (lengths == 0)
                return false; /* of no brand, however long it gets */
        }
        if (!goes_on || (separator && (next != separator || len != separator_len)) || group > 8 ||
            (small ? group != first_group : group < 3))
            break;
        separator = next;
        separator_len = len;
        i += len;
    }
    if (found_end == 0) /* the two groups that the window must have tell the brand */
        return first_group == 4 && window->digits >= 8 && window->digits < WRAPPED_DIGITS &&
               detect_wrapped(place, window, out);
    *out = span_of(PRIVACY_CARD, place->begin, found_end, 1.0f);
    return true;
}

const struct detector detector_card = {
    .kinds = {PRIVACY_CARD, KINDS_END},
    .triggers = ON(NUMBER),
    .all = NUMBER_IN_GROUPS,
    .any = NUMBER_FIRST | NUMBER_RUNS(3, 9),
    .find = find_card,
};

/* US social security numbers: AAA-GG-SSSS by the rules of the Social Security Administration (area
 * never 000, 666 or 900..999, group never 00, serial never 0000). Nine bare or dotted digits are
 * one only beside a word that says so. */
#include "privacy/detect/detect.h"

#define CONTEXT_BYTES 48 /* about eight words */

/* Beside a word that announces it, nine digits in groups of any size with one kind of separator.
 * Answers the index after them, 0 when there are others. */
static size_t read_any_groups(const struct window *window, size_t at[static 9])
{
    size_t count = 0, i = 0;
    int separator = 0;
    while (i < window->count && count < 9) {
        if (ascii_is_digit(window->c[i])) {
            at[count++] = i++;
            continue;
        }
        size_t len = window->c[i] == ' ' && window->c[i + 1] == '-' ? 3 : 1;
        int sign = window->c[i + len / 2];
        if ((sign != ' ' && sign != '-' && sign != '.') || (separator && sign != separator) ||
            i + len >= window->count || !ascii_is_digit(window->c[i + len]))
            return 0;
        separator = sign;
        i += len;
    }
    return count == 9 && !ascii_is_digit(window->c[i]) ? i : 0;
}

static bool find_ssn(const struct place *place, struct privacy_span *out)
{
    const struct window *window = place->window;
    size_t at[9], count = 0, i = 0;
    int separator = window->c[3];
    bool before = place_context(place, PRIVACY_US_SSN, CONTEXT_BYTES);
    if (window->run == 3 && window_digits(window, 4) == 2 && window_digits(window, 7) == 4 &&
        window->c[6] == separator && (separator == '-' || separator == ' ' || separator == '.')) {
        for (i = 0; i < 11; i++)
            if (i != 3 && i != 6)
                at[count++] = i;
    } else if (before) {
        separator = 0;
        i = read_any_groups(window, at);
    } else if (window->run == 9) {
        for (separator = 0; i < 9; i++)
            at[i] = i;
    }
    if (i == 0)
        return false;
    if (is_word(window->c[i]) ||
        ((window->c[i] == '-' || window->c[i] == '.') && i + 1 < window->count &&
         ascii_is_digit(window->c[i + 1])) ||
        ((place->before == '-' || place->before == '.') && ascii_is_digit(place->before2)))
        return false; /* a piece of something longer */
    int value[9];
    for (size_t k = 0; k < 9; k++)
        value[k] = window->c[at[k]] - '0';
    int area = value[0] * 100 + value[1] * 10 + value[2];
    if (area == 0 || area == 666 || area >= 900 || value[3] + value[4] == 0 ||
        value[5] + value[6] + value[7] + value[8] == 0)
        return false;
    size_t end = window->end[i - 1];
    bool context = before || place_context_after(place, end, PRIVACY_US_SSN);
    if (!context && separator != '-' && separator != ' ')
        return false;
    float score = context ? 1.0f : separator == '-' ? 0.85f : 0.5f;
    *out = span_of(PRIVACY_US_SSN, place->begin, end, score);
    return true;
}

const struct detector detector_ssn = {
    .kinds = {PRIVACY_US_SSN, KINDS_END},
    .triggers = ON(NUMBER),
    .all = NUMBER_IN_GROUPS,
    .find = find_ssn,
};

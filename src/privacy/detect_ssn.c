/* US social security numbers: AAA-GG-SSSS by the rules of the Social Security Administration (area
 * never 000, 666 or 900..999, group never 00, serial never 0000). Nine bare or dotted digits are
 * one only beside a word that says so. */
#include "privacy/detect.h"

#define CONTEXT_BYTES 48 /* about eight words */

bool detect_ssn(const struct place *place, const struct window *window, struct privacy_span *out)
{
    size_t first = window_digits(window, 0);
    size_t at[9], count = 0, i = 0;
    int separator = 0;
    if (first == 9) {
        while (count < 9)
            at[count++] = i++;
    } else if (first == 3) {
        static const size_t groups[] = {3, 2, 4};
        separator = window->c[3];
        if (separator != '-' && separator != ' ' && separator != '.')
            return false;
        for (size_t g = 0; g < 3; g++) {
            if (window_digits(window, i) != groups[g] ||
                (g < 2 && window->c[i + groups[g]] != separator))
                return false;
            for (size_t k = 0; k < groups[g]; k++)
                at[count++] = i++;
            i += g < 2;
        }
    } else {
        return false;
    }
    if (is_word(window->c[i]) ||
        ((window->c[i] == '-' || window->c[i] == '.') && i + 1 < window->count &&
         is_digit(window->c[i + 1])) ||
        ((place->before == '-' || place->before == '.') && is_digit(place->before2)))
        return false; /* a piece of something longer */
    int value[9];
    for (size_t k = 0; k < 9; k++)
        value[k] = window->c[at[k]] - '0';
    int area = value[0] * 100 + value[1] * 10 + value[2];
    if (area == 0 || area == 666 || area >= 900 || value[3] + value[4] == 0 ||
        value[5] + value[6] + value[7] + value[8] == 0)
        return false;
    size_t end = window->end[i - 1];
    bool context = place_context(place, PRIVACY_US_SSN, CONTEXT_BYTES) ||
                   place_context_after(place, end, PRIVACY_US_SSN);
    if (!context && separator != '-' && separator != ' ')
        return false;
    float score = context ? 1.0f : separator == '-' ? 0.85f : 0.5f;
    *out = span_of(PRIVACY_US_SSN, place->begin, end, score);
    return true;
}

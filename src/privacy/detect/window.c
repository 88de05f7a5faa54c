/* Reads digits and their separators ahead of a place, once for all detectors of numbers. In a row
 * of numbers the window moves on over what it has read. Sums that many detectors want (Luhn's,
 * digits so far, lengths of runs) are made in the same pass. */
#include "privacy/detect/window.h"

#include "base/core/assertion.h"

static bool in_number(int c)
{
    return ascii_is_digit(c) || c == ' ' || c == '-' || c == '.' || c == '/' || c == '(' ||
           c == ')';
}

/* What is asked of many places of a row is summed up once. Luhn's doubling: ISO/IEC 7812-1, annex
 * B. */
static void window_sum_up(struct window *window)
{
    size_t count = window->count, digits = 0;
    unsigned sums[2] = {0};
    for (size_t i = 0; i <= count; i++) {
        window->digits_before[i] = (uint8_t)digits;
        window->luhn[0][i] = (uint16_t)sums[0];
        window->luhn[1][i] = (uint16_t)sums[1];
        if (i == count || !ascii_is_digit(window->chars[i]))
            continue;
        unsigned digit = (unsigned)window->chars[i] - '0';
        sums[digits % 2] += digit > 4 ? 2 * digit - 9 : 2 * digit;
        sums[1 - digits % 2] += digit;
        digits++;
    }
    window->digits = digits;
    window->runs[count] = 0;
    for (size_t i = count; i-- > 0;)
        window->runs[i] = ascii_is_digit(window->chars[i]) ? (uint8_t)(window->runs[i + 1] + 1) : 0;
}

void window_read(struct td_str text, size_t offset, struct window *window)
{
    ASSERT(offset <= text.len);
    size_t count = 0;
    struct plain next = plain_at(text, offset);
    for (; in_number(next.c) && count < WINDOW_MAX; next = plain_at(text, next.end)) {
        window->chars[count] = next.c;
        window->begins[count] = next.begin;
        window->ends[count++] = next.end;
    }
    window->count = count;
    window->full = in_number(next.c);
    window->chars[count] = window->full ? PLAIN_LETTER : next.c == PLAIN_END ? 0 : next.c;
    window->begins[count] = next.begin;
    window->ends[count] = next.end;
    window->chars[count + 1] = 0;
    window->c = window->chars;
    window->begin = window->begins;
    window->end = window->ends;
    window->at = 0;
    window_sum_up(window);
    window->run = window_digits(window, 0);
}

#define WINDOW_AHEAD 40 /* what a number may need: 19 digits of a card and their separators */

bool window_move(struct window *window, size_t offset)
{
    size_t i = 0;
    while (i < window->count && window->begin[i] < offset)
        i++;
    if (i == window->count || window->begin[i] != offset ||
        (window->full && window->count - i < WINDOW_AHEAD))
        return false;
    window->c += i;
    window->begin += i;
    window->end += i;
    window->count -= i;
    window->digits -=
        (size_t)window->digits_before[window->at + i] - window->digits_before[window->at];
    window->at += i;
    window->run = window_digits(window, 0);
    return true;
}

bool window_luhn_holds(const struct window *window, size_t i)
{
    const uint16_t *sums = window->luhn[window->digits_before[window->at + i] % 2];
    return (sums[window->at + i] - sums[window->at]) % 10 == 0;
}

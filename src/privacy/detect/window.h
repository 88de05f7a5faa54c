/* A number as it is written, read once for all detectors of numbers. One owner. */
#ifndef PRIVACY_WINDOW_H
#define PRIVACY_WINDOW_H

#include "privacy/text/plain.h"

/* A number as written: digits and the characters that may separate them, in plain form. The longest
 * number is a card's, with 19 digits and their separators. The rest of the window holds the numbers
 * after it, so that a row of numbers is read once. c[count] is the character after the window and
 * never a digit or separator. It is 0 at the end of the text, and PLAIN_LETTER when the window is
 * full and the text goes on. The array has one more place, so that looking two ahead is safe. */
#define WINDOW_MAX 128
struct window {
    size_t count, digits; /* characters; how many of them are digits */
    size_t run;           /* digits that it begins with */
    const int *c;         /* into the arrays below: a window moves on over what it has read */
    const size_t *begin, *end;
    bool full; /* the text runs on after it */
    size_t at; /* place in the arrays */
    int chars[WINDOW_MAX + 2];
    size_t begins[WINDOW_MAX + 1], ends[WINDOW_MAX + 1];
    uint8_t runs[WINDOW_MAX + 1];          /* digits from here on without a sign between */
    uint8_t digits_before[WINDOW_MAX + 1]; /* since the window's beginning */
    uint16_t luhn[2][WINDOW_MAX + 1]; /* sums of the digits before, the even or odd ones doubled */
};

/* Reads digits and " -./()" from `offset`. */
void window_read(struct td_str text, size_t offset, struct window *window);
/* Moves a window that has been read to a later offset in it; false when it must be read again. */
bool window_move(struct window *window, size_t offset);
/* Has the number of the digits before index i a right check digit (Luhn's)? */
bool window_luhn_holds(const struct window *window, size_t i);
/* Digits from index i on. */
static inline size_t window_digits(const struct window *window, size_t i)
{
    return i < window->count ? window->runs[window->at + i] : 0;
}

#endif

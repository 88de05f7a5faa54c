/* A question cut into words, numbers and signs, and the small steps by which the parsers here eat
 * them. A parser that has not understood sets `next` back. Pure; any thread. */
#ifndef INSTANT_WORDS_H
#define INSTANT_WORDS_H

#include "base/bytes/buf.h"
#include "base/core/str.h"

#include <stdint.h>

#define WORDS_MAX 64

enum word_kind { WORD_LETTERS, WORD_NUMBER, WORD_SIGN };

struct word {
    struct td_str text; /* borrows the question */
    enum word_kind kind;
    double value; /* of a number */
    bool glued;   /* nothing stands between it and the word before */
};

struct words {
    struct word at[WORDS_MAX];
    size_t count, next;
};

/* False when the text has more than WORDS_MAX words, or is not UTF-8. */
bool words_read(struct td_str text, struct words *out);

/* Whether a number has one sign before exactly three digits, such as 1.500: English and other
 * languages read it differently. */
bool words_have_doubtful_number(const struct words *words);

static inline bool words_ended(const struct words *words)
{
    return words->next >= words->count;
}

/* Eats the first of `alternatives` that comes next: phrases, with "|" between them and spaces
 * between their words, whatever the case of ASCII letters. False, with nothing eaten, when none
 * does. A longer phrase stands before its own beginning. */
bool words_eat(struct words *words, const char *alternatives);

/* The same at the end: takes a phrase off it. */
bool words_eat_end(struct words *words, const char *alternatives);

/* Eats a number: "12", "1,250.5", "2,5", or English words below a billion ("four hundred and
 * twelve"). Without a sign. */
bool words_eat_number(struct words *words, double *out);

/* Eats a whole number in digits without a sign, `digits` of them at least and at most. */
bool words_eat_digits(struct words *words, size_t digits_min, size_t digits_max, int *out);

/* Appends a number with at most `decimals` digits after the point and no needless zero. False when
 * it has too many digits to be exact. */
bool words_write_number(struct buf *out, double value, int decimals);

#endif

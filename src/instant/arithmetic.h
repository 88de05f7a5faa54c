/* Sums in signs and in words: "12 * (3 + 4)", "15% of 60", "wie viel ist 8 mal 7". */
#ifndef INSTANT_ARITHMETIC_H
#define INSTANT_ARITHMETIC_H

#include "instant/words.h"

/* Appends the result of the sum that the words from `next` to the end are, or false. */
bool arithmetic_answer(struct words *words, struct buf *out);

#endif

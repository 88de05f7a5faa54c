/* Sums with dates, and dates and times in other forms: "30 days after 2024-06-01", "days between
 * 1 June 2024 and 20 June 2024", "3 march 2024 as iso", "4:30 pm in 24 hour time". */
#ifndef INSTANT_DATES_H
#define INSTANT_DATES_H

#include "instant/words.h"

/* Appends the answer, or false. Nothing depends on today: a date without its year is none. */
bool dates_answer(struct words *words, struct buf *out);

#endif

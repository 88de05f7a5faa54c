/* A text written in another way: letter case, names for programs, lists. */
#ifndef INSTANT_WRITING_H
#define INSTANT_WRITING_H

#include "instant/words.h"

/* Appends the text that the question holds, in the form it asks for, or false: "make this
 * uppercase: ...", "turn "user login count" into snake_case", "... in kebab case". */
bool writing_answer(struct td_str question, struct buf *out);

/* "write four hundred and twelve in digits" */
bool writing_digits(struct words *words, struct buf *out);

#endif

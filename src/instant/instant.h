/* Answers that need no model. A sum, a unit, a date so many days after another, a text in capital
 * letters, a greeting: a few million parameters get such things right sometimes, a few lines of
 * code always.
 *
 * The whole question has to be understood, to its last word: "12 * 7", "what is 20 celsius in
 * fahrenheit", "wie viel ist 8 mal 7". Whatever is left over makes it another question, which is
 * the model's. So an answer is either exact or none. */
#ifndef INSTANT_INSTANT_H
#define INSTANT_INSTANT_H

#include "base/bytes/buf.h"
#include "base/core/str.h"

/* Longer questions are not looked at. */
#define INSTANT_QUESTION_BYTES_MAX 2000

/* Appends the answer to a question in UTF-8 of any origin. alone: nothing was said before it, so it
 * may also be a greeting. False, with nothing appended, when it is none of those that can be
 * computed. Pure; any thread. */
bool instant_answer(struct td_str question, bool alone, struct buf *out);

#endif

/* Whether an answer is right, by what a line of a file of questions says of it:
 *
 *   {"right": true}                                 a person has judged it
 *   {"answer": "Paris"}                             the whole answer, but for case and marks
 *   {"check": "number", "answer": 42}               its last number; "tolerance" to either side
 *   {"check": "words", "answer": "yes", "or": ["no"]}   these words stand in it, and before any of
 *                                                   the other answers
 *   {"check": "pattern", "answer": "^#?[0-9]+"}     a regular expression finds something in it
 *
 * In place of a text, "answer" may be a list of texts, of which one is enough. Any thread. */
#ifndef APP_ANSWER_CHECK_H
#define APP_ANSWER_CHECK_H

#include "tandem/types.h"

struct json;

/* TD_INVALID names the member of the line that is wrong, whatever the answer is. */
TD_MUST_CHECK enum td_status answer_check(const struct json *line, struct td_str answer,
                                          bool *right, struct td_error *err);

/* Letters and digits of both, in lower case, are the same. */
bool answer_check_same(struct td_str a, struct td_str b);

#endif

/* Whether a tier says the same as the answer that a line of a log has. */
#ifndef APP_AUDIT_ANSWERS_H
#define APP_AUDIT_ANSWERS_H

#include "base/json/json.h"

struct tier_answers;

enum audit_verdict {
    AUDIT_RIGHT,
    AUDIT_WRONG,
    AUDIT_UNKNOWN /* it was cut before it said anything that can be compared */
};

/* Has the line a text as "answer", or a list of texts of which each one is right? */
bool audit_answers_known(const struct json *line);

/* Asks the line's "text", "prompt" or "messages". The answers are compared as those of shadows are
 * (router/watch/agreement.h). Fails when the tier does not answer. */
TD_MUST_CHECK enum td_status audit_answers_ask(struct tier_answers *tier, const struct json *line,
                                               enum audit_verdict *out, struct td_error *err);

#endif

/* Judged answers of the local tier from the ledger. What people said of its answers (feedback)
 * becomes a sample of all questions that it tried.
 *
 * Feedback exists only for answers that were kept. Questions that left the tier belong to the
 * sample too, but nobody judged its attempt at them. They are taken in the same proportion as
 * answers have feedback, and count as wrong. A threshold tuned on the sample rises as soon as the
 * answers above the old one are wrong too often. It falls only if the sample shows that it may.
 * Whether somebody gives feedback must not depend on whether it is good. */
#ifndef APP_LEDGER_ANSWERS_H
#define APP_LEDGER_ANSWERS_H

#include "ledger/record/ledger.h"
#include "router/learn/judged_answers.h"

struct ledger_answers {
    struct judged_answers answers;
    size_t kept;   /* answers of the local tier */
    size_t judged; /* of them with feedback */
    size_t left;   /* questions that it tried and did not keep */
};

struct ledger_answers_options {
    uint64_t since_wall_ms;
    enum threshold_gate gate;
    const char *confidence; /* digest of the model that made the confidences (G3); "" = the rule */
};

/* Answers without the gate's score, or with a confidence of another making, are left out. Deinit
 * *out also when it failed. */
TD_MUST_CHECK enum td_status ledger_answers_read(struct ledger_reader *reader,
                                                 const struct ledger_answers_options *options,
                                                 struct ledger_answers *out, struct td_error *err);
void ledger_answers_deinit(struct ledger_answers *answers);

#endif

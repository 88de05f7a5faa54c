/* Judged answers of the local tier out of the ledger: what people said of answers that it gave
 * (feedback), as a sample of all questions that it tried.
 *
 * Feedback exists only for answers that were kept. The questions that left the tier belong to the
 * sample, too, but nobody judged its attempt at them: they are taken in the same proportion as
 * answers have feedback, and count as wrong. So a threshold that is tuned on the sample goes up as
 * soon as the answers above the old one are wrong too often, and goes below the old one only where
 * the sample can show that it may. Who gives feedback must not depend on whether it is good. */
#ifndef APP_LEDGER_ANSWERS_H
#define APP_LEDGER_ANSWERS_H

#include "ledger/ledger.h"
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

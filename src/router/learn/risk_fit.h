/* A confidence model with thresholds for fixed risks, from a model's own judged answers, and what
 * it is worth on answers that neither the fit nor the thresholds have seen.
 *
 * Answers are divided into two halves by a hash of their number. On the first, both heads are
 * fitted (confidence_fit.h) and each threshold is found by conformal risk control (risk.h). Its
 * scores are those that an answer has when its fold is left out: a head's scores for its own
 * samples are too high for what is right, and a threshold on them would keep too much. The second
 * half only measures. */
#ifndef ROUTER_RISK_FIT_H
#define ROUTER_RISK_FIT_H

#include "router/learn/confidence_fit.h"
#include "router/learn/second_fit.h"

#define RISK_FIT_BINS 5
#define RISK_FIT_BAND 0.2 /* the default of gates.g3.second_band */

/* Of a threshold, on the half that was held out; intervals at 95 % (Wilson). */
struct risk_fit_line {
    double risk, threshold; /* INFINITY: it cannot be reached, and nothing is kept */
    size_t kept, wrong;     /* wrong: kept and wrong */
    double kept_low, kept_high;
    double wrong_low, wrong_high;
    /* The same where the second signal decides within RISK_FIT_BAND of the threshold. */
    size_t asked, second_kept, second_wrong;
};

struct risk_fit_report {
    size_t count, right;           /* of all answers */
    size_t held_count, held_right; /* of those that were held out */
    struct risk_fit_line lines[CONFIDENCE_RISK_COUNT];
    struct {
        double said, right;           /* mean confidence, and share of right answers */
    } bins[RISK_FIT_BINS];            /* parts of equal size of the held-out half, by confidence */
    struct confidence_fit_report fit; /* of the first half */
    struct second_report second;      /* of the second half, where a second signal was asked */
};

struct risk_fit_answers {
    const struct confidence_sample *whole; /* one an answer; .answer: its number */
    size_t whole_count;
    const struct confidence_sample *running;
    size_t running_count;
};

/* Fills the heads, samples and thresholds of *out, and with out->second.by its other members.
 * TD_INVALID when there are too few answers, or too few of one outcome. */
TD_MUST_CHECK enum td_status risk_fit(const struct risk_fit_answers *answers, uint64_t seed,
                                      struct confidence_model *out, struct risk_fit_report *report,
                                      struct td_error *err);

#endif

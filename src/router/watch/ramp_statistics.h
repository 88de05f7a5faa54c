/* The statistics of a ramp. A ramp moves a share of a route's users from one tier to another, step
 * by step, while the loss stays below a bound.
 *
 * There are three kinds of evidence. Each is a loss x from 0 (nothing is lost) to 1, with a bound
 * L:
 *
 *   agreement  The candidate and the tier that it would replace answer the same question; their
 *              answers are not the same (agreement.h). L = disagreement_max.
 *   outcomes   An exchange failed where it began, was degraded or too late. The loss a of one with
 *              the candidate is paired with the loss b of one without it: x = (1 + a - b) / 2 and
 *              L = (1 + loss_margin) / 2, so that what both lose does not count.
 *   feedback   What people say of answers, paired in the same way.
 *
 * For each kind, in each step, two bets are kept (Waudby-Smith and Ramdas 2024, "Estimating means
 * of bounded random variables by betting", J. R. Statist. Soc. B 86, section 4):
 *
 *   against "the mean loss is at most L"    W+ = mean over k of prod (1 + c_k / L (x - L))
 *   against "the mean loss is at least L"   W- = mean over k of prod (1 - c_k / (1 - L) (x - L))
 *
 * Where a hypothesis is true, its W is a supermartingale that begins at 1. So W ever exceeds
 * 1/alpha with a probability of at most alpha (Ville 1939), however often one looks.
 *
 * Advancing: W- of outcomes, and of agreement where there are shadows, is over 1/RAMP_ADVANCE_ALPHA
 * and enough was judged. A candidate that loses more than L passes a step with at most that
 * probability.
 *
 * Stopping: any W+ is over the reciprocal of RAMP_STOP_ALPHA divided among steps and evidence. The
 * share then goes back to nothing until somebody restarts the ramp. A candidate that loses less
 * than every L is stopped on its way up with a probability of at most RAMP_STOP_ALPHA.
 *
 * All this assumes that the mean of each loss, given those before it, lies on the same side of L.
 * Users who differ much and ask much weaken it. At the last step the bets begin again after every
 * RAMP_WATCHED_TOGETHER losses; otherwise many good ones would hide a loss that comes later.
 *
 * Plain data without a clock; one owner. */
#ifndef ROUTER_RAMP_STATISTICS_H
#define ROUTER_RAMP_STATISTICS_H

#include "tandem/types.h"

#define RAMP_STEPS_MAX 16
#define RAMP_BETS 5
#define RAMP_ADVANCE_ALPHA 0.05
#define RAMP_STOP_ALPHA 0.05
#define RAMP_WATCHED_TOGETHER 1000

enum ramp_evidence { RAMP_AGREEMENT, RAMP_OUTCOMES, RAMP_FEEDBACK, RAMP_EVIDENCE_COUNT };
const char *ramp_evidence_name(enum ramp_evidence evidence); /* "agreement", ... */

struct ramp_plan {
    double steps[RAMP_STEPS_MAX]; /* percent of the users, growing; 0 < step <= 100 */
    uint32_t step_count;          /* 0: there is no ramp */
    uint32_t judged_min;          /* of each evidence that a step needs */
    double disagreement_max;      /* 0..1, both excluded */
    double loss_margin;           /* likewise */
    bool needs_agreement;         /* shadows compare the two tiers */
};

struct ramp_bets {
    uint32_t judged;
    double loss_sum;                          /* of x */
    double over[RAMP_BETS], under[RAMP_BETS]; /* logarithms of the products */
    /* A loss without [0] and with [1] the candidate that is not paired yet; -1 = none. */
    double waiting[2];
};

struct ramp_state {
    uint32_t step;
    bool stopped;
    enum ramp_evidence cause; /* stopped: why */
    double cause_loss;        /* and the mean of x then */
    struct ramp_bets bets[RAMP_EVIDENCE_COUNT];
};

enum ramp_event { RAMP_GOES_ON, RAMP_ADVANCED, RAMP_STOPPED };

void ramp_begin(struct ramp_state *state); /* before the first judgement of the first step */
double ramp_percent(const struct ramp_plan *plan, const struct ramp_state *state);
/* Adds one loss. candidate: the ramp took this exchange (of no matter for agreement, which compares
 * both tiers). */
enum ramp_event ramp_judge(const struct ramp_plan *plan, struct ramp_state *state,
                           enum ramp_evidence evidence, bool candidate, double loss);
/* The mean of x; NAN before the first. Agreement: the share of answers that differ. Else: the
 * candidate's mean loss minus that of the others. */
double ramp_mean_loss(const struct ramp_state *state, enum ramp_evidence evidence);
/* Could ramp_judge have left this state? For states that come from a file. */
bool ramp_state_is_sound(const struct ramp_plan *plan, const struct ramp_state *state);
/* Is this user in the share? hash: a keyed hash of the user. Whoever is in a share is also in every
 * larger one. */
bool ramp_includes(double percent, uint64_t hash);

#endif

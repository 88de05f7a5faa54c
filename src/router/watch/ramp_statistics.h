/* Moving a share of a route's users from one tier to another, step by step, as long as what is lost stays below a bound.
 *
 * Three kinds of evidence, each a loss x from 0 (nothing is lost) to 1 with a bound L:
 *
 *   agreement  the candidate's answer and that of the tier that it would replace, to the same question, are not the same (shadow.h);
 *              L = disagreement_max
 *   outcomes   an exchange failed where it began, was degraded or too late: loss a of one with the candidate beside loss b of one without it, as
 *              x = (1 + a - b) / 2 with L = (1 + loss_margin) / 2, so that what both lose counts for nothing
 *   feedback   what people say of answers, beside each other in the same way
 *
 * For each, in each step, two bets are kept (Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting",
 * J. R. Statist. Soc. B 86, section 4):
 *
 *   against "the mean loss is at most L"    W+ = mean over k of prod (1 + c_k / L (x - L))
 *   against "the mean loss is at least L"   W- = mean over k of prod (1 - c_k / (1 - L) (x - L))
 *
 * Where a hypothesis is true its W is a supermartingale that begins at 1, so that it ever exceeds 1/alpha with a probability of at most
 * alpha (Ville 1939), however often one looks. A step is left upward when W- of agreement (where there are shadows) and of outcomes are
 * over 1/RAMP_ADVANCE_ALPHA and enough was judged: a candidate that loses more than L passes a step with that probability at most. Any W+ over
 * the reciprocal of RAMP_STOP_ALPHA, divided among steps and evidence, stops: the share goes back to nothing and stays there until somebody
 * restarts it; a candidate that loses less than all L is stopped on its way up with RAMP_STOP_ALPHA at most. It rests on each loss having a
 * mean on the same side of L given those before it; users that differ much and ask much weaken it.
 *
 * At the last step bets begin anew each RAMP_WATCHED_TOGETHER, or what many good ones won would hide a loss that comes later.
 * Plain data, no clock; the caller has it to itself. */
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
    double
        waiting[2]; /* a loss without, with the candidate that has no other beside it; -1 = none */
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
/* candidate: the exchange was of those that the ramp took; agreement compares both anyway. */
enum ramp_event ramp_judge(const struct ramp_plan *plan, struct ramp_state *state,
                           enum ramp_evidence evidence, bool candidate, double loss);
/* Of x; NAN before any. Agreement: the share that differs; else candidate's mean loss less the others'. */
double ramp_mean_loss(const struct ramp_state *state, enum ramp_evidence evidence);
/* Is the state one that ramp_judge could have left? For what comes from a file. */
bool ramp_state_is_sound(const struct ramp_plan *plan, const struct ramp_state *state);
/* Does this user belong to the share? hash: keyed, of the user; whoever was in a smaller share is in a larger one. */
bool ramp_includes(double percent, uint64_t hash);

#endif

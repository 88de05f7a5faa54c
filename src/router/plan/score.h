/* One formula for the triangle of latency, privacy and cost. For a tier that every hard constraint
 * allows, in USD:
 *
 *   J = wl · second_usd · t  +  wp · exposure_usd · r  +  wc · (c + error_usd · q)
 *
 *   wl, wp, wc  the weights of latency, privacy and cost, divided by their sum
 *   t           seconds to the whole answer: the wait that is forecast and the median that was
 *               measured lately; for a tier that was not measured the mean of the others' medians,
 *               so that it neither gains nor loses
 *   r           how far the prompt travels: device 0, premises 1/3, region 2/3, cloud 1
 *   c           what the tier charges for the prompt and an answer of the usual length
 *   q           probability that the tier is wrong, by the classifier: 1 - p_local on the device,
 *               1 - p_strong elsewhere; 0 when nothing judges
 *
 * The tier with the least J starts; ties go to the nearer tier. A tier that cannot be asked now or
 * is too slow for the deadline comes after all others, whatever its J. J is linear in money, so the
 * cost of an error at which a dearer tier pays has a closed form:
 * error_usd = (c1 - c2 + (wl/wc) second_usd (t1 - t2)) / (q2 - q1), without privacy.
 *
 * Pure; any thread. */
#ifndef ROUTER_SCORE_H
#define ROUTER_SCORE_H

#include "router/plan/policy.h"

struct score {
    double total_usd;
    double answer_usd, seconds, reach, wrong; /* c, t, r, q */
};

/* Scores of the tiers candidates[count] (indices into facts and states), count <= RUNGS_MAX.
 * Without weights total_usd is 0. */
void score_tiers(const struct signals *signals, const struct tier_facts *facts,
                 const struct tier_state *states, const size_t *candidates, size_t count,
                 struct score out[static RUNGS_MAX]);

/* c: what the tier charges for the prompt and an answer of the usual length. */
double score_answer_usd(const struct signals *signals, const struct tier_facts *facts,
                        const struct tier_state *state);

#endif

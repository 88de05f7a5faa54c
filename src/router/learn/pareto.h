/* Which plan is worth its cost? Every pattern of gates is tried with many thresholds on a table of
 * outcomes. Reported are the plans that no other plan beats in cost, quality and waiting time at
 * once.
 *
 *   local, cloud   one tier
 *   g0             p_local under the threshold starts on the cloud; the local tier is not paid for
 *   g1             the probe under the threshold leaves after the prompt was read: the time of the
 *                  local prompt is lost, counted as a fifth of the local answer's
 *   g3             a confidence under the threshold leaves when the answer is whole: both are paid
 *   g0+g3          the two together
 *
 * Pure functions of the table. */
#ifndef ROUTER_PARETO_H
#define ROUTER_PARETO_H

#include "router/learn/outcomes.h"

#define PARETO_STEPS 20 /* thresholds of a gate: quantiles of its scores */
#define PARETO_MIXED_STEPS 6
#define PARETO_PLANS_MAX (2 + 3 * PARETO_STEPS + PARETO_MIXED_STEPS * PARETO_MIXED_STEPS)

enum pareto_pattern {
    PARETO_LOCAL,
    PARETO_CLOUD,
    PARETO_G0,
    PARETO_G1,
    PARETO_G3,
    PARETO_G0_G3,
    PARETO_PATTERN_COUNT
};

const char *pareto_pattern_name(enum pareto_pattern pattern);

struct pareto_plan {
    enum pareto_pattern pattern;
    double g0, g1, g3;                               /* thresholds; NAN = the gate is off */
    double share_local, cost_usd, right, ms, ms_p95; /* means a question */
    bool best; /* no other plan is as good in cost, quality and mean time, and better in one */
};

struct pareto {
    struct pareto_plan plans[PARETO_PLANS_MAX];
    size_t count;
};

/* A gate without scores in every row has no plans. TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status pareto_find(const struct outcomes *outcomes, struct pareto *out,
                                         struct td_error *err);
/* Quality of each row under a plan, for its interval: right [count]. */
void pareto_quality(const struct outcomes *outcomes, const struct pareto_plan *plan, double *right);

#endif

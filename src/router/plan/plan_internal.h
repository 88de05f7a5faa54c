/* The two halves of making a plan: plan.c prunes and orders, start.c chooses where to begin. */
#ifndef ROUTER_PLAN_INTERNAL_H
#define ROUTER_PLAN_INTERNAL_H

#include "base/names.h"
#include "router/plan/policy.h"

struct question {
    const struct route *route;
    size_t named;
    enum td_mode mode;
    uint32_t tokens_max;
    bool prompt_only;
    unsigned needs;
    const struct tier_facts *facts;
    const struct tier_state *states;
    const struct signals *signals;
    const struct routing_rule *rule; /* that matched, or NULL */
};

struct start {
    size_t position; /* in the ladder of permitted tiers */
    enum reason_code code;
    char text[REASON_TEXT_BYTES];
};

/* Fills a sentence; true, for what reads `return removed(...)`. */
TD_PRINTF(2, 3) bool removed(char why[static REASON_TEXT_BYTES], const char *format, ...);
/* With what other input the question's rule would not have matched. */
void explain_rule(const struct question *q, char flip[static REASON_TEXT_BYTES]);
/* Has a key and does not rest. */
bool tier_is_available(const struct question *q, size_t tier);

/* Where on ladder[count] (count > 0) of permitted tiers to begin; by, scores and flip go into *decision. */
void start_choose(const struct question *q, const struct gate_settings *gates, const size_t *ladder,
                  size_t count, struct start *out, struct decision *decision);

/* The start that was chosen gives way to the one that is remembered, when nothing hard is against it and what is given up
 * is within the margin (earlier_start.c). By the route and its gates, or by scores[count]. */
struct score;
void earlier_start_by_gates(const struct question *q, const struct gate_settings *gates,
                            const size_t *ladder, size_t count, struct start *start,
                            struct decision *decision);
void earlier_start_by_score(const struct question *q, const struct score *scores,
                            const size_t *ladder, size_t count, struct start *start,
                            struct decision *decision);

#endif

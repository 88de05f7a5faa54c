/* Starting elsewhere by a draw, so that other policies can be judged from the records. A share of a
 * route's requests starts on another tier than the policy would choose, each other one as likely,
 * and the record has the probabilities (api/evidence/off_policy.h uses them).
 *
 * Only a choice of gates or weights is open to the draw. Who named a mode, a rule, a ramp, the
 * state of the device, a deadline, a queue and an earlier answer chose for a reason that the draw
 * must not break. A tier is drawn only when nothing speaks against it: it is permitted and
 * available, no deadline is too short for it, its queue is short and the budget has room. */
#include "base/crypto/hash.h"
#include "base/text/names.h"
#include "router/plan/plan_internal.h"

double explore_draw(const char *exchange)
{
    return hash_draw(exchange, "explore");
}

static bool is_open(const struct question *q, size_t usual, const struct decision *decision)
{
    bool weighed = decision->by == DECIDED_BY_ROUTE || decision->by == DECIDED_BY_GATE ||
                   decision->by == DECIDED_BY_SCORE;
    return q->route->explore_share > 0 && weighed && !(decision->exploring.share > 0) &&
           !decision->ramp.on && q->named == SIZE_MAX && decision->keeping != KEEPING_SAME &&
           !(q->rule && q->rule->stays) && !(q->late_ms_max > 0) && tier_is_available(q, usual);
}

static bool may_be_drawn(const struct question *q, size_t tier)
{
    uint32_t wait_max = q->route->overflow_after_ms;
    return !q->facts[tier].people && tier_is_available(q, tier) && tier_is_affordable(q, tier) &&
           (wait_max == 0 || q->states[tier].wait_ms <= wait_max);
}

void explore_start(const struct question *q, const size_t *ladder, size_t count,
                   struct start *start, struct decision *decision)
{
    struct exploring *exploring = &decision->exploring;
    size_t usual = ladder[start->position], others[RUNGS_MAX], other_count = 0;
    double share = q->route->explore_share, draw = q->signals->draw;
    if (!is_open(q, usual, decision))
        return;
    for (size_t i = 0; i < count; i++)
        if (i != start->position && may_be_drawn(q, ladder[i]))
            others[other_count++] = i;
    if (other_count == 0)
        return;
    *exploring = (struct exploring){.share = share, .usual = usual};
    for (size_t i = 0; i < other_count; i++)
        exploring->others |= 1u << ladder[others[i]];
    if (!(draw < share))
        return;
    size_t drawn = (size_t)(draw / share * (double)other_count);
    start->position = others[drawn < other_count ? drawn : other_count - 1];
    start->code = REASON_EXPLORED;
    decision->by = DECIDED_BY_DRAW;
    decision->runner_up = usual;
    removed(start->text, "drawn to start on %s: %g %% of such requests start elsewhere",
            q->facts[ladder[start->position]].name, 100 * share);
    removed(decision->flip, "without the draw it starts on %s", q->facts[usual].name);
}

double decision_propensity(const struct decision *decision, size_t tier)
{
    const struct exploring *exploring = &decision->exploring;
    if (!(exploring->share > 0))
        return tier == decision->start ? 1 : 0;
    if (tier == exploring->usual)
        return 1 - exploring->share;
    if (tier >= 32 || !(exploring->others >> tier & 1))
        return 0;
    return exploring->share / __builtin_popcount(exploring->others);
}

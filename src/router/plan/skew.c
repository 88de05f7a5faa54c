/* Two tiers whose models say something else too often, as shadows found (models.max_skew). Who gets
 * both in one conversation gets contradictions.
 *
 * A conversation that the upper tier answered does not come back to the lower one, whatever margin
 * says so, and no queue moves it between them. What may be spent stays a limit, and a tier that
 * cannot answer is still stood in for. A gate may carry the conversation up once: an answer that is
 * likely wrong is worse than one in another voice. Only with `part` no gate does, and a share of
 * the new conversations starts on the upper tier. */
#include "router/plan/plan_internal.h"

const struct skew_pair *skew_between(const struct signals *signals, size_t a, size_t b)
{
    for (size_t i = 0; i < signals->skew.count; i++) {
        const struct skew_pair *pair = &signals->skew.pairs[i];
        if ((pair->tiers[0] == a && pair->tiers[1] == b) ||
            (pair->tiers[0] == b && pair->tiers[1] == a))
            return pair;
    }
    return NULL;
}

static bool is_on(const struct signals *signals, size_t tier)
{
    return signals->remembered.by == REMEMBERED_CONVERSATION && signals->remembered.tier == tier;
}

bool skew_holds(const struct question *q, const size_t *ladder, size_t kept, size_t other)
{
    enum skew_policy policy = q->signals->skew.policy;
    return is_on(q->signals, ladder[kept]) &&
           (policy == SKEW_PART || (policy == SKEW_KEEP && kept > other)) &&
           skew_between(q->signals, ladder[kept], ladder[other]);
}

bool skew_bars(const struct question *q, size_t from, size_t to)
{
    return q->signals->skew.policy != SKEW_WARN && is_on(q->signals, from) &&
           skew_between(q->signals, from, to);
}

bool skew_parts(const struct question *q, size_t from, size_t to)
{
    return q->signals->skew.policy == SKEW_PART && is_on(q->signals, from) &&
           skew_between(q->signals, from, to);
}

/* The nearest tier above that says something else and can take the conversation. */
static size_t other_above(const struct question *q, const size_t *ladder, size_t count,
                          size_t position)
{
    for (size_t i = position + 1; i < count; i++)
        if (skew_between(q->signals, ladder[position], ladder[i]) && !q->facts[ladder[i]].people &&
            tier_is_available(q, ladder[i]) && tier_is_affordable(q, ladder[i]))
            return i;
    return SIZE_MAX;
}

void skew_start(const struct question *q, const size_t *ladder, size_t count, struct start *start,
                struct decision *decision)
{
    const struct skew_signal *skew = &q->signals->skew;
    size_t usual = ladder[start->position];
    bool weighed = decision->by == DECIDED_BY_ROUTE || decision->by == DECIDED_BY_SCORE;
    if (skew->policy != SKEW_PART || skew->goes_on || !weighed || decision->ramp.on ||
        q->named != SIZE_MAX || (q->rule && q->rule->stays) || !tier_is_available(q, usual) ||
        q->facts[usual].place != TD_PLACE_DEVICE || decision->keeping == KEEPING_SAME)
        return;
    size_t to = other_above(q, ladder, count, start->position);
    if (to == SIZE_MAX || !(skew->local_share < 1))
        return;
    decision->exploring = (struct exploring){
        .share = 1 - skew->local_share, .usual = usual, .others = 1u << ladder[to]};
    if (skew->draw < skew->local_share)
        return;
    start->position = to;
    start->code = REASON_CHOSEN_SKEW;
    decision->by = DECIDED_BY_SKEW;
    decision->runner_up = usual;
    removed(start->text,
            "starts on %.60s: %.60s says something else too often, and %g %% of new "
            "conversations stay there",
            q->facts[ladder[to]].name, q->facts[usual].name, 100 * skew->local_share);
    removed(decision->flip, "with models that agree it starts on %s", q->facts[usual].name);
}

void skew_explain(const struct question *q, const struct skew_pair *pair,
                  char why[static REASON_TEXT_BYTES])
{
    const struct tier_facts *one = &q->facts[pair->tiers[0]], *two = &q->facts[pair->tiers[1]];
    bool second = one->place != TD_PLACE_DEVICE && two->place == TD_PLACE_DEVICE;
    removed(why,
            "%.60s and %.60s say something else in %.0f %% of %.0f answers: update the model of "
            "%.60s",
            one->name, two->name, 100 * pair->differ, pair->compared, (second ? two : one)->name);
}

/* Starting where an earlier exchange of the same user started, so that answers stay consistent.
 * Wishes by name (mode, rule) come first, hard constraints have pruned the ladder already, and a
 * tier that is too slow for the deadline is not available. So only what gates or weights chose can
 * be replaced.
 *
 * The cost is bounded. A tier above the fresh start costs money; it is kept while the day's cap has
 * room, so that a conversation climbs once and stays there. A tier below it costs right answers: at
 * most the margin each time, because a question that is clearly too hard must move, and a cap for
 * the day. Gates still look at the answer. A similar question's tier is kept only where one gate
 * stands between it and the fresh start; otherwise it comes from another policy. */
#include "router/plan/plan_internal.h"
#include "router/plan/score.h"

#include <math.h>

static size_t position_of(const size_t *ladder, size_t count, size_t tier)
{
    for (size_t i = 0; i < count; i++)
        if (ladder[i] == tier)
            return i;
    return SIZE_MAX;
}

static double price(const struct tier_facts *facts)
{
    return facts->input_usd_per_mtok + facts->output_usd_per_mtok;
}

static const char *whence(const struct remembered *remembered)
{
    return remembered->by == REMEMBERED_CONVERSATION ? "the conversation was"
                                                     : "an earlier similar question started";
}

/* Where the remembered tier stands. SIZE_MAX: there is nothing to decide, and *decision says
 * why. */
static size_t candidate(const struct question *q, const size_t *ladder, size_t count,
                        const struct start *start, struct decision *decision)
{
    const struct remembered *remembered = &q->signals->remembered;
    if (remembered->by == REMEMBERED_NOTHING)
        return SIZE_MAX;
    size_t position = position_of(ladder, count, remembered->tier);
    if (position == SIZE_MAX || !tier_is_available(q, ladder[position])) {
        decision->keeping = KEEPING_BARRED;
        removed(decision->moved, "%s on another tier, which may not or cannot answer now",
                whence(remembered));
        return SIZE_MAX;
    }
    if (position == start->position) {
        decision->keeping = KEEPING_SAME;
        return SIZE_MAX;
    }
    const struct tier_facts *kept = &q->facts[ladder[position]];
    const struct tier_facts *fresh = &q->facts[ladder[start->position]];
    if (remembered->no_money && price(kept) > price(fresh)) {
        decision->keeping = KEEPING_MOVED;
        removed(decision->moved,
                "%s on %.60s, but what may be spent a day on keeping tiers is spent",
                whence(remembered), kept->name);
        return SIZE_MAX;
    }
    return position;
}

static void settle(const struct question *q, const size_t *ladder, size_t position, double given_up,
                   struct start *start, struct decision *decision)
{
    const struct remembered *remembered = &q->signals->remembered;
    bool conversation = remembered->by == REMEMBERED_CONVERSATION;
    const char *kept = q->facts[ladder[position]].name;
    const char *fresh = q->facts[ladder[start->position]].name;
    bool spent = given_up > 0 && remembered->no_loss;
    bool held = skew_holds(q, ladder, position, start->position);
    if (!held && (spent || !(given_up <= remembered->margin))) { /* also when NAN */
        decision->keeping = KEEPING_MOVED;
        if (spent)
            removed(decision->moved, "%s on %.60s, but what keeping may give up a day is given up",
                    whence(remembered), kept);
        else if (isfinite(given_up))
            removed(decision->moved, "%s on %.60s, but keeping it would give up %.2f, over %.2f",
                    whence(remembered), kept, given_up, remembered->margin);
        else
            removed(decision->moved, "%s on %.60s, but the route's gates do not allow it now",
                    whence(remembered), kept);
        return;
    }
    decision->keeping = KEEPING_KEPT;
    decision->fresh = ladder[start->position];
    decision->runner_up = decision->fresh;
    decision->given_up = isfinite(given_up) ? given_up : 0; /* held, where no gate judges */
    decision->by = conversation ? DECIDED_BY_CONVERSATION : DECIDED_BY_SIMILAR;
    start->position = position;
    start->code = conversation ? REASON_KEPT_CONVERSATION : REASON_KEPT_SIMILAR;
    if (held) {
        start->code = REASON_KEPT_SKEW;
        removed(start->text,
                "kept on %.60s as before in this conversation: %.60s says something else too often",
                kept, fresh);
    } else if (conversation)
        removed(start->text, "kept on %s as before in this conversation", kept);
    else
        removed(start->text,
                "kept on %s as for an earlier similar question (%.2f is given up, at most %.2f)",
                kept, given_up, remembered->margin);
    removed(decision->flip, "without the earlier %s it starts on %s",
            conversation ? "answer" : "question", fresh);
}

/* What a tier below the fresh start gives up: how far the signals lie beyond gate G0's bounds; of
 * several bounds, the one that is broken most. Above the fresh start it gives up nothing. INFINITY:
 * no judged gate lies between the two tiers. */
static double beyond_bounds(const struct question *q, const struct gate_settings *gates,
                            const size_t *ladder, size_t position, size_t fresh, bool gated)
{
    const struct signals *signals = q->signals;
    /* The gate stands between the route's start and the next rung. */
    bool down = gated && position + 1 == fresh;
    const struct tier_state *below = &q->states[ladder[down ? position : fresh]];
    double gain = signals->gain - gates->g0_gain_over;
    double p_local = gates->g0_p_local_under - signals->p_local;
    bool has_gain = gates->g0_gain_over > 0 && isfinite(gain);
    bool has_p_local = gates->g0_p_local_under > 0 && isfinite(p_local);
    if (!down && (gated || fresh + 1 != position))
        return (double)INFINITY;
    if (!signals->judged || !(has_gain || has_p_local))
        return (double)INFINITY;
    if (down && gates->g0_tokens_over && below->prompt_tokens > gates->g0_tokens_over)
        return (double)INFINITY; /* a prompt is too long, or it is not: there are no degrees */
    if (down)
        return fmax(has_gain ? gain : 0, has_p_local ? p_local : 0);
    return 0;
}

void earlier_start_by_gates(const struct question *q, const struct gate_settings *gates,
                            const size_t *ladder, size_t count, struct start *start,
                            struct decision *decision)
{
    size_t position = candidate(q, ladder, count, start, decision);
    if (position == SIZE_MAX)
        return;
    bool stays_up =
        q->signals->remembered.by == REMEMBERED_CONVERSATION && position > start->position;
    bool gated = decision->by == DECIDED_BY_GATE;
    double given_up =
        stays_up ? 0 : beyond_bounds(q, gates, ladder, position, start->position, gated);
    settle(q, ladder, position, given_up, start, decision);
}

void earlier_start_by_score(const struct question *q, const struct score *scores,
                            const size_t *ladder, size_t count, struct start *start,
                            struct decision *decision)
{
    size_t position = candidate(q, ladder, count, start, decision);
    if (position == SIZE_MAX)
        return;
    const struct score *kept = &scores[position], *fresh = &scores[start->position];
    double more = kept->total_usd - fresh->total_usd, given_up = 0;
    if (more > 0)
        given_up = fresh->total_usd > 0 ? more / fresh->total_usd : (double)INFINITY;
    settle(q, ladder, position, given_up, start, decision);
}

/* Starting elsewhere because of a queue. Where a request would wait for longer than its route
 * allows, it starts on another tier that it may use and that is free: the next one up the ladder,
 * else the next one down. Each tier is a reserve for the others, so that a burst does not wait for
 * the slots of one machine.
 *
 * Waiting costs nothing and the other tier may cost money or quality, so this rule gives way often.
 * A mode is a wish by name and stays. Weights have put a price on waiting already, a deadline is
 * looked at for itself, and of a ramp the draw decides. Nobody waits for batch work. Below the
 * start only goes what was not put there for its difficulty, and that is disclosed. */
#include "base/text/names.h"
#include "router/plan/plan_internal.h"
#include "router/plan/score.h"

/* May the start give way, and may it give way to a tier below it? By who decided. */
static const struct {
    bool up, down;
} gives_way[] = {
    [DECIDED_BY_RULE] = {.up = true, .down = true},
    [DECIDED_BY_ROUTE] = {.up = true, .down = true},
    [DECIDED_BY_GATE] = {.up = true},
    [DECIDED_BY_SIMILAR] = {.up = true},
    [DECIDED_BY_CONVERSATION] = {.up = true},
};

/* Is the wait there much shorter, and is the first text expected before this tier's turn comes? An
 * unknown time is no obstacle: the tier was not asked lately. */
static bool is_free(const struct question *q, const struct tier_state *busy,
                    const struct tier_state *state)
{
    return state->wait_ms <= q->route->overflow_after_ms && 2 * state->wait_ms <= busy->wait_ms &&
           state->forecast_ttft_ms < busy->wait_ms;
}

bool tier_is_affordable(const struct question *q, size_t tier)
{
    double usd = score_answer_usd(q->signals, &q->facts[tier], &q->states[tier]);
    return usd <= 0 || !q->signals->budget || usd <= q->signals->budget_left_usd;
}

static bool takes_over(const struct question *q, size_t busy, size_t tier)
{
    return !q->facts[tier].people && !skew_bars(q, busy, tier) && tier_is_available(q, tier) &&
           is_free(q, &q->states[busy], &q->states[tier]) && tier_is_affordable(q, tier);
}

/* The nearest position above, else below, whose tier takes the request over. */
static size_t find_reserve(const struct question *q, const size_t *ladder, size_t count,
                           size_t position, bool down)
{
    for (size_t i = position + 1; i < count; i++)
        if (takes_over(q, ladder[position], ladder[i]))
            return i;
    for (size_t i = position; down && i-- > 0;)
        if (takes_over(q, ladder[position], ladder[i]))
            return i;
    return SIZE_MAX;
}

void overflow_start(const struct question *q, const size_t *ladder, size_t count,
                    struct start *start, struct decision *decision)
{
    const struct tier_state *state = &q->states[ladder[start->position]];
    const struct routing_rule *rule = q->rule;
    uint32_t after_ms = q->route->overflow_after_ms;
    if (after_ms == 0 || !(state->wait_ms > after_ms) || q->signals->batch ||
        (rule && rule->stays) || !tier_is_available(q, ladder[start->position]) ||
        (size_t)decision->by >= sizeof gives_way / sizeof *gives_way || !gives_way[decision->by].up)
        return;
    size_t to = find_reserve(q, ladder, count, start->position, gives_way[decision->by].down);
    if (to == SIZE_MAX)
        return;
    const char *busy = q->facts[ladder[start->position]].name;
    if (decision->keeping == KEEPING_KEPT || decision->keeping == KEEPING_SAME) {
        decision->keeping = KEEPING_MOVED;
        removed(decision->moved, "an earlier exchange started on %.60s, which is busy now", busy);
    }
    decision->by = DECIDED_BY_OVERFLOW;
    decision->busy = to < start->position;
    decision->runner_up = ladder[start->position];
    removed(decision->flip, "with a wait of at most %.1f s it starts on %s", after_ms / 1000.0,
            busy);
    start->position = to;
    start->code = REASON_OVERFLOW;
    removed(start->text, "about %.1f s of waiting on %s, over %.1f: starts on %s",
            state->wait_ms / 1000, busy, after_ms / 1000.0, q->facts[ladder[to]].name);
}

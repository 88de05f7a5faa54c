/* An answer at the deadline: while a remote tier is silent and the time runs out, the device is
 * asked beside it. Whichever may be shown first is the answer. What the device is not sure of is
 * kept until the deadline, because the other one may still come.
 *
 * It costs no money and sends nothing, so neither budgets nor the share of hedges are asked. */
#include "exchange/machine/exchange_core.h"

#include <math.h>

struct urgent_state {
    struct loop_timer *timer; /* NULL until one was armed */
};

static bool is_device(const struct exchange *ex, size_t rung)
{
    return ex->facts[ex->plan.rungs[rung]].place == TD_PLACE_DEVICE;
}

/* The rung on the device that could still be asked; SIZE_MAX = none, or there is no need. */
static size_t device_rung(const struct exchange *ex)
{
    const struct plan *plan = &ex->plan;
    if (ex->kept || is_device(ex, ex->current->rung) || exchange_is_stuck(ex) ||
        ex->attempt_count + (plan->rung_count - ex->rung_next) + 2 > ATTEMPTS_MAX)
        return SIZE_MAX;
    if (ex->left && is_device(ex, ex->left->rung))
        return ex->left->rung;
    for (size_t i = ex->rung_next; i < plan->rung_count; i++)
        if (is_device(ex, i))
            return i;
    return SIZE_MAX;
}

static void on_urgent(void *ctx)
{
    struct exchange *ex = ctx;
    struct lane *silent = ex->lane;
    size_t rung = device_rung(ex);
    if (rung == SIZE_MAX || !silent->running || silent->committed ||
        (silent->hold_visible && !silent->plans) || lane_beside(ex))
        return;
    plan_add_reason(&ex->plan, REASON_HEDGED, ex->facts[ex->plan.rungs[rung]].name,
                    "asked beside %s, which is still silent: the deadline is near",
                    ex->facts[silent->attempt->tier].name);
    if (ex->left && ex->left->rung == rung)
        ex->left = NULL;
    if (ex->rung_next == rung)
        ex->rung_next++;
    bool started = attempt_start(ex, rung, true, EGRESS_HEDGE);
    if (ex->current == silent->attempt)
        return; /* no memory to ask */
    ex->current->urgent = true;
    if (!started)
        lane_turn_to(ex, silent);
}

static void started(struct exchange *ex, void *state)
{
    struct urgent_state *own = state;
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer); /* of an attempt before this one */
    size_t rung = device_rung(ex);
    if (rung == SIZE_MAX)
        return;
    double ms = deadline_patience_ms(ex, ex->plan.rungs[rung]);
    if (isnan(ms))
        return;
    if (!own->timer)
        own->timer = loop_timer_new(ex->loop, on_urgent, ex);
    if (own->timer)
        loop_timer_start(ex->loop, own->timer, (uint64_t)ms);
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)how;
    struct urgent_state *own = state;
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer);
}

static void release(struct exchange *ex, void *state)
{
    struct urgent_state *own = state;
    loop_timer_free(ex->loop, own->timer);
}

const struct exchange_part part_urgent = {
    .name = "urgent",
    .state_bytes = sizeof(struct urgent_state),
    .started = started,
    .ended = ended,
    .release = release,
};

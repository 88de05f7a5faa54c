/* Hedged climbing: when an attempt says nothing for longer than its tier usually needs, a second
 * one starts on the next rung. The first of the two whose text may be shown is the answer. The
 * other one is cancelled before anything of it was seen.
 *
 * After Dean and Barroso 2013, "The Tail at Scale" (hedged requests): what has waited for longer
 * than the 95th percentile is asked a second time elsewhere. What may be asked, and with what, is
 * decided as for any attempt: the rung is one of the plan's, and the bytes pass the same door. */
#include "exchange/limits/hedge_allowance.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/parts/part_budget.h"

#include <math.h>

struct hedge_state {
    struct loop_timer *timer; /* NULL until one was armed */
    bool paid;                /* into the allowance that hedges are taken from */
    struct attempt *asked;    /* the hedge whose end is not known yet, or NULL */
};

extern const struct exchange_part part_hedge;

static bool is_hedged(const struct exchange *ex)
{
    const struct routing_rule *rule = ex->signals.rule;
    return ex->services->hedge_allowance && ex->plan.route->hedge.on && !ex->staying &&
           !ex->signals.batch &&                               /* nobody waits for it */
           ex->signals.moment.network != TD_NETWORK_METERED && /* what may be for nothing */
           !(rule && rule->stays) && /* no other tier is asked while this one can answer */
           !exchange_is_stuck(ex);
}

/* The rung that comes next, if it may be asked although nothing has failed. There must be room to
 * record each rung that has its turn later, and one repetition. */
static bool has_rung(const struct exchange *ex)
{
    const struct plan *plan = &ex->plan;
    if (ex->rung_next >= plan->rung_count ||
        ex->attempt_count + (plan->rung_count - ex->rung_next) + 2 > ATTEMPTS_MAX)
        return false;
    /* What answered already goes before a rung below the start (machine/climb.c, `transitions`). */
    if (ex->rung_next >= plan->climb_count && (ex->kept || ex->left))
        return false;
    size_t tier = plan->rungs[ex->rung_next];
    if (ex->facts[tier].people)
        return false;
    if (ex->rung_next < plan->climb_count && exchange_is_hopeless(ex))
        return false;
    return !ex->services->health ||
           tier_health_usable(ex->services->health, tier, (uint64_t)exchange_now_ms(ex));
}

/* A 95th percentile of more than that many medians is more than a wide spread: a log-normal
 * distribution with that quotient has a sigma of 0.84. It then lies among the spikes themselves,
 * and waiting for it would find none of them. */
#define MEDIANS_MAX 4

/* NAN = not known yet. */
static double delay_ms(const struct exchange *ex, size_t tier)
{
    const struct hedge_settings *settings = &ex->plan.route->hedge;
    struct tier_latency *latency = ex->services->latency;
    uint64_t now_ms = (uint64_t)exchange_now_ms(ex);
    if (settings->at_once)
        return 0;
    if (settings->after_ms > 0)
        return settings->after_ms;
    if (!latency)
        return NAN;
    double ms = fmin(tier_latency_ttft(latency, tier, settings->percentile / 100.0, now_ms),
                     MEDIANS_MAX * tier_latency_ttft(latency, tier, 0.5, now_ms));
    return ms > 0 ? ms : NAN;
}

static void count(struct exchange *ex, struct hedge_state *own, enum hedge_result result,
                  const struct attempt *unused)
{
    hedge_allowance_count(ex->services->hedge_allowance, result, unused ? unused->cost_usd : 0);
    own->asked = NULL;
}

/* --- beginning --- */

static bool is_affordable(struct exchange *ex, size_t tier)
{
    const char *name = ex->facts[tier].name, *slow = ex->facts[ex->current->tier].name;
    double usd = part_budget_answer_usd(ex, tier);
    if (!part_budget_has_room(ex, usd)) {
        plan_add_reason(&ex->plan, REASON_HEDGE_REFUSED, name,
                        "not asked beside the slow %s: the budget '%.60s' has no room for a second "
                        "answer",
                        slow, ex->signals.budget);
        return false;
    }
    if (!hedge_allowance_take(ex->services->hedge_allowance)) {
        plan_add_reason(&ex->plan, REASON_HEDGE_REFUSED, name,
                        "not asked beside the slow %s: %.3g %% of the requests were hedged already",
                        slow, 100 * ex->plan.route->hedge.share);
        return false;
    }
    part_budget_promise(ex, usd);
    return true;
}

static void on_slow(void *ctx)
{
    struct exchange *ex = ctx;
    struct hedge_state *own = part_state(ex, &part_hedge);
    struct lane *slow = ex->lane;
    if (!slow->running || slow->committed || slow->attempt->first_ms > 0 || lane_beside(ex) ||
        !is_hedged(ex) || !has_rung(ex))
        return;
    size_t rung = ex->rung_next, tier = ex->plan.rungs[rung];
    bool spared =
        ex->facts[tier].place == TD_PLACE_DEVICE && ex->signals.moment.device_level >= DEVICE_HOT;
    if (spared || !is_affordable(ex, tier))
        return;
    double waited = exchange_now_ms(ex) - ex->created_ms - slow->attempt->start_ms;
    const char *first = ex->facts[slow->attempt->tier].name;
    if (ex->plan.route->hedge.at_once)
        plan_add_reason(&ex->plan, REASON_HEDGED, ex->facts[tier].name, "asked in a race with %s",
                        first);
    else
        plan_add_reason(&ex->plan, REASON_HEDGED, ex->facts[tier].name,
                        "asked beside %s, which had said nothing for %.0f ms", first, waited);
    ex->rung_next++;
    bool started = attempt_start(ex, rung, rung >= ex->plan.climb_count, EGRESS_HEDGE);
    if (ex->current == slow->attempt)
        return; /* no memory to ask */
    own->asked = ex->current;
    if (!started) {
        count(ex, own, HEDGE_FAILED, ex->current);
        lane_turn_to(ex, slow);
    }
}

/* Looks at the attempt again when it has become slow. */
static void started(struct exchange *ex, void *state)
{
    struct hedge_state *own = state;
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer); /* of an attempt before this one */
    if (!is_hedged(ex) || !has_rung(ex))
        return;
    if (!own->paid)
        hedge_allowance_pay(ex->services->hedge_allowance, ex->plan.route->hedge.share);
    own->paid = true;
    double ms = delay_ms(ex, ex->current->tier);
    if (!own->timer)
        own->timer = loop_timer_new(ex->loop, on_slow, ex);
    if (own->timer && !isnan(ms))
        loop_timer_start(ex->loop, own->timer, (uint64_t)ceil(ms));
}

/* --- ending --- */

static void left(struct exchange *ex, void *state)
{
    struct hedge_state *own = state;
    if (ex->current == own->asked)
        count(ex, own, HEDGE_FAILED, ex->current);
}

/* A tier that had not said a word yet has taken this long at least. Without that, only its quick
 * answers would be measured, and it would look slow sooner and sooner. */
static void report_wait(struct exchange *ex, const struct attempt *slow)
{
    if (ex->services->latency && slow->first_ms <= 0)
        tier_latency_add_wait(ex->services->latency, slow->tier, slow->total_ms,
                              (uint64_t)exchange_now_ms(ex));
}

static void explain(struct exchange *ex, const struct attempt *stopped)
{
    const char *other = ex->facts[stopped->tier].name;
    if (ex->current->purpose == EGRESS_HEDGE)
        plan_add_reason(&ex->plan, REASON_HEDGE_WON, ex->facts[ex->current->tier].name,
                        "it answered first; %s was cancelled after %.0f ms and %.6f USD", other,
                        stopped->total_ms, stopped->cost_usd);
    else
        plan_add_reason(&ex->plan, REASON_HEDGE_LOST, other,
                        "%s answered first after all; it was cancelled after %.0f ms and %.6f USD",
                        ex->facts[ex->current->tier].name, stopped->total_ms, stopped->cost_usd);
}

static void committing(struct exchange *ex, void *state)
{
    struct hedge_state *own = state;
    struct lane *other = ex->lane->checks ? NULL : lane_beside(ex);
    struct attempt *stopped = NULL;
    if (other && other->checks)
        other = NULL; /* it is needed after this one */
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer);
    if (other) {
        stopped = other->attempt;
        lane_stop(other, ATTEMPT_CANCELLED);
        explain(ex, stopped);
    }
    if (stopped && stopped == own->asked) {
        ex->rung_next = stopped->rung; /* it can still be climbed to */
    } else if (stopped && stopped->urgent) {
        ex->left = stopped; /* it was not slow: it can be asked again */
    } else if (stopped) {
        stopped->outrun = true;
        ex->left = stopped;
        report_wait(ex, stopped);
    }
    if (own->asked)
        count(ex, own, ex->current == own->asked ? HEDGE_WON : HEDGE_LOST, stopped);
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)how;
    struct hedge_state *own = state;
    if (own->timer)
        loop_timer_stop(ex->loop, own->timer);
    if (own->asked) /* cancelled, or too late */
        count(ex, own, HEDGE_FAILED, own->asked);
}

static void release(struct exchange *ex, void *state)
{
    struct hedge_state *own = state;
    loop_timer_free(ex->loop, own->timer);
}

const struct exchange_part part_hedge = {
    .name = "hedge",
    .state_bytes = sizeof(struct hedge_state),
    .started = started,
    .left = left,
    .committing = committing,
    .ended = ended,
    .release = release,
};

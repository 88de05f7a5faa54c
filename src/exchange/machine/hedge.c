/* After Dean and Barroso 2013, "The Tail at Scale" (hedged requests): one that has waited for longer than the 95th percentile is sent a second time,
 * elsewhere, and the first answer is taken. What may be asked, and with what, is decided as for any attempt: the rung is one of the plan's, and the
 * bytes pass the same door. */
#include "exchange/machine/hedge.h"

#include "exchange/limits/hedging.h"
#include "exchange/machine/exchange_internal.h"

#include <math.h>

static bool is_hedged(const struct exchange *ex)
{
    const struct routing_rule *rule = ex->signals.rule;
    return ex->services->hedging && ex->plan.route->hedge.on &&
           !ex->signals.batch &&     /* nobody waits for it */
           !(rule && rule->stays) && /* nothing else is to be asked while this one can answer */
           !exchange_is_stuck(ex);
}

/* The rung that comes next, if it may be asked although nothing has failed. Each rung that has its turn later, and one repetition, must still be
 * recorded. */
static bool has_rung(const struct exchange *ex)
{
    const struct plan *plan = &ex->plan;
    if (ex->rung_next >= plan->rung_count ||
        ex->attempt_count + (plan->rung_count - ex->rung_next) + 2 > ATTEMPTS_MAX)
        return false;
    /* What answered already goes before a rung below the start (exchange.c, `transitions`). */
    if (ex->rung_next >= plan->climb_count && (ex->kept || ex->left))
        return false;
    size_t tier = plan->rungs[ex->rung_next];
    if (ex->capped && ex->facts[tier].place != TD_PLACE_DEVICE)
        return false;
    if (ex->rung_next < plan->climb_count && exchange_is_hopeless(ex))
        return false;
    return !ex->services->health ||
           tier_health_usable(ex->services->health, tier, (uint64_t)exchange_now_ms(ex));
}

/* A tier whose 95th percentile lies beyond has more than a wide spread: a log-normal distribution with that quotient has a sigma of 0.84. It then
 * lies among the spikes themselves, and waiting for it would find none of them. */
#define MEDIANS_MAX 4

/* NAN = not known yet. */
static double delay_ms(const struct exchange *ex, size_t tier)
{
    const struct hedge_settings *settings = &ex->plan.route->hedge;
    struct tier_latency *latency = ex->services->latency;
    uint64_t now_ms = (uint64_t)exchange_now_ms(ex);
    if (settings->after_ms > 0)
        return settings->after_ms;
    if (!latency)
        return NAN;
    double ms = fmin(tier_latency_ttft(latency, tier, settings->percentile / 100.0, now_ms),
                     MEDIANS_MAX * tier_latency_ttft(latency, tier, 0.5, now_ms));
    return ms > 0 ? ms : NAN;
}

static void count(struct exchange *ex, enum hedging_result result, const struct attempt *unused)
{
    hedging_count(ex->services->hedging, result, unused ? unused->cost_usd : 0);
    ex->hedge.asked = NULL;
}

/* --- beginning --- */

static bool is_affordable(struct exchange *ex, size_t tier)
{
    const char *name = ex->facts[tier].name, *slow = ex->facts[ex->current->tier].name;
    if (!budget_has_room(ex, tier)) {
        plan_add_reason(&ex->plan, REASON_HEDGE_REFUSED, name,
                        "not asked beside the slow %s: the budget '%.60s' has no room for a second "
                        "answer",
                        slow, ex->signals.budget);
        return false;
    }
    if (!hedging_take(ex->services->hedging)) {
        plan_add_reason(&ex->plan, REASON_HEDGE_REFUSED, name,
                        "not asked beside the slow %s: %.3g %% of the requests were hedged already",
                        slow, 100 * ex->plan.route->hedge.share);
        return false;
    }
    budget_promise_more(ex, tier);
    return true;
}

static void on_slow(void *ctx)
{
    struct exchange *ex = ctx;
    struct lane *slow = ex->lane;
    if (!slow->running || slow->committed || slow->attempt->first_ms > 0 || hedge_other(ex) ||
        !is_hedged(ex) || !has_rung(ex))
        return;
    size_t rung = ex->rung_next, tier = ex->plan.rungs[rung];
    if (!is_affordable(ex, tier))
        return;
    double waited = exchange_now_ms(ex) - ex->created_ms - slow->attempt->start_ms;
    plan_add_reason(&ex->plan, REASON_HEDGED, ex->facts[tier].name,
                    "asked beside %s, which had said nothing for %.0f ms",
                    ex->facts[slow->attempt->tier].name, waited);
    ex->rung_next++;
    bool begun = exchange_ask(ex, rung, rung >= ex->plan.climb_count, EGRESS_HEDGE);
    ex->hedge.asked = ex->current;
    if (!begun) {
        count(ex, HEDGING_FAILED, ex->current);
        exchange_turn_to(ex, slow);
    }
}

void hedge_arm(struct exchange *ex)
{
    if (ex->hedge.timer)
        loop_timer_stop(ex->loop, ex->hedge.timer); /* of an attempt before this one */
    if (!is_hedged(ex) || !has_rung(ex))
        return;
    if (!ex->hedge.paid)
        hedging_pay(ex->services->hedging, ex->plan.route->hedge.share);
    ex->hedge.paid = true;
    double ms = delay_ms(ex, ex->current->tier);
    if (!ex->hedge.timer)
        ex->hedge.timer = loop_timer_new(ex->loop, on_slow, ex);
    if (ex->hedge.timer && !isnan(ms))
        loop_timer_start(ex->loop, ex->hedge.timer, (uint64_t)ceil(ms));
}

/* --- ending --- */

const struct lane *hedge_other(const struct exchange *ex)
{
    const struct lane *other = &ex->lanes[ex->lane == ex->lanes ? 1 : 0];
    return other->running ? other : NULL;
}

bool hedge_goes_on(struct exchange *ex)
{
    const struct lane *other = hedge_other(ex);
    if (ex->current == ex->hedge.asked)
        count(ex, HEDGING_FAILED, ex->current);
    if (!other)
        return false;
    exchange_turn_to(ex, &ex->lanes[other - ex->lanes]);
    return true;
}

/* What had not said a word yet has taken this long at least. Without it only the quick answers of a tier would be measured, and it would be found
 * slow ever sooner. */
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

void hedge_settle(struct exchange *ex)
{
    const struct lane *other = hedge_other(ex);
    struct attempt *stopped = NULL;
    if (ex->hedge.timer)
        loop_timer_stop(ex->loop, ex->hedge.timer);
    if (other) {
        stopped = other->attempt;
        exchange_stop_lane(&ex->lanes[other - ex->lanes], "cancelled");
        explain(ex, stopped);
    }
    if (stopped && stopped == ex->hedge.asked) {
        ex->rung_next = stopped->rung; /* it can still be climbed to */
    } else if (stopped) {
        stopped->outrun = true;
        ex->left = stopped;
        report_wait(ex, stopped);
    }
    if (ex->hedge.asked)
        count(ex, ex->current == ex->hedge.asked ? HEDGING_WON : HEDGING_LOST, stopped);
}

void hedge_end(struct exchange *ex)
{
    if (ex->hedge.timer)
        loop_timer_stop(ex->loop, ex->hedge.timer);
    if (ex->hedge.asked) /* cancelled, or too late */
        count(ex, HEDGING_FAILED, ex->hedge.asked);
}

void hedge_deinit(struct exchange *ex)
{
    loop_timer_free(ex->loop, ex->hedge.timer);
}

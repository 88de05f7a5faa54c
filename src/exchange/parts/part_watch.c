/* What the watch is told of an exchange, and what it may forbid.
 *
 * A caller has a number of escalations an hour. One is reserved before the plan, because afterwards
 * it is too late to choose the device, and given back when the exchange did not need it. */
#include "exchange/limits/watch.h"
#include "exchange/machine/exchange_core.h"

#include <math.h>

struct watch_state {
    uint32_t per_hour; /* the caller's cap; 0 = none */
    bool reserved;     /* one of the caller's escalations of this hour */
};

static bool is_on_device(const struct exchange *ex, size_t tier)
{
    return ex->facts[tier].place == TD_PLACE_DEVICE;
}

/* Each API key has a cap of its own, also where several belong to one tenant. */
static const char *caller_of(const struct exchange *ex)
{
    return ex->request.key_id ? ex->request.key_id : ex->request.caller;
}

/* Its application's, else everybody's. */
static uint32_t cap_of_caller(const struct exchange *ex)
{
    const struct app *app = policy_find_app(ex->services->policy, ex->request.key);
    return app && app->escalations_per_hour ? app->escalations_per_hour
                                            : ex->services->escalations_per_hour;
}

static void prepare(struct exchange *ex, void *state, const struct route *route)
{
    (void)route;
    struct watch_state *own = state;
    struct watch *watch = ex->services->watch;
    own->per_hour = watch ? cap_of_caller(ex) : 0;
    if (own->per_hour == 0)
        return;
    own->reserved = watch_reserve(watch, caller_of(ex), own->per_hour);
    if (!own->reserved)
        ex->signals.capped_at = own->per_hour;
}

static bool could_stay(const struct exchange *ex)
{
    for (size_t i = 0; i < ex->plan.rung_count; i++)
        if (is_on_device(ex, ex->plan.rungs[i]))
            return true;
    return false;
}

/* A time that was asked for, a budget that is spent, tiers that answered. */
static void tell_limits(const struct exchange *ex, struct watch *watch)
{
    const struct exchange_summary *summary = &ex->answer.summary;
    if (summary->objective_total || summary->objective_ttft)
        watch_add_objective(watch, summary->objective_total == OBJECTIVE_MISSED ||
                                       summary->objective_ttft == OBJECTIVE_MISSED);
    if (ex->plan.spent && ex->signals.budget && !ex->signals.budget_period) /* no key's own */
        watch_budget_spent(watch, ex->signals.budget);
    for (size_t i = 0; i < ex->attempt_count; i++)
        if (ex->attempts[i]->outcome == ATTEMPT_ANSWERED)
            watch_tier_answered(watch, ex->facts[ex->attempts[i]->tier].name);
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)how;
    const struct watch_state *own = state;
    struct watch *watch = ex->services->watch;
    if (!watch)
        return;
    tell_limits(ex, watch);
    struct watch_exchange seen = {
        .caller = caller_of(ex), .could_stay = could_stay(ex), .confidence = NAN};
    for (size_t i = 0; i < ex->attempt_count; i++) {
        const struct attempt *attempt = ex->attempts[i];
        seen.escalated = seen.escalated || !is_on_device(ex, attempt->tier);
        if (i == 0 && is_on_device(ex, attempt->tier))
            seen.confidence = attempt->confidence;
    }
    struct utterance utterance;
    if (ex->signals.data_class == TD_CLASS_PUBLIC && seen.could_stay && !ex->request.keep_nothing) {
        utterance_read(&ex->request, &utterance);
        seen.utterance = &utterance;
    }
    watch_add(watch, &seen);
    if (own->reserved && !seen.escalated)
        watch_give_back(watch, caller_of(ex), own->per_hour);
}

const struct exchange_part part_watch = {
    .name = "watch",
    .state_bytes = sizeof(struct watch_state),
    .prepare = prepare,
    .ended = ended,
};

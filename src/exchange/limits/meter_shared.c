/* Limits and budgets of keys and tenants that several nodes have together.
 *
 * A minute's limit is asked for like a tier's (src/cluster/share.c): the node takes some of it at a
 * time. A budget lasts a day or a month, so it is no window but a sum: each node announces up to
 * where it will spend, a hundredth of the budget beyond what it has spent, and asks again when it
 * gets there. Two nodes cannot both announce the last of it. Where nobody answers, the node goes by
 * what the store said last of the others, and takes them to spend as much as it does itself. */
#include "exchange/limits/meter_internal.h"

#include "base/time/clock.h"

#include <string.h>

#define PART_OF_BUDGET 0.01 /* that is announced before it is spent */

/* --- budgets --- */

static double own_sum(const struct meter *meter, int period, enum unit unit)
{
    return unit == USD ? NANO * (meter->spent[period].usd + meter->promised_usd)
                       : (double)meter->spent[period].tokens + (double)meter->reserved_tokens;
}

static double budget_of(const struct meter *meter, int period, enum unit unit)
{
    return unit == USD ? NANO * meter->terms.usd[period] : (double)meter->terms.tokens[period];
}

static double others_of(const struct meter *meter, int period, enum unit unit)
{
    return unit == USD ? NANO * meter->others[period].usd : (double)meter->others[period].tokens;
}

/* Announces what the node itself will have. False: all of the budget is announced. */
static bool announce(struct meters *meters, struct meter *meter, int period, enum unit unit,
                     double own)
{
    static const char *const units[] = {"usd", "tokens"};
    double budget = budget_of(meter, period, unit), granted = 0, others = 0;
    const struct shared_sum sum = {.whom = meter->whom,
                                   .what = units[unit],
                                   .period = meters->period[period],
                                   .own = own,
                                   .had = own_sum(meter, period, unit),
                                   .more = budget * PART_OF_BUDGET,
                                   .others = others_of(meter, period, unit),
                                   .budget = budget};
    enum shared_room room = meters->door->reach(meters->door->ctx, &sum, &granted, &others);
    if (room == SHARED_AWAY)
        return true;
    if (unit == USD)
        meter->others[period].usd = others / NANO;
    else
        meter->others[period].tokens = (uint64_t)others;
    meter->granted[period][unit] = granted;
    return room == SHARED_ROOM;
}

/* While nobody can say what others spend, they are taken to spend what this node does, since it
 * heard of them last but one: what they told last was a second old. */
static double alone_sum(const struct meters *meters, const struct meter *meter, int period,
                        enum unit unit)
{
    uint32_t nodes = 1;
    if (!meters->door || !meters->door->away(meters->door->ctx, &nodes) || nodes < 2)
        return 0;
    const struct sums *heard = &meter->heard[period][1];
    double before = unit == USD ? NANO * heard->usd : (double)heard->tokens;
    return (own_sum(meter, period, unit) - before) * (nodes - 1);
}

/* Whether there is room for `more` in the budget, as far as other nodes are concerned. */
bool meter_fits_together(struct meters *meters, struct meter *meter, int period, enum unit unit,
                         double more)
{
    double budget = budget_of(meter, period, unit);
    if (!meters->door || !(budget > 0))
        return true;
    uint32_t losses = meters->door->losses(meters->door->ctx);
    if (losses != meter->losses) {
        memset(meter->granted, 0, sizeof meter->granted);
        meter->losses = losses;
    }
    double own = own_sum(meter, period, unit) + more;
    if (own > meter->granted[period][unit] && !announce(meters, meter, period, unit, own))
        return false;
    return own + others_of(meter, period, unit) + alone_sum(meters, meter, period, unit) <= budget;
}

void meters_heard(struct meters *meters)
{
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    for (struct meter *meter = meters->door ? meters->first : NULL; meter; meter = meter->next)
        for (int period = 0; period < KEY_PERIOD_COUNT; period++) {
            meter->heard[period][1] = meter->heard[period][0];
            meter->heard[period][0] = meter->spent[period];
        }
    pthread_mutex_unlock(&meters->lock);
}

void meters_settle(struct meters *meters)
{
    pthread_mutex_lock(&meters->lock);
    meters_turn_locked(meters);
    for (struct meter *meter = meters->door ? meters->first : NULL; meter; meter = meter->next)
        for (int period = 0; period < KEY_PERIOD_COUNT; period++)
            for (int unit = 0; unit < UNIT_COUNT; unit++) {
                double own = own_sum(meter, period, (enum unit)unit);
                double kept = meter->granted[period][unit] - own;
                if (kept > 2 * PART_OF_BUDGET * budget_of(meter, period, (enum unit)unit))
                    (void)announce(meters, meter, period, (enum unit)unit, own);
            }
    pthread_mutex_unlock(&meters->lock);
}

/* --- limits of a minute --- */

static struct tier_limits minute_limits(const struct meter *meter)
{
    return (struct tier_limits){.requests_per_minute = meter->terms.requests_per_minute,
                                .tokens_per_minute = meter->terms.tokens_per_minute};
}

struct shared_limit *meter_together(struct meters *meters, struct meter *meter)
{
    const struct tier_limits limits = minute_limits(meter);
    if (!meters->door || !tier_limits_any(&limits))
        return NULL;
    if (!meter->together)
        meter->together = meters->door->make(meters->door->ctx, meter->whom);
    return meter->together;
}

static struct shared_use use_of(const struct meter_hold *hold, size_t i)
{
    return (struct shared_use){.requests = 1, .tokens = hold->counted[i]};
}

/* Others have used it up: what the request has here is given back. */
static void refuse_together(struct meters *meters, struct meter_hold *hold, size_t which,
                            enum shared_answer answer, uint32_t wait_ms,
                            struct meter_verdict *verdict)
{
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(meters->clock);
    pthread_mutex_lock(&meters->lock);
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        struct meter *meter = hold->of[i];
        if (!meter)
            continue;
        meter->request_count--;
        meter->reserved_tokens -= hold->tokens;
        if (meter->requests)
            minute_take(meter->requests, 1, hold->since_ms, now_ms);
        if (meter->tokens)
            minute_take(meter->tokens, hold->counted[i], hold->since_ms, now_ms);
    }
    struct meter *meter = hold->of[which];
    (void)!meter_refuse(meter, which == 1, answer == SHARED_TOKENS ? METER_TOKENS : METER_REQUESTS,
                        wait_ms ? wait_ms : 1, verdict);
    struct meter_rate *rate =
        answer == SHARED_TOKENS ? &verdict->prompt_tokens : &verdict->requests;
    rate->limit =
        answer == SHARED_TOKENS ? meter->terms.tokens_per_minute : meter->terms.requests_per_minute;
    rate->left = 0;
    rate->reset_ms = 60000;
    pthread_mutex_unlock(&meters->lock);
}

/* What all nodes have left, where that is less than this one's count says. */
static void narrow(struct meters *meters, const struct meter *meter, struct shared_limit *of,
                   struct meter_verdict *verdict)
{
    uint64_t used[2];
    const uint32_t limits[] = {meter->terms.requests_per_minute, meter->terms.tokens_per_minute};
    struct meter_rate *const rates[] = {&verdict->requests, &verdict->prompt_tokens};
    meters->door->known(meters->door->ctx, of, &used[0], &used[1]);
    for (size_t i = 0; i < 2; i++) {
        uint32_t left = used[i] < limits[i] ? limits[i] - (uint32_t)used[i] : 0;
        if (rates[i]->limit && rates[i]->limit == limits[i] && left < rates[i]->left)
            rates[i]->left = left;
    }
}

/* Without the lock: whoever asks another machine may wait. */
bool meters_enter_together(struct meters *meters,
                           struct shared_limit *const of[static METERS_OF_REQUEST],
                           struct meter_hold *hold, struct meter_verdict *verdict)
{
    const struct shared_limits *door = meters->door;
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        uint32_t wait_ms = 0;
        struct shared_use use = use_of(hold, i);
        const struct tier_limits limits =
            of[i] ? minute_limits(hold->of[i]) : (struct tier_limits){.concurrent = 0};
        enum shared_answer answer =
            of[i] ? door->take(door->ctx, of[i], &limits, &use, &wait_ms) : SHARED_TAKEN;
        if (answer == SHARED_TAKEN)
            continue;
        for (size_t k = 0; k < i; k++) {
            use = use_of(hold, k);
            if (of[k])
                door->give(door->ctx, of[k], &use);
        }
        refuse_together(meters, hold, i, answer, wait_ms, verdict);
        *hold = (struct meter_hold){.tokens = 0};
        return false;
    }
    for (size_t i = 0; i < METERS_OF_REQUEST; i++) {
        const struct shared_use use = use_of(hold, i);
        if (!of[i])
            continue;
        door->used(door->ctx, of[i], &use, false, hold->since_ms);
        narrow(meters, hold->of[i], of[i], verdict);
    }
    return true;
}

void meters_settle_together(struct meters *meters, const struct meter_hold *hold, uint64_t tokens)
{
    const struct shared_limits *door = meters->door;
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(meters->clock);
    uint32_t used = tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX;
    for (size_t i = 0; door && i < METERS_OF_REQUEST; i++) {
        struct shared_limit *of = hold->of[i] ? hold->of[i]->together : NULL;
        uint32_t held = hold->counted[i];
        if (of && used < held)
            door->back(door->ctx, of, held - used, hold->since_ms, now_ms);
        else if (of && used > held)
            door->used(door->ctx, of, &(struct shared_use){.tokens = used - held}, true, now_ms);
    }
}

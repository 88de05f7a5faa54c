/* An exchange and the load of the tiers (tier/tier.h).
 *
 * The plan puts a request on a tier a moment before the tier is asked. Of a burst, many plans are
 * made in that moment, so each is counted as soon as it is made: otherwise all of them would find
 * the tier idle. */
#include "exchange/machine/exchange_core.h"

struct load_state {
    bool expected, under_way;
    size_t expected_tier;
    struct attempt *attempt; /* that is under way */
    uint32_t others;         /* that its tier had when it began */
};

static void stop_expecting(struct exchange *ex, struct load_state *own)
{
    if (own->expected)
        tier_load_drop(ex->services->load, own->expected_tier);
    own->expected = false;
}

/* However the attempt goes on, the time to its first text says how busy the tier is. */
static void stop(struct exchange *ex, struct load_state *own)
{
    if (!own->under_way)
        return;
    own->under_way = false;
    tier_load_end(ex->services->load, own->attempt->tier);
    if (own->attempt->first_ms > 0 && !tier_cache_is_kept(own->attempt->cache))
        tier_load_learn(ex->services->load, own->attempt->tier, own->others,
                        own->attempt->first_ms);
}

static void planned(struct exchange *ex, void *state)
{
    struct load_state *own = state;
    if (!ex->services->load || ex->plan.rung_count == 0)
        return;
    own->expected = true;
    own->expected_tier = ex->plan.rungs[0];
    tier_load_expect(ex->services->load, own->expected_tier);
}

static void started(struct exchange *ex, void *state)
{
    struct load_state *own = state;
    if (!ex->services->load)
        return;
    stop_expecting(ex, own);
    stop(ex, own);
    own->under_way = true;
    own->attempt = ex->current;
    own->others = tier_load_begin(ex->services->load, own->attempt->tier);
}

static void left(struct exchange *ex, void *state)
{
    struct load_state *own = state;
    if (own->attempt == ex->current)
        stop(ex, own);
}

static void release(struct exchange *ex, void *state)
{
    stop_expecting(ex, state);
    stop(ex, state);
}

const struct exchange_part part_load = {
    .name = "load",
    .state_bytes = sizeof(struct load_state),
    .planned = planned,
    .started = started,
    .left = left,
    .release = release,
};

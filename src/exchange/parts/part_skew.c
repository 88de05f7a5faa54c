/* An exchange and tiers that say something else too often (memory/skew_table.h): the plan is told
 * before it is made (router/plan/skew.c). */
#include "base/crypto/hash.h"
#include "exchange/machine/exchange_core.h"
#include "exchange/memory/skew_table.h"
#include "exchange/parts/shadow_pool.h"

static void prepare(struct exchange *ex, void *state, const struct route *route)
{
    (void)state;
    (void)route;
    const struct exchange_services *services = ex->services;
    struct skew_signal *skew = &ex->signals.skew;
    if (!services->shadow_pool)
        return;
    skew_table_read(shadow_pool_skew(services->shadow_pool), ex->facts, services->tier_count, skew);
    skew->policy = services->skew_policy;
    skew->local_share = services->skewed_local_share;
    skew->draw = hash_draw(ex->id, "skew");
    skew->goes_on = ex->conversation.answered;
}

const struct exchange_part part_skew = {.name = "skew", .prepare = prepare};

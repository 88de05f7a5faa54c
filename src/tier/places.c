#include "tier/places.h"

#include <stddef.h>

/* As long as most clients take to ask again (Retry-After says one or two seconds). */
#define HUNGRY_MS 2500
/* Of a place that nobody has left yet. */
#define KEPT_MS_GUESS 1000.0
#define MEAN_SHARE 0.1

static bool is_hungry(const struct fair_owner *owner, uint64_t now_ms)
{
    return owner->hungry_ms && now_ms < owner->hungry_ms + HUNGRY_MS;
}

bool places_may(struct places *places, uint64_t key, uint32_t free, uint64_t now_ms)
{
    const struct fair_owner *own = fair_find(&places->fair, key);
    double served =
        own && (own->jobs || own->served > places->fair.clock) ? own->served : places->fair.clock;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < places->fair.count; i++) {
        const struct fair_owner *other = &places->fair.owners[i];
        kept += other->key != key && is_hungry(other, now_ms) && other->served < served;
    }
    return free > kept;
}

void places_want(struct places *places, uint64_t key, uint32_t weight, uint64_t now_ms)
{
    fair_join(&places->fair, key, weight)->hungry_ms = now_ms ? now_ms : 1;
}

double places_enter(struct places *places, uint64_t key, uint32_t weight)
{
    struct fair_owner *owner = fair_join(&places->fair, key, weight);
    double paid_ms = places->mean_ms > 0 ? places->mean_ms : KEPT_MS_GUESS;
    owner->jobs++;
    fair_serve(&places->fair, owner, paid_ms);
    return paid_ms;
}

void places_leave(struct places *places, uint64_t key, double paid_ms, uint64_t kept_ms)
{
    struct fair_owner *owner = fair_find(&places->fair, key);
    double kept = (double)kept_ms;
    if (!owner) /* it shares the last place of the table */
        owner = &places->fair.owners[FAIR_OWNERS_MAX - 1];
    fair_correct(owner, kept - paid_ms);
    owner->jobs -= owner->jobs > 0;
    places->mean_ms += (places->mean_ms > 0 ? MEAN_SHARE : 1) * (kept - places->mean_ms);
}

/* Whose turn it is where a tier takes only so many requests at a time: keys that want more than
 * there is get their shares by weight (base/thread/fair.h), in time that they keep a place.
 *
 * A request that finds no place is not kept waiting: it goes to the next tier, or its client asks
 * again. So one free place is kept for a while for each key that wanted one lately and was served
 * less. Plain counts without a lock; src/tier/health.c has them in its records. now_ms is
 * monotonic. */
#ifndef TIER_PLACES_H
#define TIER_PLACES_H

#include "base/thread/fair.h"

struct places {
    struct fair fair;
    double mean_ms; /* how long a place is kept, of those of late; 0 = not known */
};

/* Of `free` places (at least 1): may this key have one? */
bool places_may(struct places *places, uint64_t key, uint32_t free, uint64_t now_ms);
/* It got none; or it has one, and pays in advance what it will be asked back when it leaves. */
void places_want(struct places *places, uint64_t key, uint32_t weight, uint64_t now_ms);
double places_enter(struct places *places, uint64_t key, uint32_t weight);
void places_leave(struct places *places, uint64_t key, double paid_ms, uint64_t kept_ms);

#endif

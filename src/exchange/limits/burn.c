/* A slot belongs to the minute that is written in it, so old ones need no sweeping. */
#include "exchange/limits/burn.h"

#include "base/core/assertion.h"

#include <math.h>

#define MINUTE_MS 60000

void burn_add(struct burn *burn, bool missed, uint64_t wall_ms)
{
    uint64_t minute = wall_ms / MINUTE_MS;
    size_t slot = minute % BURN_MINUTES;
    if (burn->of[slot].minute != minute) {
        burn->of[slot].minute = minute;
        burn->of[slot].hit = burn->of[slot].missed = 0;
    }
    if (missed)
        burn->of[slot].missed++;
    else
        burn->of[slot].hit++;
}

double burn_rate(const struct burn *burn, uint32_t minutes, double target, uint64_t wall_ms,
                 uint32_t *missed)
{
    ASSERT(minutes > 0 && minutes <= BURN_MINUTES && target < 1);
    uint64_t now = wall_ms / MINUTE_MS;
    uint64_t hits = 0, misses = 0;
    for (size_t i = 0; i < BURN_MINUTES; i++) {
        if (burn->of[i].minute > now || now - burn->of[i].minute >= minutes)
            continue;
        hits += burn->of[i].hit;
        misses += burn->of[i].missed;
    }
    *missed = misses < UINT32_MAX ? (uint32_t)misses : UINT32_MAX;
    return hits + misses > 0 ? (double)misses / (double)(hits + misses) / (1 - target)
                             : (double)NAN;
}

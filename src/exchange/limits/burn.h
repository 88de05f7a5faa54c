/* How fast the misses of an objective use up what its target allows: the burn rate (Beyer et al.
 * 2018, "The Site Reliability Workbook", chapter 5). At 1 the allowance lasts exactly as long as it
 * should; at 14.4 a month's lasts two days. Minutes are counted in a ring of one hour. Zeroed is
 * ready; one owner. */
#ifndef EXCHANGE_BURN_H
#define EXCHANGE_BURN_H

#include "tandem/types.h"

#define BURN_MINUTES 60

struct burn {
    struct {
        uint64_t minute; /* since the epoch */
        uint32_t hit, missed;
    } of[BURN_MINUTES];
};

void burn_add(struct burn *burn, bool missed, uint64_t wall_ms);
/* Over the last minutes (at most BURN_MINUTES), for a share `target` that should be hit. NAN
 * without any. *missed: how many were. */
double burn_rate(const struct burn *burn, uint32_t minutes, double target, uint64_t wall_ms,
                 uint32_t *missed);

#endif

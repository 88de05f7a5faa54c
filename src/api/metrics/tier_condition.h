/* How a tier stands: whether it can be asked, and if not, why, in words for operators. */
#ifndef API_TIER_CONDITION_H
#define API_TIER_CONDITION_H

#include "exchange/machine/exchange.h"

struct tier_condition {
    bool up;          /* it may be asked now, as far as is known */
    const char *code; /* "up"; or what keeps it down: "no_key", a fault of its model ("missing",
                         "corrupt", ...), "refused", "unreachable", "failing"; or what it waits for:
                         "resting", "busy", "loading" */
    bool broken;      /* somebody has to mend it: a key, a name, a file, a network */
    char why[REASON_TEXT_BYTES]; /* a sentence; "" when it is up */
};

void tier_condition_read(const struct exchange_services *services, size_t tier,
                         struct tier_condition *out);

#endif

/* The table of parts (machine/part.h).
 *
 * The order is the order of every hook. The document comes first, because it says anew whom the
 * plan may ask. At the end it matters: hedging and the budget settle what was spent, consistency
 * counts what keeping a tier cost, the account adds it up, and then the ledger writes all of it
 * down. Verification adds what it found to that record. The shadow comes last, because it starts
 * new work. */
#include "exchange/machine/part.h"

#define EACH_NAME(X) \
    X(document)      \
    X(load)          \
    X(hedge)         \
    X(urgent)        \
    X(second)        \
    X(budget)        \
    X(conversation)  \
    X(consistency) X(skew) X(account) X(ledger) X(verify) X(reactions) X(watch) X(ramp) X(shadow)

#define DECLARED(name) extern const struct exchange_part part_##name;
EACH_NAME(DECLARED)

#define ROW(name) &part_##name,
const struct exchange_part *const exchange_parts[] = {EACH_NAME(ROW) NULL};
_Static_assert(sizeof exchange_parts / sizeof *exchange_parts <= EXCHANGE_PARTS_MAX + 1,
               "there are more parts than EXCHANGE_PARTS_MAX");

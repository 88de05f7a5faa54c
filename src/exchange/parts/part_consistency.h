/* What the ledger asks of consistency when an exchange has ended. */
#ifndef EXCHANGE_PART_CONSISTENCY_H
#define EXCHANGE_PART_CONSISTENCY_H

#include "exchange/machine/part.h"

extern const struct exchange_part part_consistency;

/* What keeping the earlier tier cost more than the fresh start's tier would have charged. */
double part_consistency_kept_usd(const struct exchange *exchange);

#endif

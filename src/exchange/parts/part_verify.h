/* What the shadow asks of verification. */
#ifndef EXCHANGE_PART_VERIFY_H
#define EXCHANGE_PART_VERIFY_H

#include "exchange/machine/part.h"

extern const struct exchange_part part_verify;

/* Is it one of the route's sample (gates.g4.share)? Those with high stakes are not sampled. */
bool part_verify_is_sampled(const struct exchange *exchange);

#endif

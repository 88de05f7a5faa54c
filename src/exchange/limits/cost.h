/* What an attempt costs, by the prices of its tier. Pure functions; any thread. */
#ifndef EXCHANGE_COST_H
#define EXCHANGE_COST_H

#include "tier/tier.h"

/* In USD. */
double cost_usd(const struct tier_facts *facts, const struct tier_usage *usage);
/* An estimate for an attempt that was left before its tier told its usage: `tokens` were counted,
 * and `bytes` of text came without a count. Four bytes are one token. A cloud bills them too. */
struct tier_usage cost_usage_so_far(uint32_t prompt_tokens, uint64_t tokens, uint64_t bytes);

#endif

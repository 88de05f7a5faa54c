/* What an attempt costs, by the prices of its tier. Pure functions; any thread. */
#ifndef EXCHANGE_COST_H
#define EXCHANGE_COST_H

#include "exchange/limits/token_counts.h"
#include "tier/tier.h"

/* In USD. Prompt tokens that the server had in its cache have a price of their own. */
double cost_usd(const struct tier_facts *facts, const struct tier_usage *usage);

/* What is known of an attempt whose tier did not tell its usage. A server bills that, too. */
struct cost_seen {
    uint32_t prompt_tokens; /* by the tier's own count, or its ratio (struct tier_state) */
    uint64_t tokens;        /* of the answer, that were counted */
    uint64_t answer_bytes;  /* of the answer */
    uint64_t beside_bytes;  /* of what came beside it, such as reasoning */
};
struct tier_usage cost_usage_seen(const struct cost_seen *seen, const struct token_ratio *ratio);

/* The number of tokens in so many bytes, by the estimate. */
double cost_tokens_of(uint64_t bytes);
/* What the tier would charge for the same text. */
double cost_of_text(const struct tier_facts *facts, const struct token_ratio *ratio,
                    uint32_t prompt_estimate, uint64_t answer_bytes);

#endif

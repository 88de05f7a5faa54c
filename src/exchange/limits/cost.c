#include "exchange/limits/cost.h"

#include "base/core/assertion.h"

#include <math.h>

#define BYTES_PER_TOKEN 4.0

static double priced(const struct tier_facts *facts, double prompt, double cached,
                     double completion)
{
    return ((prompt - cached) * facts->input_usd_per_mtok +
            cached * facts->cached_input_usd_per_mtok + completion * facts->output_usd_per_mtok) /
           1e6;
}

double cost_usd(const struct tier_facts *facts, const struct tier_usage *usage)
{
    ASSERT(facts && usage);
    double cached = fmin(usage->cached_tokens, usage->prompt_tokens);
    double written = fmin(usage->cache_written, usage->prompt_tokens - cached);
    double more = facts->cache_write_factor > 0 ? facts->cache_write_factor - 1 : 0;
    return priced(facts, usage->prompt_tokens, cached, usage->completion_tokens) +
           written * more * facts->input_usd_per_mtok / 1e6;
}

double cost_tokens_of(uint64_t bytes)
{
    return (double)bytes / BYTES_PER_TOKEN;
}

double cost_of_text(const struct tier_facts *facts, const struct token_ratio *ratio,
                    uint32_t prompt_estimate, uint64_t answer_bytes)
{
    ASSERT(facts && ratio);
    double prompt = prompt_estimate * ratio->prompt;
    return priced(facts, prompt, prompt * ratio->cached,
                  cost_tokens_of(answer_bytes) * ratio->answer);
}

/* The ratio of answers holds what comes beside them, so that is counted only where no answer came
 * yet. */
struct tier_usage cost_usage_seen(const struct cost_seen *seen, const struct token_ratio *ratio)
{
    ASSERT(seen && ratio);
    double tokens = fmax(cost_tokens_of(seen->answer_bytes) * ratio->answer,
                         cost_tokens_of(seen->beside_bytes));
    if (seen->tokens > 0)
        tokens = (double)seen->tokens;
    return (struct tier_usage){
        .prompt_tokens = seen->prompt_tokens,
        .completion_tokens = (uint32_t)fmin(ceil(tokens), UINT32_MAX),
    };
}

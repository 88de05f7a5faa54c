#include "exchange/limits/cost.h"

#include <assert.h>

double cost_usd(const struct tier_facts *facts, const struct tier_usage *usage)
{
    assert(facts && usage);
    return (usage->prompt_tokens * facts->input_usd_per_mtok +
            usage->completion_tokens * facts->output_usd_per_mtok) /
           1e6;
}

struct tier_usage cost_usage_so_far(uint32_t prompt_tokens, uint64_t tokens, uint64_t bytes)
{
    tokens += (bytes + 3) / 4;
    return (struct tier_usage){
        .prompt_tokens = prompt_tokens,
        .completion_tokens = tokens < UINT32_MAX ? (uint32_t)tokens : UINT32_MAX,
    };
}

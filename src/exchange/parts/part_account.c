/* The money of an exchange: it goes into the account, and the exact usages of its attempts teach
 * how their servers count. */
#include "exchange/limits/account.h"
#include "exchange/limits/cost.h"
#include "exchange/machine/exchange_core.h"

/* An answer of nothing but reasoning, or a usage that was cut off, teaches nothing of answers. */
static void learn(const struct exchange *ex, const struct attempt *attempt)
{
    const struct tier *tier = ex->services->tiers[attempt->tier];
    if (tier_cache_is_kept(attempt->cache) || !ex->services->token_counts ||
        !tier->ops->estimates || !attempt->usage.exact || attempt->status != TD_OK ||
        attempt->answer_bytes == 0 || ex->request.media.kinds)
        return; /* what a server makes of an image says nothing about its tokens of text */
    const struct token_sums sums = {
        .count = 1,
        .prompt_estimate = attempt->prompt_estimate,
        .prompt_tokens = attempt->usage.prompt_tokens,
        .cached_tokens = attempt->usage.cached_tokens,
        .answer_estimate = cost_tokens_of(attempt->answer_bytes),
        .completion_tokens = attempt->usage.completion_tokens,
    };
    token_counts_add(ex->services->token_counts, tier->facts.name, ex->facts[attempt->tier].model,
                     &sums);
}

static void ended(struct exchange *ex, void *state, enum exchange_end how)
{
    (void)state, (void)how;
    struct account *account = ex->services->account;
    const struct exchange_summary *summary = &ex->answer.summary;
    struct account_entry entry = {
        .tier = summary->tier,
        .cost_usd = summary->cost_usd,
        .all_cloud_usd = summary->all_cloud_cost_usd,
        .standing = summary->standing,
    };
    for (size_t i = 0; i < ex->attempt_count; i++) {
        const struct attempt *attempt = ex->attempts[i];
        learn(ex, attempt);
        if (attempt->estimated)
            entry.estimated_usd += attempt->cost_usd;
        if (account && attempt->usage.refused)
            account_refuse_usage(account, ex->facts[attempt->tier].name);
    }
    if (account)
        account_add(account, &entry);
}

const struct exchange_part part_account = {.name = "account", .ended = ended};

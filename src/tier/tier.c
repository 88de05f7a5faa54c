#include "tier/tier.h"

#include "base/core/assertion.h"

void tier_cancel(struct tier *tier, struct tier_attempt *attempt)
{
    ASSERT(tier != NULL && attempt != NULL);
    tier->ops->cancel(attempt);
}

uint32_t tier_count_prompt(struct tier *tier, const struct td_request *request)
{
    ASSERT(tier != NULL && request != NULL);
    return tier->ops->count_prompt(tier, request);
}

uint64_t tier_egress_bytes(const struct tier *tier, const struct tier_attempt *attempt)
{
    ASSERT(tier != NULL && attempt != NULL);
    return tier->ops->egress_bytes ? tier->ops->egress_bytes(attempt) : 0;
}

uint32_t tier_estimate_prompt(const struct td_request *request)
{
    ASSERT(request != NULL);
    uint64_t count = request->media.tokens;
    for (size_t i = 0; i < request->message_count; i++)
        count += request->messages[i].content.len / 4 + 4;
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

bool tier_is_unbilled(const struct tier *tier, const struct tier_attempt *attempt)
{
    ASSERT(tier != NULL && attempt != NULL);
    return tier->ops->unbilled && tier->ops->unbilled(attempt);
}

void tier_free(struct tier *tier)
{
    if (tier)
        tier->ops->free(tier);
}

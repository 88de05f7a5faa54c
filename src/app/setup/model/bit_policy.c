#include "app/setup/model/bit_policy.h"

#include "kernels/kernels.h"
#include "router/plan/critical_use.h"
#include "router/plan/routing_rules.h"

#include <stdio.h>
#include <string.h>

/* IQ4_XS and MXFP4 have the fewest bits of those with four, Q5_0 and Q5_K of those with five. */
#define FOUR_BITS 4.25
#define FIVE_BITS 5.5

double bit_policy_bits(const char *type)
{
    for (uint32_t i = 0; i < TENSOR_TYPE_COUNT; i++) {
        const struct tensor_traits *traits = tensor_traits_get(i);
        if (traits && strcmp(traits->name, type) == 0)
            return 8.0 * traits->block_bytes / traits->block_elements;
    }
    return 0;
}

/* An empty list is no condition. */
static bool has(const struct config_texts *texts, const char *name)
{
    for (size_t i = 0; i < texts->count; i++)
        if (strcmp(texts->items[i], name) == 0)
            return true;
    return texts->count == 0;
}

/* The first route or rule of medicine or law that may use the tier; NULL = none. */
static const char *critical_use(const struct config *config, const char *tier)
{
    for (size_t i = 0; i < config->route_count; i++)
        if (has(&config->routes[i].tiers, tier) && critical_use_named(config->routes[i].name))
            return config->routes[i].name;
    for (size_t i = 0; i < config->rule_count; i++) {
        const struct config_rule *rule = &config->rules[i];
        const struct config_texts *tags = &rule->named[RULE_TAG];
        if (rule->deny || !has(&rule->tiers, tier))
            continue;
        if (rule->name && critical_use_named(rule->name))
            return rule->name;
        for (size_t t = 0; t < tags->count; t++)
            if (critical_use_named(tags->items[t]))
                return tags->items[t];
    }
    return NULL;
}

enum bit_doubt bit_policy_doubts(const struct config *config, const struct config_tier *tier,
                                 const struct td_model_info *info, char *why, size_t size)
{
    double bits = bit_policy_bits(info->quantization);
    if (!(bits > 0))
        return BITS_ENOUGH;
    if (bits < FOUR_BITS && info->parameter_count < BIT_POLICY_SMALL_PARAMETERS) {
        snprintf(why, size, "%s has %.2f bits a weight in a model of %.1f billion parameters",
                 info->quantization, bits, (double)info->parameter_count / 1e9);
        return BITS_FEW_EVERYWHERE;
    }
    const char *use = bits < FIVE_BITS ? critical_use(config, tier->name) : NULL;
    if (use)
        snprintf(why, size, "%s has %.2f bits a weight, and '%.60s' may use it", info->quantization,
                 bits, use);
    return use ? BITS_FEW_FOR_A_USE : BITS_ENOUGH;
}

/* Whether a model has so few bits a weight that it should be measured before it is used: below four
 * bits in a small model, where mistakes cost most, and below five for routes and rules of medicine
 * and law. Pure; any thread. */
#ifndef APP_BIT_POLICY_H
#define APP_BIT_POLICY_H

#include "app/config/config.h"
#include "tandem/engine.h"

#define BIT_POLICY_SMALL_PARAMETERS UINT64_C(3000000000)

/* Of a type of tensors by its name: bits of a weight with its scales; 0 = unknown. */
double bit_policy_bits(const char *type);

enum bit_doubt {
    BITS_ENOUGH,
    BITS_FEW_EVERYWHERE, /* in a small model */
    BITS_FEW_FOR_A_USE   /* for medicine and law (critical_use.h), which may use it */
};

/* why: for a sentence after the model's name; not with BITS_ENOUGH. */
enum bit_doubt bit_policy_doubts(const struct config *config, const struct config_tier *tier,
                                 const struct td_model_info *info, char *why, size_t size);

#endif

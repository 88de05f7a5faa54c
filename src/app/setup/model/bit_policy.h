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

/* False: nothing is to be said. why: for a sentence after the model's name. */
bool bit_policy_doubts(const struct config *config, const struct config_tier *tier,
                       const struct td_model_info *info, char *why, size_t size);

#endif

/* Compiles the rules of a configuration into those of router/plan/routing_rules.h. */
#ifndef APP_CONFIG_RULES_H
#define APP_CONFIG_RULES_H

#include "app/config/config.h"

/* Appends the rules of policy.preset and fills config->rule_set. Tiers and routes must have been
 * checked before. TD_INVALID, with file, line and reason: a name is unknown, conditions or actions
 * contradict each other, or a rule can never be reached. */
TD_MUST_CHECK enum td_status config_rules_compile(struct config *config, struct td_error *err);

#endif

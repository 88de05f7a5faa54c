/* Compiles the rules of a configuration into those of router/plan/routing_rules.h. */
#ifndef APP_CONFIG_RULES_H
#define APP_CONFIG_RULES_H

#include "app/config/config.h"

/* Appends the rules of policy.preset and fills config->rule_set; tiers and routes must have been
 * checked. TD_INVALID, with file, line and reason: an unknown name, conditions or actions that
 * contradict each other, or a rule that can never be reached. */
TD_MUST_CHECK enum td_status config_rules_compile(struct config *config, struct td_error *err);

#endif

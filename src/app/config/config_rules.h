/* Compiling the rules of a configuration (router/plan/routing_rules.h) and refusing what cannot be meant. */
#ifndef APP_CONFIG_RULES_H
#define APP_CONFIG_RULES_H

#include "app/config/config.h"

/* Appends the rules of policy.preset and fills config->rule_set; tiers and routes are checked already. TD_INVALID with file, line and
 * reason: a name that is not there, conditions or actions that contradict each other, a rule that earlier ones leave nothing for. */
TD_MUST_CHECK enum td_status config_rules_compile(struct config *config, struct td_error *err);

#endif

/* privacy.classes of the configuration: which tier may see data of which class. */
#ifndef APP_CONFIG_REACH_H
#define APP_CONFIG_REACH_H

#include "app/config/config.h"
#include "router/plan/reach.h"

/* TD_INVALID, with file and line, for a rule that names something unknown, lets restricted data
 * off the device, or lets a class reach further than the class below it. */
TD_MUST_CHECK enum td_status config_reach_check(const struct config *config, struct td_error *err);

/* Fills in the tier's region and certificates, and which classes it may see. The configuration
 * must have been checked. */
void config_reach_apply(const struct config *config, const struct config_tier *tier,
                        struct tier_facts *facts);

#endif

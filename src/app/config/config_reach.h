/* privacy.classes of the configuration: who may see which class. */
#ifndef APP_CONFIG_REACH_H
#define APP_CONFIG_REACH_H

#include "app/config/config.h"
#include "router/plan/reach.h"

/* A rule that names what is not there, lets restricted data off the device, or lets a class reach further
 * than the class below it, is TD_INVALID with its line. */
TD_MUST_CHECK enum td_status config_reach_check(const struct config *config, struct td_error *err);

/* The tier's region, certificates, and what it may see. Of a checked configuration. */
void config_reach_apply(const struct config *config, const struct config_tier *tier,
                        struct tier_facts *facts);

#endif

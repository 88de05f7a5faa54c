/* Checks the keys of a route that say which tiers answer together: race, gates.g4, people. */
#ifndef APP_CONFIG_TOGETHER_H
#define APP_CONFIG_TOGETHER_H

#include "app/config/config.h"

TD_MUST_CHECK enum td_status config_together_check(const struct config *config,
                                                   const struct config_route *route,
                                                   struct td_error *err);

#endif

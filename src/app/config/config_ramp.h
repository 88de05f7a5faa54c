/* The ramp of a route (router/watch/ramp_statistics.h): checks it when the configuration is read,
 * and turns it into a struct ramp_plan for the router. */
#ifndef APP_CONFIG_RAMP_H
#define APP_CONFIG_RAMP_H

#include "app/config/config.h"
#include "router/watch/ramp_statistics.h"

/* TD_INVALID, with file and line, when the ramp contradicts itself or its route. */
TD_MUST_CHECK enum td_status config_ramp_check(const struct config *config,
                                               const struct config_route *route,
                                               struct td_error *err);
/* Fills *out for a route that was checked. step_count is 0 when it has no ramp. */
void config_ramp_read(const struct config *config, const struct config_route *route,
                      struct ramp_plan *out);

#endif

/* What a route's configuration says of its ramp (router/watch/ramp_statistics.h): read, and refused where it contradicts itself or the route. */
#ifndef APP_CONFIG_RAMP_H
#define APP_CONFIG_RAMP_H

#include "app/config/config.h"
#include "router/watch/ramp_statistics.h"

/* TD_INVALID with the line. */
TD_MUST_CHECK enum td_status config_ramp_check(const struct config *config,
                                               const struct config_route *route,
                                               struct td_error *err);
/* Of a route that was checked; step_count 0: it has none. */
void config_ramp_read(const struct config *config, const struct config_route *route,
                      struct ramp_plan *out);

#endif

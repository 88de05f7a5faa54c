/* Where traces and metrics go (api/telemetry/otlp.h), by the configuration and the variables that
 * OpenTelemetry's own programs read. The main thread's. */
#ifndef APP_OTLP_SETUP_H
#define APP_OTLP_SETUP_H

#include "app/config/config.h"

struct otlp;

/* *out NULL: nothing is to be sent. **returns new** (otlp_free). TD_INVALID: an address or headers
 * that are none. */
TD_MUST_CHECK enum td_status otlp_setup_open(const struct config *config, struct otlp **out,
                                             struct td_error *err);

#endif

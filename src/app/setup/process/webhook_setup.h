/* Who is told of events (net/client/webhook.h), by the configuration. The main thread's. */
#ifndef APP_WEBHOOK_SETUP_H
#define APP_WEBHOOK_SETUP_H

#include "app/config/config.h"

struct webhooks;

/* *out NULL: nobody. **returns new** (webhooks_free). TD_INVALID: a secret is missing, or none. */
TD_MUST_CHECK enum td_status webhook_setup_open(const struct config *config, struct webhooks **out,
                                                struct td_error *err);

#endif

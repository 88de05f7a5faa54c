/* The thread that removes records which the ledger has kept long enough (ledger.keep_days). A
 * server has one where there is an end to keeping. Main thread. */
#ifndef APP_RETENTION_H
#define APP_RETENTION_H

#include "app/config/config.h"

struct retention;

/* *out NULL: everything is kept. **returns new** (retention_stop). */
TD_MUST_CHECK enum td_status retention_start(const struct config *config, struct retention **out,
                                             struct td_error *err);
/* Waits for the rows that are being removed. Accepts NULL. */
void retention_stop(struct retention *retention);

#endif

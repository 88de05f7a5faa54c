/* The thread that removes records which the ledger has kept long enough (ledger.keep_days and the
 * keys beside it). A server has one where there is an end to keeping. Main thread. */
#ifndef APP_RETENTION_H
#define APP_RETENTION_H

#include "app/config/config.h"
#include "ledger/record/prune.h"

struct retention;

/* What the configuration says of it; in days and bytes, 0 = for ever. */
struct retention_keep {
    uint64_t days, class_days[LEDGER_CLASSES], bytes_max;
    bool by_class;
};
/* False: everything is kept. */
bool retention_keep_read(const struct config *config, struct retention_keep *out);
/* As times, by the clock. */
void retention_keep_now(const struct retention_keep *keep, struct ledger_keep *out);

/* *out NULL: everything is kept. **returns new** (retention_stop). */
TD_MUST_CHECK enum td_status retention_start(const struct config *config, struct retention **out,
                                             struct td_error *err);
/* Waits for the rows that are being removed. Accepts NULL. */
void retention_stop(struct retention *retention);

#endif

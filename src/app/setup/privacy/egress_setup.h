/* From the configuration to the record of what leaves the device. */
#ifndef APP_EGRESS_SETUP_H
#define APP_EGRESS_SETUP_H

#include "app/config/config.h"
#include "ledger/egress/egress_log.h"

/* Opens the egress ledger when a tier is elsewhere and the operator has not switched the ledger
 * off; else it leaves *log as it is. Makes the folders. **returns new** (egress_log_close). */
TD_MUST_CHECK enum td_status egress_setup_open(const struct config *config, struct egress_log **log,
                                               struct td_error *err);

#endif

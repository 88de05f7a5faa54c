/* Budgets outlive a restart: what was spent today, and the tokens of the last 24 hours, are
 * counted again from the ledger when a server starts. Without a ledger the day begins at zero.
 * What the ledger lacks starts at zero as well: users under privacy.zero_retention, users that
 * were forgotten, and exchanges that a kill interrupted. */
#ifndef APP_BUDGET_RESTORE_H
#define APP_BUDGET_RESTORE_H

#include "app/config/config.h"

struct spending;
struct clock;

/* clock NULL = the system's. The ledger's file must exist. */
TD_MUST_CHECK enum td_status budget_restore(const struct config *config, const struct clock *clock,
                                            struct spending *spending, struct td_error *err);

#endif

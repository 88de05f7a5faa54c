/* What earlier processes found of tiers that say something else, from the ledger. */
#ifndef APP_SKEW_SETUP_H
#define APP_SKEW_SETUP_H

#include "app/config/config.h"

struct skew_table;

/* Only where a route has shadows, and of the last days: an older answer says little of today's. A
 * ledger that cannot be read is logged: counting then begins anew. */
void skew_setup_restore(const struct config *config, struct skew_table *table);

#endif

/* Removes records that have been kept long enough, with their attempts, feedback, shadows and
 * reactions. Some rows at a time, each time in a transaction of its own, over a connection of its
 * own: writers wait for some milliseconds at most. Of several nodes one does it. One thread for
 * each pruner; not on a loop. */
#ifndef LEDGER_PRUNE_H
#define LEDGER_PRUNE_H

#include "tandem/types.h"

struct ledger_pruner;

/* path: of the ledger, or its database's URL. TD_NOT_FOUND: there is none yet. TD_BUSY: another
 * node does it. **returns new** (ledger_pruner_close). */
TD_MUST_CHECK enum td_status ledger_pruner_open(const char *path, struct ledger_pruner **out,
                                                struct td_error *err);
/* Another node may do it then. Accepts NULL. */
void ledger_pruner_close(struct ledger_pruner *pruner);
/* Removes at most `limit` exchanges that began before that time; *count: how many. */
TD_MUST_CHECK enum td_status ledger_prune(struct ledger_pruner *pruner, uint64_t before_wall_ms,
                                          uint32_t limit, uint64_t *count, struct td_error *err);

#endif

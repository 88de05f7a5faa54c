/* The ledger on PostgreSQL, for several nodes together. The program announces it at its start; from
 * then on a ledger whose name begins with postgresql:// is there. */
#ifndef CLUSTER_POSTGRES_H
#define CLUSTER_POSTGRES_H

#include "tandem/types.h"

/* Without libpq it announces nobody. */
void postgres_announce(void);
/* Before the first ledger is opened. node: how rows name this one. waiting: the file of what the
 * database has not got yet. **borrows** both for the life of the process. */
void postgres_set_node(const char *node, const char *waiting);
/* TD_OK for a path, and for a URL that can stand in a configuration. */
TD_MUST_CHECK enum td_status postgres_check_name(const char *name, struct td_error *err);

#endif

/* The twin of a build without libpq. db.c says that nobody serves such a name. */
#include "cluster/postgres.h"

#include "base/core/error.h"

#include <string.h>

void postgres_announce(void)
{
}

void postgres_set_node(const char *node, const char *waiting)
{
    (void)node;
    (void)waiting;
}

enum td_status postgres_check_name(const char *name, struct td_error *err)
{
    return strstr(name, "://")
               ? error_set(err, TD_UNSUPPORTED,
                           "this program was built without libpq, so its ledger is a file")
               : TD_OK;
}

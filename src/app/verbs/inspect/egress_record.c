/* A record that is missing is told apart from one that is switched off: the first may be a loss. */
#include "app/verbs/inspect/egress_record.h"

#include "base/core/error.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

enum td_status egress_record_find(const char *config_path, const char *named,
                                  struct config **config, const char **path, struct td_error *err)
{
    enum td_status status = config_load(config_path, config, err);
    if (status != TD_OK)
        return status;
    *path = named ? named : (*config)->ledger.egress;
    struct stat info;
    if (strcmp(*path, "none") == 0)
        return error_set(err, TD_NOT_FOUND,
                         "there is no record of what left: ledger.egress is none");
    if (stat(*path, &info) != 0)
        return error_set(err, TD_NOT_FOUND,
                         "there is no record %s (%s): nothing has left yet, or somebody removed it",
                         *path, strerror(errno));
    return TD_OK;
}

/* A configuration whose tiers are all on the device needs no record of what left. */
#include "app/setup/privacy/egress_setup.h"

#include "app/setup/files/state_file.h"

#include <string.h>

static bool leads_elsewhere(const struct config *config)
{
    for (size_t i = 0; i < config->tier_count; i++)
        if (config->tiers[i].kind >= CONFIG_TIER_SERVER)
            return true;
    return false;
}

enum td_status egress_setup_open(const struct config *config, struct egress_log **log,
                                 struct td_error *err)
{
    const char *folder = config->ledger.egress;
    if (*log || strcmp(folder, "none") == 0 || !leads_elsewhere(config))
        return TD_OK;
    enum td_status status = state_file_make_folders(folder, err);
    return status == TD_OK ? egress_log_open(folder, log, err) : status;
}

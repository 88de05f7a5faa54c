#include "app/setup/egress_setup.h"

#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <sys/stat.h>

enum td_status egress_setup_folder_of(const char *path, struct td_error *err)
{
    char folder[4096];
    size_t len = strlen(path);
    if (len >= sizeof folder)
        return error_set(err, TD_INVALID, "the path %.60s... is too long", path);
    memcpy(folder, path, len + 1);
    for (char *at = folder + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = '\0';
        if (mkdir(folder, 0700) != 0 && errno != EEXIST)
            return error_set(err, TD_IO, "cannot make the folder %s: %s; set TANDEM_STATE_DIR",
                             folder, strerror(errno));
        *at = '/';
    }
    return TD_OK;
}

static bool leads_elsewhere(const struct config *config)
{
    for (size_t i = 0; i < config->tier_count; i++)
        if (config->tiers[i].kind != CONFIG_TIER_LOCAL)
            return true;
    return false;
}

enum td_status egress_setup_open(const struct config *config, struct egress_log **log,
                                 struct td_error *err)
{
    const char *folder = config->ledger.egress;
    if (*log || strcmp(folder, "none") == 0 || !leads_elsewhere(config))
        return TD_OK;
    enum td_status status = egress_setup_folder_of(folder, err);
    return status == TD_OK ? egress_log_open(folder, log, err) : status;
}

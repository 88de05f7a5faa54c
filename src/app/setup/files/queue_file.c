#include "app/setup/files/queue_file.h"

#include "base/bytes/path.h"
#include "base/core/error.h"
#include "ledger/store/queue_store.h"

#include <unistd.h>

enum td_status queue_file_name(const struct config *config, char out[static STATE_PATH_BYTES],
                               struct td_error *err)
{
    if (config->state)
        return path_format(out, STATE_PATH_BYTES, err, "%s", config->state);
    if (!config->state_dir)
        return error_set(err, TD_NOT_FOUND,
                         "tickets are kept in the state folder, and there is none: set state_dir "
                         "or TANDEM_STATE_DIR");
    return state_file_path(config, QUEUE_STORE_FILE, out, err);
}

bool queue_file_exists(const struct config *config)
{
    char path[STATE_PATH_BYTES];
    return queue_file_name(config, path, NULL) == TD_OK &&
           (config->state || access(path, F_OK) == 0);
}

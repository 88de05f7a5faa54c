#include "app/setup/files/key_file.h"

#include "app/setup/files/state_file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "ledger/store/key_store.h"

enum td_status key_file_name(const struct config *config, char *out, size_t size,
                             struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    if (config->state)
        return path_format(out, size, err, "%s", config->state);
    if (!config->state_dir)
        return error_set(err, TD_NOT_FOUND,
                         "keys are kept in the state folder, and there is none: set state_dir or "
                         "TANDEM_STATE_DIR");
    enum td_status status = state_file_path(config, KEY_STORE_FILE, path, err);
    return status == TD_OK ? path_format(out, size, err, "%s", path) : status;
}

enum td_status key_file_open(const struct config *config, bool create, struct key_store **out,
                             struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    *out = NULL;
    enum td_status status = key_file_name(config, path, sizeof path, err);
    return status == TD_OK ? key_store_open(path, create, out, err) : status;
}

static void note_key(void *ctx, const struct stored_key *key)
{
    (void)key;
    *(bool *)ctx = true;
}

bool key_file_has_keys(const struct config *config)
{
    struct key_store *store;
    bool any = false;
    if (key_file_open(config, false, &store, NULL) != TD_OK)
        return false;
    /* One that cannot be read opens nothing. */
    bool read = key_store_each(store, note_key, &any, NULL) == TD_OK;
    key_store_close(store);
    return any || !read;
}

/* The memory of where questions started: its key, its file and its table of similar words. A server
 * owns the file. A command reads it and keeps what it adds to itself: a conversation in a terminal
 * that was begun earlier must not bar a server from its file. */
#include "app/setup/policy/consistency_setup.h"

#include "app/setup/files/secret_source.h"
#include "app/setup/files/state_file.h"
#include "app/setup/model/model_file.h"
#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/crypto/crypto.h"
#include "base/crypto/secret.h"
#include "exchange/memory/consistency.h"
#include "ledger/database/sealed_text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DAY_S 86400u

/* From the executable's folder: installed; build/tandem; build/src/app/tandem. */
static const char *const tables[] = {
    "../share/tandem/similar.tds",
    "../models/similar/similar.tds",
    "../../../models/similar/similar.tds",
};

static enum td_status read_key(const char *path, uint8_t key[static KEYED_KEY_BYTES],
                               struct td_error *err)
{
    struct buf file;
    buf_init(&file, 4 * KEYED_KEY_BYTES);
    enum td_status status = buf_read_file(&file, path, err);
    if (status == TD_OK && file.len != KEYED_KEY_BYTES)
        status = error_set(err, TD_CORRUPT,
                           "%s must hold a key of %d bytes; remove it and a new one is made, but "
                           "what was remembered with the old key is lost",
                           path, KEYED_KEY_BYTES);
    if (status == TD_OK)
        memcpy(key, file.data, KEYED_KEY_BYTES);
    if (file.data)
        crypto_wipe(file.data, file.len);
    buf_deinit(&file);
    return status;
}

/* Without it a node would take a key of its own, and find nothing that the others wrote. */
static enum td_status read_shared_key(const struct config *config,
                                      uint8_t key[static KEYED_KEY_BYTES], struct td_error *err)
{
    struct secret *secret = NULL;
    const char *env = config->cluster.key_env, *file = config->cluster.key_file;
    enum td_status status = secret_source_read(env, file, &secret, err);
    if (status == TD_OK && !secret)
        status = error_set(err, TD_INVALID, "the variable %s is not set", env);
    else if (status == TD_OK)
        status = keyed_key_parse(secret_reveal(secret), key, err);
    error_prefix(err, "cluster.key_%s", env ? "env" : "file");
    secret_free(secret);
    return status;
}

enum td_status installation_key(const struct config *config, uint8_t key[static KEYED_KEY_BYTES],
                                struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    if (config->cluster.key_env || config->cluster.key_file)
        return read_shared_key(config, key, err);
    if (!config->state_dir)
        return crypto_random(key, KEYED_KEY_BYTES, err);
    enum td_status status = state_file_path(config, "installation.key", path, err);
    if (status != TD_OK)
        return status;
    struct td_error unmade = {0};
    if (access(path, F_OK) == 0)
        return read_key(path, key, err);
    status = crypto_random(key, KEYED_KEY_BYTES, err);
    if (status == TD_OK)
        status =
            file_create(path, (struct td_str){(const char *)key, KEYED_KEY_BYTES}, 0600, &unmade);
    if (status == TD_BUSY) /* another process was faster, and everybody uses its key */
        return read_key(path, key, err);
    return unmade.status == TD_OK ? status : error_set(err, status, "%s", unmade.message);
}

enum td_status installation_key_known(const struct config *config,
                                      uint8_t key[static KEYED_KEY_BYTES], bool *known,
                                      struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    bool shared = config->cluster.key_env || config->cluster.key_file;
    *known = false;
    if (!shared && !config->state_dir)
        return TD_OK;
    enum td_status status = TD_OK;
    if (!shared)
        status = state_file_path(config, "installation.key", path, err);
    if (status != TD_OK || (!shared && access(path, F_OK) != 0))
        return status;
    status = installation_key(config, key, err);
    *known = status == TD_OK;
    return status;
}

enum td_status installation_key_for_texts(const struct config *config, bool makes,
                                          struct td_error *err)
{
    uint8_t key[KEYED_KEY_BYTES];
    bool kept = config->cluster.key_env || config->cluster.key_file || config->state_dir;
    if (makes && !kept)
        return !config->ledger.store_prompts
                   ? TD_OK
                   : error_set(err, TD_INVALID,
                               "ledger.store_prompts: texts are encrypted under the key of the "
                               "state folder, and there is none: set state_dir or "
                               "TANDEM_STATE_DIR");
    enum td_status status = makes ? installation_key(config, key, err)
                                  : installation_key_known(config, key, &kept, err);
    if (status == TD_OK && kept)
        sealed_text_use(key);
    crypto_wipe(key, sizeof key);
    return status;
}

static enum td_status open_at(const struct config *config, const char *path, bool serves,
                              struct consistency **out, struct td_error *err)
{
    struct consistency_options options = {
        .path = path,
        .read_only = !serves,
        .entries_max = config->router.consistency.entries_max,
        .ttl_s = (uint64_t)config->router.consistency.ttl_days * DAY_S,
    };
    enum td_status status = installation_key(config, options.key, err);
    if (status == TD_OK)
        status = consistency_open(&options, out, err);
    crypto_wipe(options.key, sizeof options.key);
    return status;
}

enum td_status consistency_setup_open(const struct config *config, bool serves,
                                      struct consistency **out, struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    *out = NULL;
    if (!config->router.consistency.on || config->privacy.zero_retention)
        return TD_OK;
    if (!config->state_dir)
        return open_at(config, NULL, serves, out, err);
    enum td_status status = state_file_path(config, "consistency.bin", path, err);
    return status == TD_OK ? open_at(config, path, serves, out, err) : status;
}

enum td_status consistency_setup_forget(const struct config *config, const char *tenant,
                                        const char *user, uint64_t *erased, struct td_error *err)
{
    char path[STATE_PATH_BYTES];
    struct consistency *consistency = NULL;
    *erased = 0;
    if (!config->state_dir)
        return TD_OK;
    enum td_status status = state_file_path(config, "consistency.bin", path, err);
    if (status != TD_OK || (access(path, F_OK) != 0 && errno == ENOENT))
        return status;
    status = open_at(config, path, true, &consistency, err);
    if (status == TD_OK)
        status = consistency_forget(consistency, tenant, user, erased, err);
    consistency_close(consistency);
    return status;
}

enum td_status similarity_setup_open(const char *path, struct similarity **out,
                                     struct td_error *err)
{
    char found[STATE_PATH_BYTES];
    *out = NULL;
    if (path && strcmp(path, "none") == 0)
        return TD_OK;
    if (!path || !*path) {
        if (!model_file_beside(tables, sizeof tables / sizeof *tables, found, sizeof found))
            return TD_OK;
        path = found;
    }
    return similarity_open(path, out, err);
}

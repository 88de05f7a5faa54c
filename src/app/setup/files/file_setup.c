#include "app/setup/files/file_setup.h"

#include "api/files/batch_lines.h"
#include "base/crypto/crypto.h"
#include "ledger/store/deferred_store.h"
#include "ledger/store/file_store.h"

#include <string.h>
#include <unistd.h>

#define BYTES_OF_MB 1000000ull

bool file_setup_keeps(const struct config *config)
{
    return config->files.mb_max > 0 && !config->privacy.zero_retention;
}

bool response_setup_keeps(const struct config *config)
{
    return config->responses.keep_s > 0 && !config->privacy.zero_retention;
}

enum td_status file_setup_open(const struct config *config,
                               const uint8_t key[static KEYED_KEY_BYTES], struct file_store **out,
                               struct td_error *err)
{
    struct file_share share = {.database = config->state};
    const struct file_limits limits = {
        .bytes_max = config->files.mb_max * BYTES_OF_MB,
        .owner_bytes_max = config->files.caller_mb_max * BYTES_OF_MB,
        .owner_count_max = config->files.caller_count_max,
        .keep_s = config->files.keep_days * 86400,
    };
    memcpy(share.key, key, sizeof share.key);
    enum td_status status =
        file_store_open(config->files.directory, &limits, config->state ? &share : NULL, out, err);
    crypto_wipe(share.key, sizeof share.key);
    return status;
}

enum td_status file_setup_forget(const struct config *config,
                                 const uint8_t key[static KEYED_KEY_BYTES], const char *owner,
                                 const char *user, uint64_t *erased, struct td_error *err)
{
    struct file_store *store;
    *erased = 0;
    if (!config->state && access(config->files.directory, F_OK) != 0)
        return TD_OK;
    enum td_status status = file_setup_open(config, key, &store, err);
    if (status != TD_OK)
        return status;
    status = file_store_forget(store, owner, batch_line_names_user, user, erased, err);
    file_store_close(store);
    return status;
}

bool deferral_setup_keeps(const struct config *config)
{
    return config->deferral.count_max > 0 && !config->privacy.zero_retention;
}

enum td_status deferral_setup_open(const struct config *config,
                                   const uint8_t key[static KEYED_KEY_BYTES],
                                   struct deferred_store **out, struct td_error *err)
{
    const struct deferred_limits limits = {
        .count_max = config->deferral.count_max,
        .owner_count_max = config->deferral.caller_count_max,
        .bytes_max = config->deferral.mb_max * BYTES_OF_MB,
        .expires_s = config->deferral.expires_s,
        .keep_s = config->deferral.keep_s,
    };
    return deferred_store_open(config->state ? config->state : config->deferral.path, &limits, key,
                               NULL, out, err);
}

enum td_status deferral_setup_forget(const struct config *config,
                                     const uint8_t key[static KEYED_KEY_BYTES], const char *owner,
                                     const char *user, uint64_t *erased, struct td_error *err)
{
    struct deferred_store *store;
    *erased = 0;
    if (!config->state && access(config->deferral.path, F_OK) != 0)
        return TD_OK;
    enum td_status status = deferral_setup_open(config, key, &store, err);
    if (status != TD_OK)
        return status;
    status = deferred_store_forget(store, owner, user, erased, err);
    deferred_store_close(store);
    return status;
}

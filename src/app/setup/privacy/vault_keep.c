/* The file of the vaults is JSON, encrypted as a whole:
 *
 *   {"version": 2, "vaults": [{"conversation": HEX, "owner": HEX, "used": MILLISECONDS SINCE 1970,
 *                              "vault": as vault_json.h writes it}]}
 *
 * The time of the last use is wall time, because no other clock goes on while the machine is
 * off. A vault without one is not taken. */
#include "app/setup/privacy/vault_keep.h"

#include "app/setup/privacy/vault_bytes.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "exchange/private/conversation_id.h"
#include "privacy/pseudonym/vault_json.h"
#include "privacy/pseudonym/vault_store.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FILE_BYTES_MAX ((size_t)1 << 30)

/* *key off: no file is named. */
static enum td_status read_key(const struct config *config, struct vault_key *key,
                               struct td_error *err)
{
    *key = (struct vault_key){0};
    if (!config->privacy.pseudonyms.vault_file)
        return TD_OK;
    if (!config->privacy.pseudonyms.vault_key_env && !config->privacy.pseudonyms.vault_key_file)
        return error_set(err, TD_INVALID,
                         "%s: privacy.pseudonyms.vault.file needs key_env or key_file, because "
                         "vaults are only kept encrypted",
                         config->label);
    if (config->privacy.zero_retention)
        return error_set(err, TD_INVALID,
                         "%s: privacy.zero_retention and privacy.pseudonyms.vault exclude each "
                         "other: remove one of them",
                         config->label);
    enum td_status status = vault_key_read(config->privacy.pseudonyms.vault_key_env,
                                           config->privacy.pseudonyms.vault_key_file, key, err);
    error_prefix(err, "privacy.pseudonyms.vault");
    return status;
}

enum td_status vault_keep_check(const struct config *config, struct td_error *err)
{
    struct vault_key key;
    enum td_status status = read_key(config, &key, err);
    vault_key_wipe(&key);
    return status;
}

/* What was used in the future was used now: a clock was put back. */
static uint64_t unused_ms(const struct json *item)
{
    int64_t used_ms = json_int(json_get(item, "used"), -1);
    int64_t now_ms = (int64_t)clock_wall_ms(NULL);
    return used_ms < 0 ? UINT64_MAX : now_ms > used_ms ? (uint64_t)(now_ms - used_ms) : 0;
}

static enum td_status load_one(const struct json *item, struct vault_store *store,
                               struct td_error *err)
{
    struct vault_record record = {.unused_ms = unused_ms(item)};
    _Static_assert(KEYED_KEY_BYTES == CRYPTO_SHA256_BYTES, "digests are read as keys are");
    if (keyed_key_parse(json_text(json_get(item, "conversation")), record.key, NULL) != TD_OK ||
        keyed_key_parse(json_text(json_get(item, "owner")), record.owner, NULL) != TD_OK)
        return error_set(err, TD_CORRUPT, "a conversation's name is malformed");
    enum td_status status = vault_json_read(json_get(item, "vault"), &record.vault, err);
    return status == TD_OK
               ? vault_store_put(store, &record, (uint64_t)clock_monotonic_ms(NULL), err)
               : status;
}

static enum td_status load_all(const char *path, const struct vault_key *key,
                               struct vault_store *store, struct td_error *err)
{
    struct buf text;
    struct json *root = NULL;
    buf_init(&text, FILE_BYTES_MAX);
    enum td_status status = vault_bytes_read(path, key, &text, err);
    if (status == TD_OK)
        status = json_parse(buf_view(&text), &root, err);
    const struct json *vaults = json_get(root, "vaults");
    for (size_t i = 0; i < json_count(vaults) && status == TD_OK; i++)
        status = load_one(json_at(vaults, i), store, err);
    if (text.data)
        crypto_wipe(text.data, text.len);
    buf_deinit(&text);
    json_free(root);
    return status;
}

enum td_status vault_keep_load(const struct config *config, struct vault_store *store,
                               struct td_error *err)
{
    const char *path = config->privacy.pseudonyms.vault_file;
    struct vault_key key;
    enum td_status status = read_key(config, &key, err);
    bool exists = path && (access(path, F_OK) == 0 || errno != ENOENT);
    if (status == TD_OK && key.on && exists) {
        status = load_all(path, &key, store, err);
        if (status != TD_OK)
            error_prefix(err, "privacy.pseudonyms.vault");
    }
    vault_key_wipe(&key);
    return status;
}

static enum td_status add_vault(void *ctx, const struct vault_record *record, struct td_error *err)
{
    char hex[2 * CRYPTO_SHA256_BYTES + 1];
    struct json *list = ctx, *item = json_new_object();
    (void)err;
    crypto_hex(record->key, CRYPTO_SHA256_BYTES, hex);
    json_put(item, "conversation", json_new_cstr(hex));
    crypto_hex(record->owner, CRYPTO_SHA256_BYTES, hex);
    json_put(item, "owner", json_new_cstr(hex));
    json_put(item, "used", json_new_int((int64_t)(clock_wall_ms(NULL) - record->unused_ms)));
    json_put(item, "vault", vault_json_write(record->vault));
    json_push(list, item);
    return TD_OK;
}

enum td_status vault_keep_save(const struct config *config, struct vault_store *store,
                               struct td_error *err)
{
    struct vault_key key;
    struct buf text;
    enum td_status status = read_key(config, &key, err);
    if (status != TD_OK || !key.on)
        return status;
    struct json *root = json_new_object(), *list = json_new_array();
    buf_init(&text, FILE_BYTES_MAX);
    uint64_t now_ms = (uint64_t)clock_monotonic_ms(NULL);
    (void)vault_store_sweep(store, now_ms, SIZE_MAX);
    status = vault_store_each(store, now_ms, add_vault, list, err);
    json_put(root, "version", json_new_int(VAULT_JSON_VERSION));
    json_put(root, "vaults", list);
    json_write(root, &text);
    json_free(root);
    if (status == TD_OK)
        status = text.failed ? error_set(err, TD_NO_MEMORY, "no memory to keep the vaults")
                             : vault_bytes_write(config->privacy.pseudonyms.vault_file, &key,
                                                 buf_view(&text), err);
    if (text.data)
        crypto_wipe(text.data, text.len);
    buf_deinit(&text);
    vault_key_wipe(&key);
    return status;
}

void vault_keep_clear(const struct config *config)
{
    const char *path = config->privacy.pseudonyms.vault_file;
    struct td_error err = {0};
    if (path && file_remove(path, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "vaults_not_cleared", "error=\"%s\"", err.message);
}

enum td_status vault_keep_forget(const struct config *config, const char *user, uint64_t *erased,
                                 struct td_error *err)
{
    uint8_t owner[CRYPTO_SHA256_BYTES];
    const char *path = config->privacy.pseudonyms.vault_file;
    *erased = 0;
    if (!path || access(path, F_OK) != 0)
        return TD_OK;
    struct vault_store *store =
        vault_store_new(SIZE_MAX, SIZE_MAX, (uint64_t)config->privacy.pseudonyms.ttl_s * 1000);
    if (!store)
        return error_set(err, TD_NO_MEMORY, "no memory for the vaults");
    enum td_status status = vault_keep_load(config, store, err);
    if (status == TD_OK) {
        conversation_id_owner(NULL, user, owner);
        *erased = vault_store_forget(store, owner, true);
        status = vault_keep_save(config, store, err);
    }
    vault_store_free(store);
    return status;
}

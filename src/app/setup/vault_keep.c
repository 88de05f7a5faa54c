/* {"version": 2, "vaults": [{"conversation": HEX, "owner": HEX, "vault": as vault_json.h writes it}]} */
#include "app/setup/vault_keep.h"

#include "app/setup/vault_bytes.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/error.h"
#include "base/str.h"
#include "privacy/vault_json.h"
#include "privacy/vault_store.h"

#include <errno.h>
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
                         "%s: privacy.pseudonyms.vault.file needs key_env or key_file: vaults are "
                         "kept encrypted only",
                         config->label);
    if (config->privacy.zero_retention)
        return error_set(err, TD_INVALID,
                         "%s: privacy.zero_retention keeps nothing: leave privacy.pseudonyms.vault "
                         "away",
                         config->label);
    return vault_key_read(config->privacy.pseudonyms.vault_key_env,
                          config->privacy.pseudonyms.vault_key_file, key, err);
}

static enum td_status load_one(const struct json *item, struct vault_store *store,
                               struct td_error *err)
{
    uint8_t conversation[CRYPTO_SHA256_BYTES], owner[CRYPTO_SHA256_BYTES];
    struct vault *vault = NULL;
    _Static_assert(KEYED_KEY_BYTES == CRYPTO_SHA256_BYTES, "digests are read as keys are");
    if (keyed_key_parse(json_text(json_get(item, "conversation")), conversation, NULL) != TD_OK ||
        keyed_key_parse(json_text(json_get(item, "owner")), owner, NULL) != TD_OK)
        return error_set(err, TD_CORRUPT, "a conversation's name is malformed");
    enum td_status status = vault_json_read(json_get(item, "vault"), &vault, err);
    return status == TD_OK ? vault_store_put(store, conversation, owner, vault,
                                             (uint64_t)clock_monotonic_ms(NULL), err)
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

static enum td_status add_vault(void *ctx, const uint8_t key[static CRYPTO_SHA256_BYTES],
                                const uint8_t owner[static CRYPTO_SHA256_BYTES],
                                struct vault *vault, struct td_error *err)
{
    char hex[2 * CRYPTO_SHA256_BYTES + 1];
    struct json *list = ctx, *item = json_new_object();
    (void)err;
    crypto_hex(key, CRYPTO_SHA256_BYTES, hex);
    json_put(item, "conversation", json_new_cstr(hex));
    crypto_hex(owner, CRYPTO_SHA256_BYTES, hex);
    json_put(item, "owner", json_new_cstr(hex));
    json_put(item, "vault", vault_json_write(vault));
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
    (void)vault_store_sweep(store, (uint64_t)clock_monotonic_ms(NULL), SIZE_MAX);
    status = vault_store_each(store, add_vault, list, err);
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

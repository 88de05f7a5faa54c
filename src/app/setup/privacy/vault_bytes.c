/* The first bytes tell whether a file is encrypted. So a key for a plain file, or an encrypted file
 * without a key, is an error; otherwise the vault would be lost. */
#include "app/setup/privacy/vault_bytes.h"

#include "app/setup/files/secret_source.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"

#define MAGIC STR("TDVAULT1")
#define FILE_BYTES_MAX ((size_t)1 << 30)

enum td_status vault_key_read(const char *env_name, const char *file, struct vault_key *key,
                              struct td_error *err)
{
    struct secret *secret = NULL;
    *key = (struct vault_key){0};
    if (!env_name && !file)
        return TD_OK;
    enum td_status status = secret_source_read(env_name, file, &secret, err);
    if (status == TD_OK && !secret)
        status =
            error_set(err, TD_NOT_FOUND, "the variable %s is not set", env_name ? env_name : file);
    if (status == TD_OK)
        status = keyed_key_parse(secret_reveal(secret), key->bytes, err);
    if (status != TD_OK)
        error_prefix(err, "the vault's key");
    key->on = status == TD_OK;
    secret_free(secret);
    return status;
}

void vault_key_wipe(struct vault_key *key)
{
    crypto_wipe(key, sizeof *key);
}

enum td_status vault_bytes_read(const char *path, const struct vault_key *key, struct buf *out,
                                struct td_error *err)
{
    struct buf bytes = {0};
    buf_init(&bytes, FILE_BYTES_MAX);
    enum td_status status = buf_read_file(&bytes, path, err);
    bool sealed = str_starts_with(buf_view(&bytes), MAGIC);
    if (status == TD_OK && sealed && !key->on)
        status = error_set(err, TD_DENIED,
                           "%s is encrypted: name its key with --vault-key-file or --vault-key-env",
                           path);
    else if (status == TD_OK && !sealed && key->on)
        status = error_set(err, TD_INVALID,
                           "%s is not encrypted: use it without a key, or another file", path);
    else if (status == TD_OK && !sealed)
        buf_append_str(out, buf_view(&bytes));
    else if (status == TD_OK) {
        status = keyed_open(key->bytes, MAGIC, str_slice(buf_view(&bytes), MAGIC.len, bytes.len),
                            out, err);
        if (status != TD_OK)
            error_prefix(err, "%s", path);
    }
    if (bytes.data)
        crypto_wipe(bytes.data, bytes.len);
    buf_deinit(&bytes);
    return status;
}

enum td_status vault_bytes_write(const char *path, const struct vault_key *key, struct td_str text,
                                 struct td_error *err)
{
    if (!key->on)
        return file_replace(path, text, 0600, err);
    struct buf sealed;
    buf_init(&sealed, FILE_BYTES_MAX);
    buf_append_str(&sealed, MAGIC);
    enum td_status status = keyed_seal(key->bytes, MAGIC, text, &sealed, err);
    if (status == TD_OK)
        status = file_replace(path, buf_view(&sealed), 0600, err);
    buf_deinit(&sealed);
    return status;
}

/* The file of a vault. Only its owner can read it. It is replaced as a whole or not at all. With a
 * key it is encrypted (AES-256-GCM): "TDVAULT1", then what keyed_seal writes with those 8 bytes as
 * its label. */
#ifndef APP_VAULT_BYTES_H
#define APP_VAULT_BYTES_H

#include "base/bytes/buf.h"
#include "base/crypto/keyed.h"

struct vault_key {
    bool on;
    uint8_t bytes[KEYED_KEY_BYTES];
};

/* Reads a key from an environment variable or from a file with 64 hexadecimal digits; off when
 * neither is named. TD_NOT_FOUND when the variable is not set, so that nothing is written in the
 * clear by mistake. */
TD_MUST_CHECK enum td_status vault_key_read(const char *env_name, const char *file,
                                            struct vault_key *key, struct td_error *err);
void vault_key_wipe(struct vault_key *key);

/* Appends the text of the file. TD_DENIED: it is encrypted and the key is missing or wrong.
 * TD_INVALID: it is not encrypted and a key was given. */
TD_MUST_CHECK enum td_status vault_bytes_read(const char *path, const struct vault_key *key,
                                              struct buf *out, struct td_error *err);
TD_MUST_CHECK enum td_status vault_bytes_write(const char *path, const struct vault_key *key,
                                               struct td_str text, struct td_error *err);

#endif

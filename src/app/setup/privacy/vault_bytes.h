/* A vault's file: readable by its owner alone, whole or not at all, and encrypted (AES-256-GCM) when there
 * is a key. Format of an encrypted one: "TDVAULT1", then what keyed_seal writes, with those 8 bytes as its
 * label. */
#ifndef APP_VAULT_BYTES_H
#define APP_VAULT_BYTES_H

#include "base/buf.h"
#include "base/keyed.h"

struct vault_key {
    bool on;
    uint8_t bytes[KEYED_KEY_BYTES];
};

/* From an environment variable or a file with 64 hexadecimal digits; neither named: off. A variable that is
 * named and not set is TD_NOT_FOUND: nothing is written in the clear by mistake. */
TD_MUST_CHECK enum td_status vault_key_read(const char *env_name, const char *file,
                                            struct vault_key *key, struct td_error *err);
void vault_key_wipe(struct vault_key *key);

/* Appends the text. TD_DENIED: encrypted and the key is missing or another; TD_INVALID: a key for a file
 * that is not encrypted. */
TD_MUST_CHECK enum td_status vault_bytes_read(const char *path, const struct vault_key *key,
                                              struct buf *out, struct td_error *err);
TD_MUST_CHECK enum td_status vault_bytes_write(const char *path, const struct vault_key *key,
                                               struct td_str text, struct td_error *err);

#endif

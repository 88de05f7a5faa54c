/* Keeps the vaults of conversations over a restart when the operator asks for it, in one
 * encrypted file. The file is read and removed at the start and written at the end, so that no
 * disk holds what expired or was forgotten meanwhile. A vault expires also while nothing runs. */
#ifndef APP_VAULT_KEEP_H
#define APP_VAULT_KEEP_H

#include "app/config/config.h"
#include "base/crypto/crypto.h"

struct vault_store;

/* Whether the key can be read that vaults are kept under, where they are kept. */
TD_MUST_CHECK enum td_status vault_keep_check(const struct config *config, struct td_error *err);
/* Does nothing when privacy.pseudonyms.vault names no file. A file without a key, or with a
 * wrong one, is an error: then the server does not start. */
TD_MUST_CHECK enum td_status vault_keep_load(const struct config *config, struct vault_store *store,
                                             struct td_error *err);
TD_MUST_CHECK enum td_status vault_keep_save(const struct config *config, struct vault_store *store,
                                             struct td_error *err);
/* Removes the file, once a server has read what it held. */
void vault_keep_clear(const struct config *config);
/* Removes the vaults of all tenants' users of that name, and expired ones, from the file when no
 * server runs. */
TD_MUST_CHECK enum td_status vault_keep_forget(const struct config *config, const char *user,
                                               uint64_t *erased, struct td_error *err);

#endif

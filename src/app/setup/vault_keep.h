/* The vaults of conversations over a restart, where the operator asks for it: one encrypted file, read at
 * the start and written at the end. */
#ifndef APP_VAULT_KEEP_H
#define APP_VAULT_KEEP_H

#include "app/config/config.h"

struct vault_store;

/* Nothing where privacy.pseudonyms.vault names no file. A file without a key, or with another, is an error:
 * then nothing starts, and nothing leaves. */
TD_MUST_CHECK enum td_status vault_keep_load(const struct config *config, struct vault_store *store,
                                             struct td_error *err);
TD_MUST_CHECK enum td_status vault_keep_save(const struct config *config, struct vault_store *store,
                                             struct td_error *err);

#endif

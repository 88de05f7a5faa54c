/* The vaults of conversations over a restart, where the operator asks for it: one encrypted file, read and
 * taken away at the start, written at the end. So no disk holds what memory has dropped meanwhile: what
 * expired, and what a user had forgotten. A vault's time goes on while nothing runs. */
#ifndef APP_VAULT_KEEP_H
#define APP_VAULT_KEEP_H

#include "app/config/config.h"
#include "base/crypto.h"

struct vault_store;

/* Nothing where privacy.pseudonyms.vault names no file. A file without a key, or with another, is an error:
 * then nothing starts, and nothing leaves. */
TD_MUST_CHECK enum td_status vault_keep_load(const struct config *config, struct vault_store *store,
                                             struct td_error *err);
TD_MUST_CHECK enum td_status vault_keep_save(const struct config *config, struct vault_store *store,
                                             struct td_error *err);
/* Once a server has what the file held. */
void vault_keep_clear(const struct config *config);
/* The owner's vaults (and what expired) leave the file, where no server runs. */
TD_MUST_CHECK enum td_status vault_keep_forget(const struct config *config,
                                               const uint8_t owner[static CRYPTO_SHA256_BYTES],
                                               uint64_t *erased, struct td_error *err);

#endif

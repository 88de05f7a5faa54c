/* Opens, as the configuration says, the memory of where exchanges started: the installation's key,
 * the file, and the table of similar words. */
#ifndef APP_CONSISTENCY_SETUP_H
#define APP_CONSISTENCY_SETUP_H

#include "app/config/config.h"
#include "base/crypto/keyed.h"

struct consistency;
struct similarity;

/* The key of the hashes in this installation's files: 32 random bytes in
 * STATE_DIR/installation.key (mode 0600), made when they are first needed. Without a state
 * folder the key lives as long as the process. TD_CORRUPT when the file holds something else. */
TD_MUST_CHECK enum td_status installation_key(const struct config *config,
                                              uint8_t key[static KEYED_KEY_BYTES],
                                              struct td_error *err);

/* The same where there is one already, and it is kept: *known says so. */
TD_MUST_CHECK enum td_status installation_key_known(const struct config *config,
                                                    uint8_t key[static KEYED_KEY_BYTES],
                                                    bool *known, struct td_error *err);
/* Texts of the ledger are encrypted with it and open with it from now on
 * (ledger/database/sealed_text.h). makes: it is made where there is none. Without a place to keep
 * it texts stay as they are, and with ledger.store_prompts that is TD_INVALID for who makes it. */
TD_MUST_CHECK enum td_status installation_key_for_texts(const struct config *config, bool makes,
                                                        struct td_error *err);

/* *out is NULL when router.consistency is off or nothing may be kept. Only a server's memory is
 * saved. **returns new** (consistency_close). */
TD_MUST_CHECK enum td_status consistency_setup_open(const struct config *config, bool serves,
                                                    struct consistency **out, struct td_error *err);
/* Erases a user in the file when no server runs; TD_BUSY when one does. */
TD_MUST_CHECK enum td_status consistency_setup_forget(const struct config *config,
                                                      const char *tenant, const char *user,
                                                      uint64_t *erased, struct td_error *err);

/* The table that router.consistency.table names, or else the one beside the program. *out is
 * NULL when there is none; words are then compared by their hashes alone. **returns new**
 * (similarity_close). */
TD_MUST_CHECK enum td_status similarity_setup_open(const char *path, struct similarity **out,
                                                   struct td_error *err);

#endif

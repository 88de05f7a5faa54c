/* What is remembered of where exchanges began, from the configuration: the installation's key, the file and the table of similarity. */
#ifndef APP_CONSISTENCY_SETUP_H
#define APP_CONSISTENCY_SETUP_H

#include "app/config/config.h"
#include "base/keyed.h"

struct consistency;
struct similarity;

/* Hashes in this installation's files are made with it: 32 random bytes in STATE_DIR/installation.key (0600), written the
 * first time. Without a state folder a key of this process. TD_CORRUPT: the file holds something else. */
TD_MUST_CHECK enum td_status installation_key(const struct config *config,
                                              uint8_t key[static KEYED_KEY_BYTES],
                                              struct td_error *err);

/* *out NULL: router.consistency is off, or nothing may be kept. A file that another process has is not waited for: memory alone
 * then. **returns new** (consistency_close). */
TD_MUST_CHECK enum td_status consistency_setup_open(const struct config *config,
                                                    struct consistency **out, struct td_error *err);
/* Erases the user in the file, where no server has it; TD_BUSY: one has. */
TD_MUST_CHECK enum td_status consistency_setup_forget(const struct config *config, const char *user,
                                                      uint64_t *erased, struct td_error *err);

/* The table that router.consistency.table names, else the one beside the program; *out NULL when there is none, and then words are told
 * apart by their hashes alone. **returns new** (similarity_close). */
TD_MUST_CHECK enum td_status similarity_setup_open(const char *path, struct similarity **out,
                                                   struct td_error *err);

#endif

/* The store of clients' files and batches, as the configuration says. Main thread. */
#ifndef APP_FILE_SETUP_H
#define APP_FILE_SETUP_H

#include "app/config/config.h"
#include "base/crypto/keyed.h"

struct deferred_store;
struct file_store;

/* Whether files are kept at all. */
bool file_setup_keeps(const struct config *config);
/* key: of the installation, or the cluster's. **returns new** (file_store_close). */
TD_MUST_CHECK enum td_status file_setup_open(const struct config *config,
                                             const uint8_t key[static KEYED_KEY_BYTES],
                                             struct file_store **out, struct td_error *err);
/* Whether responses are, in memory or in the nodes' database. */
bool response_setup_keeps(const struct config *config);
/* Where the store is not open: removes what names the user. owner NULL: of all. */
TD_MUST_CHECK enum td_status file_setup_forget(const struct config *config,
                                               const uint8_t key[static KEYED_KEY_BYTES],
                                               const char *owner, const char *user,
                                               uint64_t *erased, struct td_error *err);

/* The same of the queue of deferred questions (ledger/store/deferred_store.h). */
bool deferral_setup_keeps(const struct config *config);
TD_MUST_CHECK enum td_status deferral_setup_open(const struct config *config,
                                                 const uint8_t key[static KEYED_KEY_BYTES],
                                                 struct deferred_store **out, struct td_error *err);
TD_MUST_CHECK enum td_status deferral_setup_forget(const struct config *config,
                                                   const uint8_t key[static KEYED_KEY_BYTES],
                                                   const char *owner, const char *user,
                                                   uint64_t *erased, struct td_error *err);

#endif

/* What file_store.c, file_forget.c and batch_store.c share: the database and how statements are
 * run. For these files alone. */
#ifndef LEDGER_FILE_STORE_INTERNAL_H
#define LEDGER_FILE_STORE_INTERNAL_H

#include "ledger/store/file_store.h"

#include "ledger/database/db.h"
#include <limits.h>
#include <pthread.h>

struct file_store {
    pthread_mutex_t lock;
    struct db *db;
    char folder[PATH_MAX];
    char path[PATH_MAX]; /* of the database */
    struct file_limits limits;
    uint64_t bytes; /* of all contents, with those under way */
    uint64_t drafts_made;
    /* Where nodes share the store; parts NULL elsewhere. */
    struct db *parts; /* a connection for contents (file_parts.c) */
    pthread_mutex_t parts_lock;
    uint8_t key[KEYED_KEY_BYTES];
};

TD_MUST_CHECK enum td_status store_exec_locked(struct file_store *store, const char *sql,
                                               struct td_error *err);
/* Whether a commit waits for the disk, as it does at first. */
TD_MUST_CHECK enum td_status store_sync_locked(struct file_store *store, bool sync,
                                               struct td_error *err);
void store_column(struct db_statement *row, int column, char *out, size_t size);
TD_MUST_CHECK enum td_status store_new_id(const char *prefix, size_t random_bytes,
                                          char out[static STORED_ID_BYTES], struct td_error *err);
int64_t store_now_s(void);
/* Flushes a draft to the disk and gives it its name; its row is the caller's to add. */
TD_MUST_CHECK enum td_status store_place(struct file_draft *draft, const char *id,
                                         struct td_error *err);
TD_MUST_CHECK enum td_status store_add_file_locked(struct file_store *store, const char *owner,
                                                   struct stored_file *file, struct td_error *err);
/* The file's bytes are the store's now. Frees the draft. */
void store_settle_locked(struct file_draft *draft);
const char *store_draft_owner(const struct file_draft *draft);
/* The columns of a file, and the first row of a statement that selects them; false without one.
 * Frees the statement. */
#define STORE_FILE_COLUMNS "id, name, purpose, type, bytes, created_s, expires_s"
bool store_first_locked(struct db_statement *row, struct stored_file *out);
/* Row and contents. */
TD_MUST_CHECK enum td_status
store_remove_locked(struct file_store *store, const struct stored_file *file, struct td_error *err);

#endif

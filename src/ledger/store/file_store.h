/* Files that clients upload and batches make: their contents in a folder, what is known of them in
 * an SQLite database beside them. Batches and their answered lines stand in the same database
 * (ledger/store/batch_store.h). Where nodes share a database all of this stands there, the contents
 * sealed, and the folder has copies.
 *
 * A file belongs to one owner: to all others it is not there. Contents never change once they are
 * kept. What a dead process left unfinished is removed when the store is opened, which one process
 * does at a time. One lock for all; any thread. */
#ifndef LEDGER_FILE_STORE_H
#define LEDGER_FILE_STORE_H

#include "base/crypto/keyed.h"
#include "tandem/types.h"

#define STORED_ID_BYTES 48
#define STORED_NAME_BYTES 256
#define STORED_PURPOSE_BYTES 32
#define STORED_TYPE_BYTES 128
#define STORED_OWNER_BYTES 72

struct file_store;
struct file_draft;

struct file_limits {
    uint64_t bytes_max, owner_bytes_max; /* of contents, also of those under way */
    uint32_t owner_count_max;            /* files of one owner, and as many batches */
    uint32_t keep_s;                     /* 0 = for ever */
};

/* What nodes have together: the database's URL, and the key under which contents are sealed. */
struct file_share {
    const char *database;
    uint8_t key[KEYED_KEY_BYTES];
};

struct stored_file {
    char id[STORED_ID_BYTES];
    char name[STORED_NAME_BYTES];
    char purpose[STORED_PURPOSE_BYTES];
    char type[STORED_TYPE_BYTES]; /* a media type, or "" */
    uint64_t bytes;
    int64_t created_s, expires_s; /* since 1970; expires_s 0 = never */
};

/* folder: made if it is not there. share NULL: none; copied. **returns new** (file_store_close). */
TD_MUST_CHECK enum td_status file_store_open(const char *folder, const struct file_limits *limits,
                                             const struct file_share *share,
                                             struct file_store **out, struct td_error *err);
void file_store_close(struct file_store *store); /* accepts NULL */

/* A file under way. **returns new** (file_draft_drop, or file_draft_keep). TD_LIMIT: the owner or
 * the store is full. */
TD_MUST_CHECK enum td_status file_draft_new(struct file_store *store, const char *owner,
                                            struct file_draft **out, struct td_error *err);
TD_MUST_CHECK enum td_status file_draft_write(struct file_draft *draft, struct td_str piece,
                                              struct td_error *err);
uint64_t file_draft_bytes(const struct file_draft *draft);
/* Its contents are on the disk, and it is the owner's. Fills id, bytes and created_s. expires_s: 0
 * becomes what the limits say, and -n becomes n seconds from now. **takes** the draft in any
 * case. */
TD_MUST_CHECK enum td_status file_draft_keep(struct file_draft *draft, struct stored_file *file,
                                             struct td_error *err);
void file_draft_drop(struct file_draft *draft); /* accepts NULL */

/* False: the owner has none of that id. */
bool file_store_find(struct file_store *store, const char *owner, struct td_str id,
                     struct stored_file *out);
/* Whether the contents of a file that was found are in the folder: else file_store_read waits for
 * the database to give them, which takes a second for each 50 MB or so. */
bool file_store_is_near(struct file_store *store, const char *id);
/* Opens the contents of a file that was found. */
TD_MUST_CHECK enum td_status file_store_read(struct file_store *store, const char *id, int *fd,
                                             struct td_error *err);

/* after: the id of the last one that was shown, or "". purpose "": any. */
struct stored_page {
    const char *after, *purpose;
    uint32_t limit;
    bool ascending;
};
/* Calls fn for each, at most limit + 1 times: the last one says that there are more. fn calls
 * nothing of the store. False: there is no such `after`, or the database could not be read. */
bool file_store_list(struct file_store *store, const char *owner, const struct stored_page *page,
                     void (*fn)(void *ctx, const struct stored_file *file), void *ctx);
/* TD_NOT_FOUND. TD_BUSY: a batch still reads it. */
TD_MUST_CHECK enum td_status file_store_remove(struct file_store *store, const char *owner,
                                               struct td_str id, struct td_error *err);
/* Whether nodes share it. */
bool file_store_is_shared(const struct file_store *store);
/* Removes what has been kept long enough. */
void file_store_sweep(struct file_store *store);
/* Whether a line of a batch's input asks for the user. */
typedef bool line_names_fn(struct td_str line, const char *user);
/* Removes files of batches with a line that asks for this user, and those batches with what they
 * made. owner NULL: of all. Takes time: not on a loop. */
TD_MUST_CHECK enum td_status file_store_forget(struct file_store *store, const char *owner,
                                               line_names_fn *names, const char *user,
                                               uint64_t *files, struct td_error *err);

#endif

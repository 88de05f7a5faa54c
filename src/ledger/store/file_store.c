/* Contents are files of the folder, each named by its id, mode 0600. A draft has another name until
 * its bytes are on the disk; then it is renamed, and then its row is committed. A crash between the
 * two leaves a file without a row, which the next start removes. So a row always has its file. The
 * other order could show a file that is not there. */
#include "base/core/assertion.h"
#include "ledger/store/file_parts.h"
#include "ledger/store/file_store_internal.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "ledger/database/small_database.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATABASE "files.db"
#define SCHEMA_VERSION 1
#define FILE_ID_RANDOM_BYTES 12

static const char schema[] =
    "CREATE TABLE file (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " owner TEXT NOT NULL, name TEXT NOT NULL, purpose TEXT NOT NULL, type TEXT NOT NULL,"
    " bytes INTEGER NOT NULL, created_s INTEGER NOT NULL, expires_s INTEGER NOT NULL);"
    "CREATE INDEX file_owner ON file (owner, seq);"
    "CREATE TABLE batch (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " owner TEXT NOT NULL, key_id TEXT NOT NULL, endpoint TEXT NOT NULL, \"window\" TEXT NOT NULL,"
    " input TEXT NOT NULL, output TEXT NOT NULL, errors TEXT NOT NULL, metadata TEXT NOT NULL,"
    " faults TEXT NOT NULL, state INTEGER NOT NULL, created_s INTEGER NOT NULL,"
    " expires_s INTEGER NOT NULL, total INTEGER NOT NULL, completed INTEGER NOT NULL,"
    " failed INTEGER NOT NULL, t0 INTEGER NOT NULL DEFAULT 0, t1 INTEGER NOT NULL DEFAULT 0,"
    " t2 INTEGER NOT NULL DEFAULT 0, t3 INTEGER NOT NULL DEFAULT 0,"
    " t4 INTEGER NOT NULL DEFAULT 0, t5 INTEGER NOT NULL DEFAULT 0,"
    " t6 INTEGER NOT NULL DEFAULT 0, t7 INTEGER NOT NULL DEFAULT 0);"
    "CREATE INDEX batch_owner ON batch (owner, seq);"
    "CREATE INDEX batch_state ON batch (state);"
    "CREATE TABLE line (batch TEXT NOT NULL REFERENCES batch (id) ON DELETE CASCADE,"
    " number INTEGER NOT NULL, ok INTEGER NOT NULL, text BLOB NOT NULL,"
    " PRIMARY KEY (batch, number));"
    "PRAGMA user_version=1";

struct file_draft {
    struct file_store *store;
    char owner[STORED_OWNER_BYTES];
    char path[PATH_MAX];
    uint64_t owner_left; /* bytes that the owner may still have */
    uint64_t bytes;
    int fd;
    bool placed; /* it has its name */
};

int64_t store_now_s(void)
{
    return (int64_t)(clock_wall_ms(NULL) / 1000);
}

/* --- statements --- */

enum td_status store_exec_locked(struct file_store *store, const char *sql, struct td_error *err)
{
    return db_exec(store->db, sql) ? TD_OK : db_error(store->db, store->path, err);
}

enum td_status store_sync_locked(struct file_store *store, bool sync, struct td_error *err)
{
    return db_sync_commits(store->db, sync) ? TD_OK : db_error(store->db, store->path, err);
}

void store_column(struct db_statement *row, int column, char *out, size_t size)
{
    const char *text = db_text(row, column);
    snprintf(out, size, "%s", text ? text : "");
}

enum td_status store_new_id(const char *prefix, size_t random_bytes,
                            char out[static STORED_ID_BYTES], struct td_error *err)
{
    uint8_t bytes[16];
    size_t len = strlen(prefix);
    ASSERT(random_bytes <= sizeof bytes && len + 2 * random_bytes < STORED_ID_BYTES);
    enum td_status status = crypto_random(bytes, random_bytes, err);
    memcpy(out, prefix, len);
    crypto_hex(bytes, random_bytes, out + len);
    return status;
}

/* --- opening --- */

bool file_store_is_shared(const struct file_store *store)
{
    return store->parts != NULL;
}

static enum td_status open_shared(struct file_store *store, const struct file_share *share,
                                  struct td_error *err)
{
    memcpy(store->key, share->key, sizeof store->key);
    enum td_status status =
        path_format(store->path, sizeof store->path, err, "%s", share->database);
    if (status == TD_OK)
        status = small_database_open(store->path, schema, SCHEMA_VERSION, &store->db, err);
    return status == TD_OK
               ? small_database_open(store->path, schema, SCHEMA_VERSION, &store->parts, err)
               : status;
}

static enum td_status open_database(struct file_store *store, struct td_error *err)
{
    enum td_status status =
        path_join(store->path, sizeof store->path, store->folder, DATABASE, err);
    return status == TD_OK
               ? small_database_open(store->path, schema, SCHEMA_VERSION, &store->db, err)
               : status;
}

/* A count has a row in any case, so without one the query failed: then the file stays. */
static bool has_row_locked(struct file_store *store, const char *id)
{
    return small_database_number(small_database_prepare(
                                     store->db, "SELECT count(*) FROM file WHERE id = ?1", "t", id),
                                 1) != 0;
}

/* Contents without a row, and drafts where nobody makes one. */
static void unlink_strays_locked(struct file_store *store, DIR *folder, bool drafts)
{
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        bool draft = drafts && strncmp(entry->d_name, "draft-", 6) == 0;
        bool kept = strncmp(entry->d_name, "file-", 5) == 0;
        if (draft || (kept && !has_row_locked(store, entry->d_name)))
            unlinkat(dirfd(folder), entry->d_name, 0);
    }
}

static int64_t all_bytes_locked(struct file_store *store)
{
    return small_database_number(
        small_database_prepare(store->db, "SELECT coalesce(sum(bytes), 0) FROM file", ""), -1);
}

/* What a process that died left: drafts, contents without a row, rows without contents. */
static enum td_status tidy(struct file_store *store, struct td_error *err)
{
    DIR *folder = opendir(store->folder);
    if (!folder)
        return error_set(err, TD_IO, "%s: %s", store->folder, strerror(errno));
    unlink_strays_locked(store, folder, true);
    if (file_store_is_shared(store)) { /* perhaps it is away; file_store_sweep counts again */
        closedir(folder);
        return TD_OK;
    }
    struct db_statement *row = small_database_prepare(store->db, "SELECT id FROM file", "");
    char lost[STORED_ID_BYTES] = "";
    while (row && db_step(row) == DB_ROW) {
        char id[STORED_ID_BYTES];
        struct stat info;
        store_column(row, 0, id, sizeof id);
        if (fstatat(dirfd(folder), id, &info, AT_SYMLINK_NOFOLLOW) != 0)
            memcpy(lost, id, sizeof lost);
    }
    db_end(row);
    closedir(folder);
    if (*lost)
        log_event(LOG_LEVEL_WARN, "file_lost", "id=%s", lost);
    int64_t bytes = all_bytes_locked(store);
    if (bytes < 0)
        return error_set(err, TD_CORRUPT, "%s/%s cannot be read: %s", store->folder, DATABASE,
                         db_message(store->db));
    store->bytes = (uint64_t)bytes;
    return TD_OK;
}

enum td_status file_store_open(const char *folder, const struct file_limits *limits,
                               const struct file_share *share, struct file_store **out,
                               struct td_error *err)
{
    ASSERT(folder && limits && out);
    *out = NULL;
    struct file_store *store = calloc(1, sizeof *store);
    if (!store)
        return error_set(err, TD_NO_MEMORY, "no memory for the store of files");
    pthread_mutex_init(&store->lock, NULL);
    pthread_mutex_init(&store->parts_lock, NULL);
    store->limits = *limits;
    char inside[PATH_MAX];
    enum td_status status = path_format(store->folder, sizeof store->folder, err, "%s", folder);
    if (status == TD_OK)
        status = path_join(inside, sizeof inside, folder, DATABASE, err);
    if (status == TD_OK)
        status = path_make_parents(inside, 0700, err);
    if (status == TD_OK)
        status = share ? open_shared(store, share, err) : open_database(store, err);
    if (status == TD_OK)
        status = tidy(store, err);
    if (status == TD_OK)
        *out = store;
    else
        file_store_close(store);
    return status;
}

void file_store_close(struct file_store *store)
{
    if (!store)
        return;
    db_close(store->db);
    db_close(store->parts);
    crypto_wipe(store->key, sizeof store->key);
    pthread_mutex_destroy(&store->lock);
    pthread_mutex_destroy(&store->parts_lock);
    free(store);
}

/* --- drafts --- */

static enum td_status full(struct td_error *err, const char *key)
{
    return error_set(err, TD_LIMIT,
                     "there is no room for another file: delete some, or ask the operator to raise "
                     "%s",
                     key);
}

static enum td_status room_locked(struct file_store *store, const char *owner, uint64_t *left,
                                  struct td_error *err)
{
    const struct file_limits *limits = &store->limits;
    int64_t used = small_database_number(
        small_database_prepare(
            store->db, "SELECT coalesce(sum(bytes), 0) FROM file WHERE owner = ?1", "t", owner),
        INT64_MAX);
    int64_t count = small_database_number(
        small_database_prepare(store->db, "SELECT count(*) FROM file WHERE owner = ?1", "t", owner),
        INT64_MAX);
    if (count >= (int64_t)limits->owner_count_max)
        return full(err, "files.caller_count_max");
    *left = (uint64_t)used < limits->owner_bytes_max ? limits->owner_bytes_max - (uint64_t)used : 0;
    return TD_OK;
}

static enum td_status open_draft(struct file_draft *draft, uint64_t number, struct td_error *err)
{
    enum td_status status =
        path_format(draft->path, sizeof draft->path, err, "%s/draft-%ld-%llu", draft->store->folder,
                    (long)getpid(), (unsigned long long)number);
    if (status != TD_OK)
        return status;
    draft->fd = open(draft->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    return draft->fd >= 0
               ? TD_OK
               : error_set(err, TD_IO, "cannot create %s: %s", draft->path, strerror(errno));
}

enum td_status file_draft_new(struct file_store *store, const char *owner, struct file_draft **out,
                              struct td_error *err)
{
    *out = NULL;
    struct file_draft *draft = calloc(1, sizeof *draft);
    if (!draft)
        return error_set(err, TD_NO_MEMORY, "no memory for a file");
    draft->store = store;
    draft->fd = -1;
    snprintf(draft->owner, sizeof draft->owner, "%s", owner);
    pthread_mutex_lock(&store->lock);
    uint64_t number = ++store->drafts_made;
    enum td_status status = room_locked(store, owner, &draft->owner_left, err);
    pthread_mutex_unlock(&store->lock);
    if (status == TD_OK)
        status = open_draft(draft, number, err);
    if (status == TD_OK)
        *out = draft;
    else
        file_draft_drop(draft);
    return status;
}

enum td_status file_draft_write(struct file_draft *draft, struct td_str piece, struct td_error *err)
{
    struct file_store *store = draft->store;
    if (piece.len >
        draft->owner_left - (draft->bytes < draft->owner_left ? draft->bytes : draft->owner_left))
        return full(err, "files.caller_mb_max");
    pthread_mutex_lock(&store->lock);
    bool fits = store->bytes <= store->limits.bytes_max &&
                piece.len <= store->limits.bytes_max - store->bytes;
    if (fits)
        store->bytes += piece.len;
    pthread_mutex_unlock(&store->lock);
    if (!fits)
        return full(err, "files.mb_max");
    draft->bytes += piece.len; /* given back with the draft, also after a failure */
    if (file_write_at(draft->fd, piece, (off_t)(draft->bytes - piece.len)))
        return TD_OK;
    return error_set(err, errno == ENOSPC ? TD_LIMIT : TD_IO, "cannot write a file: %s",
                     strerror(errno));
}

uint64_t file_draft_bytes(const struct file_draft *draft)
{
    return draft ? draft->bytes : 0;
}

const char *store_draft_owner(const struct file_draft *draft)
{
    return draft->owner;
}

/* A sweep may have counted anew meanwhile. */
static void forget_bytes_locked(struct file_store *store, uint64_t bytes)
{
    store->bytes -= bytes < store->bytes ? bytes : store->bytes;
}

static void draft_free(struct file_draft *draft)
{
    if (draft->fd >= 0)
        close(draft->fd);
    free(draft);
}

void file_draft_drop(struct file_draft *draft)
{
    if (!draft)
        return;
    if (draft->fd >= 0)
        unlink(draft->path);
    pthread_mutex_lock(&draft->store->lock);
    forget_bytes_locked(draft->store, draft->bytes);
    pthread_mutex_unlock(&draft->store->lock);
    draft_free(draft);
}

enum td_status store_place(struct file_draft *draft, const char *id, struct td_error *err)
{
    char path[PATH_MAX];
    enum td_status status = path_join(path, sizeof path, draft->store->folder, id, err);
    if (status != TD_OK)
        return status;
    if (file_store_is_shared(draft->store)) {
        status = file_parts_send(draft->store, id, draft->fd, err);
        if (status != TD_OK)
            return status;
    }
    if (fsync(draft->fd) != 0 || rename(draft->path, path) != 0)
        return error_set(err, TD_IO, "cannot keep a file: %s", strerror(errno));
    memcpy(draft->path, path, sizeof draft->path); /* where file_draft_drop finds it */
    file_sync_folder(path);
    return TD_OK;
}

enum td_status store_add_file_locked(struct file_store *store, const char *owner,
                                     struct stored_file *file, struct td_error *err)
{
    file->created_s = store_now_s();
    if (file->expires_s < 0)
        file->expires_s = file->created_s - file->expires_s;
    if (file->expires_s == 0 && store->limits.keep_s)
        file->expires_s = file->created_s + store->limits.keep_s;
    return small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db,
            "INSERT INTO file (id, owner, name, purpose, type, bytes, created_s, expires_s)"
            " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            "tttttiii", file->id, owner, file->name, file->purpose, file->type,
            (int64_t)file->bytes, file->created_s, file->expires_s),
        err);
}

void store_settle_locked(struct file_draft *draft)
{
    draft_free(draft);
}

enum td_status file_draft_keep(struct file_draft *draft, struct stored_file *file,
                               struct td_error *err)
{
    struct file_store *store = draft->store;
    file->bytes = draft->bytes;
    enum td_status status = store_new_id("file-", FILE_ID_RANDOM_BYTES, file->id, err);
    if (status == TD_OK)
        status = store_place(draft, file->id, err);
    if (status == TD_OK) {
        uint64_t left;
        pthread_mutex_lock(&store->lock);
        status = room_locked(store, draft->owner, &left, err); /* others may have been kept since */
        if (status == TD_OK && file->bytes > left)
            status = full(err, "files.caller_mb_max");
        if (status == TD_OK)
            status = store_add_file_locked(store, draft->owner, file, err);
        if (status == TD_OK)
            store_settle_locked(draft);
        pthread_mutex_unlock(&store->lock);
    }
    if (status != TD_OK)
        file_draft_drop(draft);
    return status;
}

/* --- looking --- */

static void read_row(struct db_statement *row, struct stored_file *out)
{
    *out = (struct stored_file){.bytes = (uint64_t)db_int(row, 4),
                                .created_s = db_int(row, 5),
                                .expires_s = db_int(row, 6)};
    store_column(row, 0, out->id, sizeof out->id);
    store_column(row, 1, out->name, sizeof out->name);
    store_column(row, 2, out->purpose, sizeof out->purpose);
    store_column(row, 3, out->type, sizeof out->type);
}

static bool find_locked(struct file_store *store, const char *owner, struct td_str id,
                        struct stored_file *out)
{
    struct db_statement *row = small_database_prepare(store->db,
                                                      "SELECT " STORE_FILE_COLUMNS
                                                      " FROM file WHERE id = ?1 AND owner = ?2"
                                                      " AND (expires_s = 0 OR expires_s > ?3)",
                                                      "sti", id, owner, store_now_s());
    bool found = row && db_step(row) == DB_ROW;
    if (found)
        read_row(row, out);
    db_end(row);
    return found;
}

bool file_store_find(struct file_store *store, const char *owner, struct td_str id,
                     struct stored_file *out)
{
    if (id.len == 0 || id.len >= STORED_ID_BYTES)
        return false;
    pthread_mutex_lock(&store->lock);
    bool found = find_locked(store, owner, id, out);
    pthread_mutex_unlock(&store->lock);
    return found;
}

bool file_store_is_near(struct file_store *store, const char *id)
{
    char path[PATH_MAX];
    return !file_store_is_shared(store) ||
           (path_join(path, sizeof path, store->folder, id, NULL) == TD_OK &&
            access(path, R_OK) == 0);
}

enum td_status file_store_read(struct file_store *store, const char *id, int *fd,
                               struct td_error *err)
{
    char path[PATH_MAX];
    enum td_status status = path_join(path, sizeof path, store->folder, id, err);
    if (status == TD_OK && !file_store_is_near(store, id))
        status = file_parts_fetch(store, id, err);
    return status == TD_OK ? file_open_regular(path, O_NOFOLLOW, fd, NULL, err) : status;
}

bool file_store_list(struct file_store *store, const char *owner, const struct stored_page *page,
                     void (*fn)(void *ctx, const struct stored_file *file), void *ctx)
{
    pthread_mutex_lock(&store->lock);
    int64_t after = page->ascending ? 0 : INT64_MAX;
    if (*page->after)
        after = small_database_number(
            small_database_prepare(store->db, "SELECT seq FROM file WHERE id = ?1 AND owner = ?2",
                                   "tt", page->after, owner),
            -1);
    const char *sql = page->ascending
                          ? "SELECT " STORE_FILE_COLUMNS " FROM file WHERE owner = ?1 AND seq > ?2"
                            " AND (?3 = '' OR purpose = ?3)"
                            " AND (expires_s = 0 OR expires_s > ?5) ORDER BY seq LIMIT ?4"
                          : "SELECT " STORE_FILE_COLUMNS " FROM file WHERE owner = ?1 AND seq < ?2"
                            " AND (?3 = '' OR purpose = ?3)"
                            " AND (expires_s = 0 OR expires_s > ?5) ORDER BY seq DESC LIMIT ?4";
    struct db_statement *row =
        after < 0 ? NULL
                  : small_database_prepare(store->db, sql, "titii", owner, after, page->purpose,
                                           (int64_t)page->limit + 1, store_now_s());
    struct stored_file file;
    bool ok = row != NULL;
    while (row && db_step(row) == DB_ROW) {
        read_row(row, &file);
        fn(ctx, &file);
    }
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return ok;
}

/* --- removing --- */

/* Contents whose row is gone. */
static void unlink_locked(struct file_store *store, const char *id, uint64_t bytes)
{
    char path[PATH_MAX];
    struct td_error err = {0};
    enum td_status status = path_join(path, sizeof path, store->folder, id, &err);
    if (status == TD_OK)
        status = file_remove(path, &err);
    if (status != TD_OK)
        log_event(LOG_LEVEL_WARN, "file_not_removed", "error=\"%s\"", err.message);
    forget_bytes_locked(store, bytes);
}

enum td_status store_remove_locked(struct file_store *store, const struct stored_file *file,
                                   struct td_error *err)
{
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(store->db, "DELETE FROM file WHERE id = ?1", "t", file->id), err);
    if (status == TD_OK && file_store_is_shared(store))
        status = small_database_run(store->db, store->path,
                                    small_database_prepare(store->db,
                                                           "DELETE FROM file_part WHERE file = ?1",
                                                           "t", file->id),
                                    err);
    if (status == TD_OK)
        unlink_locked(store, file->id, file->bytes);
    return status;
}

/* States with work to do: BATCH_VALIDATING, IN_PROGRESS, FINALIZING, CANCELLING. */
#define READING " AND state IN (0, 2, 3, 6)"

enum td_status file_store_remove(struct file_store *store, const char *owner, struct td_str id,
                                 struct td_error *err)
{
    struct stored_file file;
    pthread_mutex_lock(&store->lock);
    enum td_status status = TD_NOT_FOUND;
    if (id.len > 0 && id.len < STORED_ID_BYTES && find_locked(store, owner, id, &file)) {
        bool read =
            small_database_number(
                small_database_prepare(
                    store->db, "SELECT count(*) FROM batch WHERE input = ?1" READING, "t", file.id),
                1) != 0;
        status = read ? error_set(err, TD_BUSY, "a batch still reads this file: cancel it first")
                      : store_remove_locked(store, &file, err);
    }
    pthread_mutex_unlock(&store->lock);
    return status;
}

bool store_first_locked(struct db_statement *row, struct stored_file *out)
{
    bool found = row && db_step(row) == DB_ROW;
    if (found)
        read_row(row, out);
    db_end(row);
    return found;
}

/* What other nodes have removed or added, and parts whose node died before their row. */
static void sweep_shared_locked(struct file_store *store)
{
    DIR *folder = opendir(store->folder);
    if (folder) {
        unlink_strays_locked(store, folder, false);
        closedir(folder);
    }
    (void)!small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db,
            "DELETE FROM file_part WHERE made_s < extract(epoch FROM now()) - 86400"
            " AND file NOT IN (SELECT id FROM file)",
            ""),
        NULL);
    int64_t bytes = all_bytes_locked(store);
    if (bytes >= 0)
        store->bytes = (uint64_t)bytes; /* less what is under way here: it is soon counted */
}

void file_store_sweep(struct file_store *store)
{
    struct stored_file file;
    pthread_mutex_lock(&store->lock);
    int64_t now = store_now_s();
    if (file_store_is_shared(store))
        sweep_shared_locked(store);
    while (store_first_locked(
               small_database_prepare(
                   store->db,
                   "SELECT " STORE_FILE_COLUMNS " FROM file WHERE expires_s > 0 AND expires_s <= ?1"
                   " AND id NOT IN (SELECT input FROM batch WHERE TRUE" READING ") LIMIT 1",
                   "i", now),
               &file) &&
           store_remove_locked(store, &file, NULL) == TD_OK)
        ;
    if (store->limits.keep_s)
        (void)!small_database_run(
            store->db, store->path,
            small_database_prepare(
                store->db, "DELETE FROM batch WHERE created_s <= ?1 AND state NOT IN (0, 2, 3, 6)",
                "i", now - (int64_t)store->limits.keep_s),
            NULL);
    pthread_mutex_unlock(&store->lock);
}

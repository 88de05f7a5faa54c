/* Contents of files in the database that nodes share: parts of 256 KiB, each sealed under the
 * cluster's key with the file's id and its number as label, so that neither a part nor its place
 * can be changed unseen. They go over a connection of their own, because a large file takes
 * seconds, and others look for rows meanwhile.
 *
 * The node's folder has a copy of what was uploaded or read here. A copy without a row is removed
 * with the next sweep; nobody is shown it before, because each look begins with the row. */
#include "ledger/store/file_parts.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "ledger/database/small_database.h"
#include "ledger/store/file_store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PART_BYTES ((size_t)256 << 10)
#define SEALED_BYTES_MAX (PART_BYTES + 64)

static struct td_str label_of(const char *id, int64_t number, char out[static 96])
{
    int len = snprintf(out, 96, "%.47s:%lld", id, (long long)number);
    return (struct td_str){out, (size_t)len};
}

/* --- sending --- */

static enum td_status send_part(struct file_store *store, const char *id, int64_t number,
                                struct td_str hex, struct td_error *err)
{
    pthread_mutex_lock(&store->parts_lock);
    struct db_statement *statement = small_database_prepare(
        store->parts,
        "INSERT INTO file_part (file, number, made_s, sealed)"
        " VALUES (?1, ?2, extract(epoch FROM now())::BIGINT, decode(?3, 'hex'))",
        "tis", id, number, hex);
    enum td_status status = small_database_run(store->parts, "a file", statement, err);
    pthread_mutex_unlock(&store->parts_lock);
    return status;
}

static enum td_status seal_and_send(struct file_store *store, const char *id, int64_t number,
                                    struct td_str part, struct td_error *err)
{
    char label[96];
    struct buf sealed;
    char *hex = NULL;
    buf_init(&sealed, SEALED_BYTES_MAX);
    enum td_status status = keyed_seal(store->key, label_of(id, number, label), part, &sealed, err);
    if (status == TD_OK && !(hex = malloc(2 * sealed.len + 1)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a file");
    if (status == TD_OK) {
        crypto_hex((const uint8_t *)sealed.data, sealed.len, hex);
        status = send_part(store, id, number, (struct td_str){hex, 2 * sealed.len}, err);
    }
    free(hex);
    buf_deinit(&sealed);
    return status;
}

enum td_status file_parts_send(struct file_store *store, const char *id, int fd,
                               struct td_error *err)
{
    char *part = malloc(PART_BYTES);
    enum td_status status = part ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a file");
    off_t at = 0;
    for (int64_t number = 0; status == TD_OK; number++) {
        ssize_t len = pread(fd, part, PART_BYTES, at);
        if (len == 0)
            break;
        if (len < 0)
            status = error_set(err, TD_IO, "cannot read a file: %s", strerror(errno));
        else
            status = seal_and_send(store, id, number, (struct td_str){part, (size_t)len}, err);
        at += len;
    }
    if (part)
        crypto_wipe(part, PART_BYTES);
    free(part);
    return status;
}

/* --- fetching --- */

/* TD_NOT_FOUND: there is no such part. */
static enum td_status fetch_part(struct file_store *store, const char *id, int64_t number,
                                 struct buf *out, struct td_error *err)
{
    char label[96];
    uint8_t *sealed = NULL;
    size_t len = 0;
    pthread_mutex_lock(&store->parts_lock);
    struct db_statement *row = small_database_prepare(
        store->parts, "SELECT encode(sealed, 'hex') FROM file_part WHERE file = ?1 AND number = ?2",
        "ti", id, number);
    enum db_step code = row ? db_step(row) : DB_FAILED;
    enum td_status status = code == DB_ROW    ? TD_OK
                            : code == DB_DONE ? TD_NOT_FOUND
                                              : db_error(store->parts, "a file", err);
    if (code == DB_ROW) {
        struct td_str hex = db_str(row, 0);
        len = hex.len / 2;
        if (hex.len % 2 || len > SEALED_BYTES_MAX || !(sealed = malloc(len + 1)) ||
            !crypto_unhex(hex, sealed, len))
            status = error_set(err, TD_CORRUPT, "part %lld of the file %s is damaged",
                               (long long)number, id);
    }
    db_end(row);
    pthread_mutex_unlock(&store->parts_lock);
    if (status == TD_OK)
        status = keyed_open(store->key, label_of(id, number, label),
                            (struct td_str){(const char *)sealed, len}, out, err);
    if (status == TD_DENIED) { /* that is ours, and not the caller's fault */
        error_prefix(err, "part %lld of the file %s", (long long)number, id);
        status = err ? (err->status = TD_CORRUPT) : TD_CORRUPT;
    }
    free(sealed);
    return status;
}

static enum td_status fetch_into(struct file_store *store, const char *id, int fd, uint64_t bytes,
                                 struct td_error *err)
{
    struct buf part;
    uint64_t at = 0;
    enum td_status status = TD_OK;
    for (int64_t number = 0; status == TD_OK && at < bytes; number++) {
        buf_init(&part, SEALED_BYTES_MAX);
        status = fetch_part(store, id, number, &part, err);
        if (status == TD_NOT_FOUND || (status == TD_OK && part.len == 0))
            status = error_set(err, TD_CORRUPT, "the file %s has not all of its parts", id);
        if (status == TD_OK && !file_write_at(fd, buf_view(&part), (off_t)at))
            status = error_set(err, TD_IO, "cannot write a file: %s", strerror(errno));
        at += part.len;
        if (part.data)
            crypto_wipe(part.data, part.len);
        buf_deinit(&part);
    }
    if (status == TD_OK && at != bytes)
        status = error_set(err, TD_CORRUPT, "the file %s has not the size of its parts", id);
    return status;
}

enum td_status file_parts_fetch(struct file_store *store, const char *id, struct td_error *err)
{
    char draft[PATH_MAX], path[PATH_MAX];
    struct db_statement *row;
    pthread_mutex_lock(&store->lock);
    row = small_database_prepare(store->db, "SELECT bytes FROM file WHERE id = ?1", "t", id);
    enum db_step code = row ? db_step(row) : DB_FAILED;
    uint64_t bytes = code == DB_ROW ? (uint64_t)db_int(row, 0) : 0;
    enum td_status status = code == DB_ROW    ? TD_OK
                            : code == DB_DONE ? TD_NOT_FOUND
                                              : db_error(store->db, "a file", err);
    db_end(row);
    uint64_t number = ++store->drafts_made;
    pthread_mutex_unlock(&store->lock);
    if (status == TD_OK)
        status = path_join(path, sizeof path, store->folder, id, err);
    if (status == TD_OK)
        status = path_format(draft, sizeof draft, err, "%s/draft-%ld-%llu", store->folder,
                             (long)getpid(), (unsigned long long)number);
    if (status != TD_OK)
        return status;
    int fd = open(draft, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return error_set(err, TD_IO, "cannot create %s: %s", draft, strerror(errno));
    status = fetch_into(store, id, fd, bytes, err);
    close(fd);
    if (status == TD_OK && rename(draft, path) != 0)
        status = error_set(err, TD_IO, "cannot keep a file: %s", strerror(errno));
    if (status != TD_OK)
        unlink(draft);
    return status;
}

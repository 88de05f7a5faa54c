/* Removes the files of batches that ask for a user. Users are not indexed: the lines are read,
 * which takes time and finds what was uploaded a minute ago as well. */
#include "base/bytes/buf.h"
#include "base/bytes/file.h"
#include "base/core/error.h"
#include "base/crypto/crypto.h"
#include "ledger/database/small_database.h"
#include "ledger/store/file_store_internal.h"

#include <stdio.h>
#include <unistd.h>

/* No request is that long. */
#define LINE_BYTES_MAX ((size_t)64 << 20)

/* Whether a line of the file asks for the user; one that is too long to tell does. A file whose
 * contents are lost has no lines. */
static enum td_status names_user(struct file_store *store, const char *id, line_names_fn *names,
                                 const char *user, bool *found, struct td_error *err)
{
    int fd = -1;
    *found = false;
    enum td_status status = file_store_read(store, id, &fd, err);
    if (status != TD_OK)
        return status == TD_NOT_FOUND ? TD_OK : status;
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return error_set(err, TD_NO_MEMORY, "no memory to read a file");
    }
    struct buf line;
    buf_init(&line, LINE_BYTES_MAX);
    while (!*found && file_read_line(file, &line))
        *found = line.failed || names(buf_view(&line), user);
    if (ferror(file))
        status = error_set(err, TD_IO, "a file of requests cannot be read");
    if (line.data)
        crypto_wipe(line.data, line.len);
    buf_deinit(&line);
    fclose(file);
    return status;
}

/* The input with all batches that read it, and what they made. */
static enum td_status forget_input_locked(struct file_store *store, const struct stored_file *input,
                                          uint64_t *files, struct td_error *err)
{
    struct stored_file made;
    enum td_status status = TD_OK;
    while (status == TD_OK &&
           store_first_locked(
               small_database_prepare(store->db,
                                      "SELECT " STORE_FILE_COLUMNS " FROM file WHERE id IN"
                                      " (SELECT output FROM batch WHERE input = ?1 UNION"
                                      " SELECT errors FROM batch WHERE input = ?1) LIMIT 1",
                                      "t", input->id),
               &made)) {
        status = store_remove_locked(store, &made, err);
        *files += status == TD_OK;
    }
    if (status == TD_OK)
        status = small_database_run(
            store->db, store->path,
            small_database_prepare(store->db, "DELETE FROM batch WHERE input = ?1", "t", input->id),
            err);
    if (status == TD_OK)
        status = store_remove_locked(store, input, err);
    *files += status == TD_OK;
    return status;
}

/* Answers whose requests are gone: nobody can say any more for whom they were. */
static enum td_status forget_orphans_locked(struct file_store *store, const char *owner,
                                            uint64_t *files, struct td_error *err)
{
    struct stored_file file;
    enum td_status status = TD_OK;
    while (status == TD_OK &&
           store_first_locked(
               small_database_prepare(store->db,
                                      "SELECT " STORE_FILE_COLUMNS
                                      " FROM file WHERE purpose = 'batch_output'"
                                      " AND (CAST(?1 AS TEXT) IS NULL OR owner = ?1) AND id NOT IN"
                                      " (SELECT output FROM batch WHERE input IN"
                                      " (SELECT id FROM file) UNION SELECT errors FROM batch"
                                      " WHERE input IN (SELECT id FROM file)) LIMIT 1",
                                      "t", owner),
               &file)) {
        status = store_remove_locked(store, &file, err);
        *files += status == TD_OK;
    }
    return status;
}

enum td_status file_store_forget(struct file_store *store, const char *owner, line_names_fn *names,
                                 const char *user, uint64_t *files, struct td_error *err)
{
    struct stored_file file;
    enum td_status status = TD_OK;
    int64_t seq = 0;
    *files = 0;
    for (;;) { /* lines are read without the lock */
        pthread_mutex_lock(&store->lock);
        seq = small_database_number(
            small_database_prepare(store->db,
                                   "SELECT min(seq) FROM file WHERE seq > ?1 AND purpose = 'batch'"
                                   " AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)",
                                   "it", seq, owner),
            0);
        bool found =
            seq > 0 && store_first_locked(small_database_prepare(store->db,
                                                                 "SELECT " STORE_FILE_COLUMNS
                                                                 " FROM file WHERE seq = ?1",
                                                                 "i", seq),
                                          &file);
        pthread_mutex_unlock(&store->lock);
        if (!found)
            break;
        bool named;
        status = names_user(store, file.id, names, user, &named, err);
        if (status != TD_OK)
            break;
        if (!named)
            continue;
        pthread_mutex_lock(&store->lock);
        status = forget_input_locked(store, &file, files, err);
        pthread_mutex_unlock(&store->lock);
        if (status != TD_OK)
            break;
    }
    pthread_mutex_lock(&store->lock);
    if (status == TD_OK)
        status = forget_orphans_locked(store, owner, files, err);
    if (status == TD_OK && *files > 0)
        (void)!db_empty_log(store->db);
    pthread_mutex_unlock(&store->lock);
    return status;
}

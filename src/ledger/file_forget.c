/* Removes the files of batches that ask for a user. Users are not indexed: the lines are read,
 * which takes time and finds what was uploaded a minute ago as well. */
#include "base/crypto.h"
#include "ledger/file_store_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Whether a line of the file asks for the user. What cannot be read does. */
static bool names_user(struct file_store *store, const char *id, line_names_fn *names,
                       const char *user)
{
    int fd = -1;
    if (file_store_read(store, id, &fd, NULL) != TD_OK)
        return false;
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return true;
    }
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    bool found = false;
    while (!found && (len = getline(&line, &capacity, file)) > 0)
        found = names((struct td_str){line, (size_t)len}, user);
    if (line)
        crypto_wipe(line, capacity);
    free(line);
    fclose(file);
    return found;
}

/* The input with all batches that read it, and what they made. */
static enum td_status forget_input_locked(struct file_store *store, const struct stored_file *input,
                                          uint64_t *files, struct td_error *err)
{
    struct stored_file made;
    enum td_status status = TD_OK;
    while (status == TD_OK &&
           store_first_locked(
               store_prepare_locked(store,
                                    "SELECT " STORE_FILE_COLUMNS " FROM file WHERE id IN"
                                    " (SELECT output FROM batch WHERE input = ?1 UNION"
                                    " SELECT errors FROM batch WHERE input = ?1) LIMIT 1",
                                    "t", input->id),
               &made)) {
        status = store_remove_locked(store, &made, err);
        *files += status == TD_OK;
    }
    if (status == TD_OK)
        status = store_run_locked(
            store,
            store_prepare_locked(store, "DELETE FROM batch WHERE input = ?1", "t", input->id), err);
    if (status == TD_OK)
        status = store_remove_locked(store, input, err);
    *files += status == TD_OK;
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
        seq = store_number_locked(
            store_prepare_locked(store,
                                 "SELECT min(seq) FROM file WHERE seq > ?1 AND purpose = 'batch'"
                                 " AND (?2 IS NULL OR owner = ?2)",
                                 "it", seq, owner),
            0);
        bool found = seq > 0 && store_first_locked(store_prepare_locked(store,
                                                                        "SELECT " STORE_FILE_COLUMNS
                                                                        " FROM file WHERE seq = ?1",
                                                                        "i", seq),
                                                   &file);
        pthread_mutex_unlock(&store->lock);
        if (!found)
            break;
        if (!names_user(store, file.id, names, user))
            continue;
        pthread_mutex_lock(&store->lock);
        status = forget_input_locked(store, &file, files, err);
        pthread_mutex_unlock(&store->lock);
        if (status != TD_OK)
            break;
    }
    pthread_mutex_lock(&store->lock);
    if (status == TD_OK && *files > 0)
        sqlite3_wal_checkpoint_v2(store->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    pthread_mutex_unlock(&store->lock);
    return status;
}

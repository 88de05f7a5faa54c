#include "ledger/store/batch_store.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "ledger/database/small_database.h"
#include "ledger/store/file_store_internal.h"

#include <stdio.h>

#define BATCH_COLUMNS                                                                          \
    "id, owner, key_id, endpoint, \"window\", input, output, errors, metadata, faults, state," \
    " created_s, expires_s, total, completed, failed, t0, t1, t2, t3, t4, t5, t6, t7"

static void read_row(struct db_statement *row, struct stored_batch *out)
{
    int64_t state = db_int(row, 10);
    *out = (struct stored_batch){.created_s = db_int(row, 11),
                                 .expires_s = db_int(row, 12),
                                 .total = (uint64_t)db_int(row, 13),
                                 .completed = (uint64_t)db_int(row, 14),
                                 .failed = (uint64_t)db_int(row, 15)};
    out->state = state >= 0 && state < BATCH_STATE_COUNT ? (enum batch_state)state : BATCH_FAILED;
    store_column(row, 0, out->id, sizeof out->id);
    store_column(row, 1, out->owner, sizeof out->owner);
    store_column(row, 2, out->key_id, sizeof out->key_id);
    store_column(row, 3, out->endpoint, sizeof out->endpoint);
    store_column(row, 4, out->window, sizeof out->window);
    store_column(row, 5, out->input, sizeof out->input);
    store_column(row, 6, out->output, sizeof out->output);
    store_column(row, 7, out->errors, sizeof out->errors);
    store_column(row, 8, out->metadata, sizeof out->metadata);
    store_column(row, 9, out->faults, sizeof out->faults);
    for (int i = 0; i < BATCH_STATE_COUNT; i++)
        out->times_s[i] = db_int(row, 16 + i);
}

static enum td_status changed_locked(struct file_store *store, enum td_status status)
{
    return status == TD_OK && db_changes(store->db) == 0 ? TD_NOT_FOUND : status;
}

static enum td_status add_locked(struct file_store *store, const struct stored_batch *batch,
                                 struct td_error *err)
{
    int64_t count = small_database_number(
        small_database_prepare(store->db, "SELECT count(*) FROM batch WHERE owner = ?1", "t",
                               batch->owner),
        INT64_MAX);
    if (count >= (int64_t)store->limits.owner_count_max)
        return error_set(err, TD_LIMIT,
                         "there are as many batches as files.caller_count_max allows; the oldest "
                         "go after files.keep_days");
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db,
            "INSERT INTO batch (id, owner, key_id, endpoint, \"window\", input, output, errors,"
            " metadata, faults, state, created_s, expires_s, total, completed, failed, t0)"
            " SELECT ?1, ?2, ?3, ?4, ?5, ?6, '', '', ?7, '', 0, ?8, ?9, 0, 0, 0, ?8"
            " WHERE EXISTS (SELECT 1 FROM file WHERE id = ?6 AND owner = ?2)",
            "tttttttii", batch->id, batch->owner, batch->key_id, batch->endpoint, batch->window,
            batch->input, batch->metadata, batch->created_s, batch->expires_s),
        err);
    return changed_locked(store, status); /* TD_NOT_FOUND: the input was deleted meanwhile */
}

enum td_status batch_store_add(struct file_store *store, struct stored_batch *batch,
                               struct td_error *err)
{
    enum td_status status = store_new_id("batch_", 16, batch->id, err);
    if (status != TD_OK)
        return status;
    batch->state = BATCH_VALIDATING;
    batch->created_s = batch->times_s[BATCH_VALIDATING] = store_now_s();
    batch->expires_s += batch->created_s;
    pthread_mutex_lock(&store->lock);
    status = add_locked(store, batch, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

bool batch_store_find(struct file_store *store, const char *owner, struct td_str id,
                      struct stored_batch *out)
{
    if (id.len == 0 || id.len >= STORED_ID_BYTES)
        return false;
    pthread_mutex_lock(&store->lock);
    struct db_statement *row = small_database_prepare(
        store->db,
        "SELECT " BATCH_COLUMNS
        " FROM batch WHERE id = ?1 AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)",
        "st", id, owner);
    bool found = row && db_step(row) == DB_ROW;
    if (found)
        read_row(row, out);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return found;
}

/* Frees the statement. */
static bool each_locked(struct db_statement *row,
                        void (*fn)(void *ctx, const struct stored_batch *batch), void *ctx)
{
    struct stored_batch batch;
    bool ok = row != NULL;
    while (row && db_step(row) == DB_ROW) {
        read_row(row, &batch);
        fn(ctx, &batch);
    }
    db_end(row);
    return ok;
}

bool batch_store_list(struct file_store *store, const char *owner, const struct stored_page *page,
                      void (*fn)(void *ctx, const struct stored_batch *batch), void *ctx)
{
    pthread_mutex_lock(&store->lock);
    int64_t after = INT64_MAX;
    if (*page->after)
        after = small_database_number(
            small_database_prepare(store->db, "SELECT seq FROM batch WHERE id = ?1 AND owner = ?2",
                                   "tt", page->after, owner),
            -1);
    bool ok = after >= 0 &&
              each_locked(small_database_prepare(store->db,
                                                 "SELECT " BATCH_COLUMNS
                                                 " FROM batch WHERE owner = ?1 AND seq < ?2"
                                                 " ORDER BY seq DESC LIMIT ?3",
                                                 "tii", owner, after, (int64_t)page->limit + 1),
                          fn, ctx);
    pthread_mutex_unlock(&store->lock);
    return ok;
}

/* A node that is asked for nothing else looks every five seconds. */
#define HOLD_S "20"
#define THIS_NODE "current_setting('tandem.node')"
#define NOW "extract(epoch FROM now())::BIGINT"
#define OLDEST "SELECT min(seq) AS seq FROM batch WHERE state IN (0, 2, 3, 6) GROUP BY owner"

/* Of two nodes that want the same batch one waits for the row, and then finds it held. */
static void hold_locked(struct file_store *store, uint32_t limit)
{
    (void)!small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db,
            "UPDATE batch SET holder = " THIS_NODE ", held_until_s = " NOW " + " HOLD_S
            " WHERE seq IN (SELECT seq FROM batch WHERE seq IN (" OLDEST
            ") AND (holder = " THIS_NODE " OR held_until_s < " NOW ") ORDER BY seq LIMIT ?1)"
            " AND (holder = " THIS_NODE " OR held_until_s < " NOW ")",
            "i", (int64_t)limit),
        NULL);
}

void batch_store_due(struct file_store *store, uint32_t limit,
                     void (*fn)(void *ctx, const struct stored_batch *batch), void *ctx)
{
    static const char sql[] =
        "SELECT " BATCH_COLUMNS " FROM batch WHERE seq IN (" OLDEST ") ORDER BY seq LIMIT ?1";
    static const char shared_sql[] =
        "SELECT " BATCH_COLUMNS " FROM batch WHERE seq IN (" OLDEST ") AND holder = " THIS_NODE
        " AND held_until_s >= " NOW " ORDER BY seq LIMIT ?1";
    pthread_mutex_lock(&store->lock);
    bool shared = file_store_is_shared(store);
    if (shared)
        hold_locked(store, limit);
    each_locked(small_database_prepare(store->db, shared ? shared_sql : sql, "i", (int64_t)limit),
                fn, ctx);
    pthread_mutex_unlock(&store->lock);
}

bool batch_store_holds(struct file_store *store, const char *id)
{
    pthread_mutex_lock(&store->lock);
    bool holds =
        !file_store_is_shared(store) ||
        small_database_number(small_database_prepare(
                                  store->db,
                                  "SELECT count(*) FROM batch WHERE id = ?1 AND holder = " THIS_NODE
                                  " AND held_until_s >= " NOW,
                                  "t", id),
                              0) > 0;
    pthread_mutex_unlock(&store->lock);
    return holds;
}

static enum td_status move_locked(struct file_store *store, const char *id, enum batch_state from,
                                  enum batch_state to, struct td_error *err)
{
    char sql[128];
    snprintf(sql, sizeof sql, "UPDATE batch SET state = ?3, t%d = ?4 WHERE id = ?1 AND state = ?2",
             (int)to);
    enum td_status status =
        small_database_run(store->db, store->path,
                           small_database_prepare(store->db, sql, "tiii", id, (int64_t)from,
                                                  (int64_t)to, store_now_s()),
                           err);
    return changed_locked(store, status);
}

enum td_status batch_store_move(struct file_store *store, const char *id, enum batch_state from,
                                enum batch_state to, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = move_locked(store, id, from, to, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status batch_store_checked(struct file_store *store, const char *id, uint64_t total,
                                   const char *faults, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = small_database_begin(store->db, store->path, err);
    if (status == TD_OK)
        status = small_database_run(
            store->db, store->path,
            small_database_prepare(
                store->db, "UPDATE batch SET total = ?2, faults = ?3 WHERE id = ?1 AND state = 0",
                "tit", id, (int64_t)total, faults),
            err);
    if (status == TD_OK)
        status = move_locked(store, id, BATCH_VALIDATING,
                             *faults ? BATCH_FAILED : BATCH_IN_PROGRESS, err);
    status = small_database_end(store->db, store->path, status, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* --- lines --- */

static enum td_status answer_locked(struct file_store *store, const char *id, uint64_t number,
                                    bool ok, struct td_str text, struct td_error *err)
{
    const char *sql = ok ? "UPDATE batch SET completed = completed + 1 WHERE id = ?1"
                         : "UPDATE batch SET failed = failed + 1 WHERE id = ?1";
    enum td_status status =
        small_database_run(store->db, store->path,
                           small_database_prepare(store->db,
                                                  "INSERT INTO line (batch, number, ok, text)"
                                                  " SELECT ?1, ?2, ?3, ?4 WHERE EXISTS"
                                                  " (SELECT 1 FROM batch WHERE id = ?1)"
                                                  " ON CONFLICT DO NOTHING",
                                                  "tiis", id, (int64_t)number, (int64_t)ok, text),
                           err);
    status = changed_locked(store, status);
    if (status == TD_OK)
        status = small_database_run(store->db, store->path,
                                    small_database_prepare(store->db, sql, "t", id), err);
    return status;
}

enum td_status batch_store_answer(struct file_store *store, const char *id, uint64_t number,
                                  bool ok, struct td_str text, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    /* An answer does not wait for the disk: after a loss of power its line runs again. */
    enum td_status status = store_sync_locked(store, false, err);
    if (status == TD_OK)
        status = small_database_begin(store->db, store->path, err);
    if (status == TD_OK)
        status = answer_locked(store, id, number, ok, text, err);
    status = small_database_end(store->db, store->path, status, err);
    enum td_status again = store_sync_locked(store, true, NULL);
    status = status == TD_OK ? again : status;
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* TD_OK at the end of the rows; frees the statement. */
static enum td_status end_rows_locked(struct file_store *store, struct db_statement *row, int code,
                                      struct td_error *err)
{
    enum td_status status = TD_OK;
    if (!row || (code != DB_DONE && code != DB_ROW))
        status = error_set(err, TD_IO, "%s: %s", store->folder, db_message(store->db));
    db_end(row);
    return status;
}

enum td_status batch_store_answered(struct file_store *store, const char *id, uint64_t total,
                                    uint8_t *done, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db, "SELECT number FROM line WHERE batch = ?1", "t", id);
    int code = DB_DONE;
    while (row && (code = db_step(row)) == DB_ROW) {
        uint64_t number = (uint64_t)db_int(row, 0);
        if (number < total)
            done[number / 8] |= (uint8_t)(1u << number % 8);
    }
    enum td_status status = end_rows_locked(store, row, code, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status
batch_store_answers(struct file_store *store, const char *id, uint64_t first, uint32_t limit,
                    bool (*fn)(void *ctx, uint64_t number, bool ok, struct td_str text), void *ctx,
                    struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db,
                               "SELECT number, ok, text FROM line WHERE batch = ?1"
                               " AND number >= ?2 ORDER BY number LIMIT ?3",
                               "tii", id, (int64_t)first, (int64_t)limit);
    int code = DB_DONE;
    bool more = true;
    while (row && more && (code = db_step(row)) == DB_ROW) {
        struct td_str text = db_str(row, 2);
        more = fn(ctx, (uint64_t)db_int(row, 0), db_int(row, 1), text);
    }
    enum td_status status = end_rows_locked(store, row, code, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* --- the end --- */

struct part {
    struct file_draft *draft;
    struct stored_file file;
};

/* The draft gets its name and loses its bytes to it, or there is none. */
static enum td_status place(struct part *part, struct file_draft *draft, const char *id,
                            const char *what, struct td_error *err)
{
    part->file = (struct stored_file){.purpose = "batch_output", .type = "application/jsonl"};
    if (file_draft_bytes(draft) == 0) {
        file_draft_drop(draft);
        return TD_OK;
    }
    part->draft = draft;
    part->file.bytes = file_draft_bytes(draft);
    snprintf(part->file.name, sizeof part->file.name, "%s_%s.jsonl", id, what);
    enum td_status status = store_new_id("file-", 12, part->file.id, err);
    return status == TD_OK ? store_place(draft, part->file.id, err) : status;
}

static enum td_status finish_locked(struct file_store *store, const struct stored_batch *batch,
                                    enum batch_state to, uint64_t failed, struct part parts[2],
                                    struct td_error *err)
{
    enum td_status status = small_database_begin(store->db, store->path, err);
    for (int i = 0; i < 2 && status == TD_OK; i++)
        if (parts[i].draft)
            status = store_add_file_locked(store, store_draft_owner(parts[i].draft), &parts[i].file,
                                           err);
    if (status == TD_OK)
        status = small_database_run(
            store->db, store->path,
            small_database_prepare(
                store->db, "UPDATE batch SET output = ?2, errors = ?3, failed = ?4 WHERE id = ?1",
                "ttti", batch->id, parts[0].file.id, parts[1].file.id, (int64_t)failed),
            err);
    if (status == TD_OK)
        status = move_locked(store, batch->id, batch->state, to, err);
    if (status == TD_OK)
        status = small_database_run(
            store->db, store->path,
            small_database_prepare(store->db, "DELETE FROM line WHERE batch = ?1", "t", batch->id),
            err);
    return small_database_end(store->db, store->path, status, err);
}

enum td_status batch_store_finish(struct file_store *store, const struct stored_batch *batch,
                                  enum batch_state to, uint64_t failed, struct file_draft *output,
                                  struct file_draft *errors, struct td_error *err)
{
    struct part parts[2] = {{0}, {0}};
    enum td_status status = place(&parts[0], output, batch->id, "output", err);
    enum td_status second = place(&parts[1], errors, batch->id, "error", err);
    status = status == TD_OK ? second : status;
    if (status == TD_OK) {
        pthread_mutex_lock(&store->lock);
        status = finish_locked(store, batch, to, failed, parts, err);
        for (int i = 0; i < 2 && status == TD_OK; i++)
            if (parts[i].draft)
                store_settle_locked(parts[i].draft);
        pthread_mutex_unlock(&store->lock);
    }
    for (int i = 0; i < 2 && status != TD_OK; i++)
        file_draft_drop(parts[i].draft);
    return status;
}

/* An entry is a row, and every step is one UPDATE whose condition says from where it may be taken:
 * of two that race, one changes the row and the other finds out why it did not. */
#include "ledger/store/queue_store.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/text/names.h"
#include "base/time/clock.h"
#include "ledger/database/small_database.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_VERSION 1
#define LIST_MAX 1000 /* rows of one answer */

static const char schema[] =
    "CREATE TABLE queued (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " queue TEXT NOT NULL, owner TEXT NOT NULL, whose TEXT NOT NULL, about TEXT NOT NULL,"
    " class INTEGER NOT NULL, state INTEGER NOT NULL, created_s INTEGER NOT NULL,"
    " expires_s INTEGER NOT NULL, lease_s INTEGER NOT NULL, holder TEXT NOT NULL,"
    " takes INTEGER NOT NULL, ended_s INTEGER NOT NULL, outcome TEXT NOT NULL,"
    " body TEXT NOT NULL, result TEXT NOT NULL);"
    "CREATE INDEX queued_state ON queued (queue, state, seq);"
    "CREATE INDEX queued_about ON queued (about);"
    "CREATE INDEX queued_whose ON queued (whose);"
    "CREATE TABLE queued_note (queued TEXT NOT NULL REFERENCES queued (id) ON DELETE CASCADE,"
    " at_s INTEGER NOT NULL, who TEXT NOT NULL, what TEXT NOT NULL);"
    "CREATE INDEX queued_note_of ON queued_note (queued);"
    "PRAGMA user_version = 1";

struct queue_store {
    pthread_mutex_t lock;
    struct db *db;
    char path[PATH_MAX];
    queue_listener_fn *listener; /* or NULL */
    void *listener_ctx;
};

const char *queued_state_name(enum queued_state state)
{
    static const char *const names[] = {"open", "taken", "ended", "expired", NULL};
    return names_table_name(names, state);
}

enum td_status queue_store_open(const char *path, struct queue_store **out, struct td_error *err)
{
    struct queue_store *store = calloc(1, sizeof *store);
    *out = NULL;
    if (!store)
        return error_set(err, TD_NO_MEMORY, "no memory for a queue");
    pthread_mutex_init(&store->lock, NULL);
    snprintf(store->path, sizeof store->path, "%s", path);
    enum td_status status = small_database_open(path, schema, SCHEMA_VERSION, &store->db, err);
    if (status == TD_OK)
        *out = store;
    else
        queue_store_close(store);
    return status;
}

void queue_store_close(struct queue_store *store)
{
    if (!store)
        return;
    db_close(store->db);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

static int64_t now_s(void)
{
    return (int64_t)(clock_wall_ms(NULL) / 1000);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* What nobody ended in time has expired, at that time. */
static enum td_status expire_locked(struct queue_store *store, struct td_error *err)
{
    return small_database_run(
        store->db, store->path,
        small_database_prepare(store->db,
                               "UPDATE queued SET state = 3, ended_s = expires_s WHERE state <= 1"
                               " AND expires_s <= ?1",
                               "i", now_s()),
        err);
}

void queue_store_set_listener(struct queue_store *store, queue_listener_fn *fn, void *ctx)
{
    pthread_mutex_lock(&store->lock);
    store->listener = fn;
    store->listener_ctx = ctx;
    pthread_mutex_unlock(&store->lock);
}

/* --- looking --- */

#define COLUMNS                                                                               \
    "id, queue, owner, about, holder, outcome, class, state, created_s, expires_s, lease_s, " \
    "ended_s, takes, body, result"

static void read_column(struct db_statement *row, int column, char *out, size_t size)
{
    snprintf(out, size, "%s", or_empty(db_text(row, column)));
}

static struct queued read_row(struct db_statement *row)
{
    int64_t state = db_int(row, 7);
    struct queued out = {.data_class = (int)db_int(row, 6),
                         .state = state >= 0 && state <= QUEUED_EXPIRED ? (enum queued_state)state
                                                                        : QUEUED_EXPIRED,
                         .created_s = db_int(row, 8),
                         .expires_s = db_int(row, 9),
                         .lease_s = db_int(row, 10),
                         .ended_s = db_int(row, 11),
                         .takes = (uint32_t)db_int(row, 12),
                         .body = db_str(row, 13),
                         .result = db_str(row, 14)};
    read_column(row, 0, out.id, sizeof out.id);
    read_column(row, 1, out.queue, sizeof out.queue);
    read_column(row, 2, out.owner, sizeof out.owner);
    read_column(row, 3, out.about, sizeof out.about);
    read_column(row, 4, out.holder, sizeof out.holder);
    read_column(row, 5, out.outcome, sizeof out.outcome);
    if (out.state == QUEUED_TAKEN && out.lease_s <= now_s())
        out.state = QUEUED_OPEN;
    if (out.state <= QUEUED_TAKEN && out.expires_s <= now_s())
        out.state = QUEUED_EXPIRED;
    return out;
}

/* Frees the statement. *count: how many were shown. */
static enum td_status show_locked(struct queue_store *store, struct db_statement *statement,
                                  queued_fn *fn, void *ctx, size_t *count, struct td_error *err)
{
    enum db_step code = DB_FAILED;
    bool more = true;
    *count = 0;
    while (more && statement && (code = db_step(statement)) == DB_ROW) {
        struct queued row = read_row(statement);
        more = fn(ctx, &row);
        ++*count;
    }
    enum td_status status = code == DB_FAILED ? db_error(store->db, store->path, err) : TD_OK;
    db_end(statement);
    return status;
}

enum td_status queue_store_each(struct queue_store *store, const struct queue_filter *filter,
                                queued_fn *fn, void *ctx, struct td_error *err)
{
    size_t count;
    uint32_t limit = filter->limit && filter->limit < LIST_MAX ? filter->limit : LIST_MAX;
    pthread_mutex_lock(&store->lock);
    enum td_status status = show_locked(
        store,
        small_database_prepare(
            store->db,
            "SELECT " COLUMNS " FROM queued WHERE (CAST(?1 AS TEXT) IS NULL OR queue = ?1)"
            " AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)"
            " AND (CAST(?3 AS TEXT) IS NULL OR about = ?3) AND (?4 = 0 OR state <= 1)"
            " AND (?4 = 0 OR expires_s > ?6)"
            " AND seq > coalesce((SELECT seq FROM queued WHERE id = ?5), 0) ORDER BY seq LIMIT ?7",
            "tttitii", filter->queue, filter->owner, filter->about, (int64_t)filter->waiting,
            or_empty(filter->after), now_s(), (int64_t)limit),
        fn, ctx, &count, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status queue_store_find(struct queue_store *store, const char *owner, const char *id,
                                queued_fn *fn, void *ctx, struct td_error *err)
{
    size_t count;
    pthread_mutex_lock(&store->lock);
    enum td_status status =
        show_locked(store,
                    small_database_prepare(store->db,
                                           "SELECT " COLUMNS " FROM queued WHERE id = ?1"
                                           " AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)",
                                           "tt", id, owner),
                    fn, ctx, &count, err);
    pthread_mutex_unlock(&store->lock);
    return status == TD_OK && count == 0
               ? error_set(err, TD_NOT_FOUND, "nothing has the id '%.40s'", id)
               : status;
}

/* --- changing --- */

static bool note_state(void *ctx, const struct queued *row)
{
    struct queued *out = ctx;
    *out = *row;
    out->body = out->result = (struct td_str){NULL, 0};
    return true;
}

static void tell(struct queue_store *store, const char *id)
{
    struct queued row;
    pthread_mutex_lock(&store->lock);
    queue_listener_fn *listener = store->listener;
    void *ctx = store->listener_ctx;
    pthread_mutex_unlock(&store->lock);
    if (listener && queue_store_find(store, NULL, id, note_state, &row, NULL) == TD_OK)
        listener(ctx, &row);
}

/* Why a step changed nothing. */
static enum td_status explain_locked(struct queue_store *store, const char *id,
                                     struct td_error *err)
{
    struct queued row;
    size_t count;
    enum td_status status = show_locked(
        store,
        small_database_prepare(store->db, "SELECT " COLUMNS " FROM queued WHERE id = ?1", "t", id),
        note_state, &row, &count, err);
    if (status != TD_OK)
        return status;
    if (count == 0)
        return error_set(err, TD_NOT_FOUND, "nothing has the id '%.40s'", id);
    if (row.state == QUEUED_ENDED)
        return error_set(err, TD_UNSUPPORTED, "%s has ended: it was %s", id, row.outcome);
    if (row.state == QUEUED_EXPIRED)
        return error_set(err, TD_UNSUPPORTED, "%s has expired", id);
    if (row.state == QUEUED_OPEN)
        return error_set(err, TD_BUSY, "%s is not taken: take it first", id);
    return error_set(err, TD_BUSY, "%s is taken by another for %lld more seconds", id,
                     (long long)(row.lease_s - now_s()));
}

/* Runs an UPDATE of one row, and frees it. */
static enum td_status step(struct queue_store *store, const char *id,
                           struct db_statement *statement, struct td_error *err)
{
    enum td_status status = small_database_run(store->db, store->path, statement, err);
    if (status == TD_OK && db_changes(store->db) == 0)
        status = explain_locked(store, id, err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* ?1 the id, ?2 the holder, ?3 now. */
#define MINE_OR_FREE                                                                              \
    " WHERE id = ?1 AND expires_s > ?3 AND (state = 0 OR (state = 1 AND (holder = ?2 OR lease_s " \
    "<= ?3)))"

enum td_status queue_store_take(struct queue_store *store, const char *id, const char *holder,
                                uint32_t lease_s, struct td_error *err)
{
    int64_t now = now_s();
    pthread_mutex_lock(&store->lock);
    return step(store, id,
                small_database_prepare(
                    store->db,
                    "UPDATE queued SET takes = takes + CASE WHEN state = 1 AND holder = ?2 AND"
                    " lease_s > ?3 THEN 0 ELSE 1 END, state = 1, holder = ?2,"
                    " lease_s = ?4" MINE_OR_FREE,
                    "ttii", id, holder, now, now + (int64_t)lease_s),
                err);
}

enum td_status queue_store_release(struct queue_store *store, const char *id, const char *holder,
                                   struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    return step(store, id,
                small_database_prepare(store->db,
                                       "UPDATE queued SET state = 0, lease_s = 0, holder = ''"
                                       " WHERE id = ?1 AND state = 1 AND holder = ?2",
                                       "tt", id, holder),
                err);
}

enum td_status queue_store_finish(struct queue_store *store, const char *id, const char *holder,
                                  const char *outcome, struct td_str result, struct td_error *err)
{
    if (result.len > QUEUED_TEXT_BYTES_MAX)
        return error_set(err, TD_LIMIT, "it is longer than a queue keeps (%zu bytes)",
                         QUEUED_TEXT_BYTES_MAX);
    pthread_mutex_lock(&store->lock);
    enum td_status status =
        step(store, id,
             small_database_prepare(store->db,
                                    "UPDATE queued SET state = 2, holder = ?2, ended_s = ?3,"
                                    " outcome = ?4, result = ?5" MINE_OR_FREE,
                                    "ttits", id, holder, now_s(), outcome, result),
             err);
    if (status == TD_OK)
        tell(store, id);
    return status;
}

/* --- adding --- */

static enum td_status add_locked(struct queue_store *store, const struct queue_entry *entry,
                                 const char *id, struct td_error *err)
{
    (void)!expire_locked(store, NULL);
    int64_t open = small_database_number(
        small_database_prepare(store->db,
                               "SELECT count(*) FROM queued WHERE queue = ?1 AND state <= 1", "t",
                               entry->queue),
        -1);
    if (open < 0)
        return db_error(store->db, store->path, err);
    if (open >= (int64_t)entry->open_max)
        return error_set(err, TD_BUSY, "%lld are waiting there, as many as may", (long long)open);
    return small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db,
            "INSERT INTO queued (id, queue, owner, whose, about, class, state, created_s,"
            " expires_s, lease_s, holder, takes, ended_s, outcome, body, result) VALUES"
            " (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7, ?8, 0, '', 0, 0, '', ?9, '')",
            "tttttiiis", id, entry->queue, or_empty(entry->owner), or_empty(entry->user),
            or_empty(entry->about), (int64_t)entry->data_class, now_s(), entry->expires_s,
            entry->body),
        err);
}

enum td_status queue_store_add(struct queue_store *store, const struct queue_entry *entry,
                               char id[static QUEUED_ID_BYTES], struct td_error *err)
{
    uint8_t random[(QUEUED_ID_BYTES - 3) / 2];
    ASSERT(entry->queue && strlen(entry->queue) < QUEUED_NAME_BYTES);
    if (entry->body.len > QUEUED_TEXT_BYTES_MAX)
        return error_set(err, TD_LIMIT, "it is longer than a queue keeps (%zu bytes)",
                         QUEUED_TEXT_BYTES_MAX);
    enum td_status status = crypto_random(random, sizeof random, err);
    if (status != TD_OK)
        return status;
    memcpy(id, "q_", 2);
    crypto_hex(random, sizeof random, id + 2);
    pthread_mutex_lock(&store->lock);
    status = small_database_begin(store->db, store->path, err);
    if (status == TD_OK)
        status = add_locked(store, entry, id, err);
    status = small_database_end(store->db, store->path, status, err);
    pthread_mutex_unlock(&store->lock);
    if (status == TD_OK)
        tell(store, id);
    return status;
}

/* --- counting --- */

void queue_store_count(struct queue_store *store, const char *queue, struct queue_count *out)
{
    *out = (struct queue_count){0};
    pthread_mutex_lock(&store->lock);
    struct db_statement *row = small_database_prepare(
        store->db,
        "SELECT count(*), coalesce(sum(CASE WHEN state = 1 AND lease_s > ?2 THEN 1 ELSE 0 END), 0),"
        " coalesce(min(created_s), 0) FROM queued WHERE queue = ?1 AND state <= 1"
        " AND expires_s > ?2",
        "ti", queue, now_s());
    if (row && db_step(row) == DB_ROW)
        *out = (struct queue_count){.waiting = (uint64_t)db_int(row, 0),
                                    .taken = (uint64_t)db_int(row, 1),
                                    .oldest_s = db_int(row, 2)};
    db_end(row);
    pthread_mutex_unlock(&store->lock);
}

void queue_store_outcomes(struct queue_store *store, const char *queue, queue_outcome_fn *fn,
                          void *ctx)
{
    pthread_mutex_lock(&store->lock);
    struct db_statement *row = small_database_prepare(
        store->db,
        "SELECT CASE WHEN state = 3 THEN 'expired' ELSE outcome END AS how, count(*) FROM queued"
        " WHERE queue = ?1 AND state >= 2 GROUP BY how ORDER BY how",
        "t", queue);
    while (row && db_step(row) == DB_ROW)
        fn(ctx, or_empty(db_text(row, 0)), (uint64_t)db_int(row, 1));
    db_end(row);
    pthread_mutex_unlock(&store->lock);
}

/* --- what was kept long enough --- */

/* Of the first queue behind the name `after`: the name, or "" when there is none. */
static enum td_status next_queue_locked(struct queue_store *store, char queue[QUEUED_NAME_BYTES],
                                        struct td_error *err)
{
    struct db_statement *row = small_database_prepare(
        store->db, "SELECT min(queue) FROM queued WHERE queue > ?1", "t", queue);
    enum db_step code = row ? db_step(row) : DB_FAILED;
    *queue = '\0';
    if (code == DB_ROW)
        read_column(row, 0, queue, QUEUED_NAME_BYTES);
    enum td_status status = code == DB_FAILED ? db_error(store->db, store->path, err) : TD_OK;
    db_end(row);
    return status;
}

static enum td_status remove_locked(struct queue_store *store, const char *queue, uint32_t keep_s,
                                    bool *removed, struct td_error *err)
{
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db, "DELETE FROM queued WHERE queue = ?1 AND state >= 2 AND ended_s < ?2", "ti",
            queue, now_s() - (int64_t)keep_s),
        err);
    *removed = *removed || (status == TD_OK && db_changes(store->db) > 0);
    return status;
}

enum td_status queue_store_sweep(struct queue_store *store, queue_keep_fn *keep, void *ctx,
                                 struct td_error *err)
{
    char queue[QUEUED_NAME_BYTES] = "";
    bool removed = false;
    pthread_mutex_lock(&store->lock);
    enum td_status status = expire_locked(store, err);
    if (status == TD_OK)
        status = next_queue_locked(store, queue, err);
    while (status == TD_OK && *queue) {
        status = remove_locked(store, queue, keep(ctx, queue), &removed, err);
        if (status == TD_OK)
            status = next_queue_locked(store, queue, err);
    }
    if (removed)
        (void)!db_empty_log(store->db);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* --- notes --- */

enum td_status queue_store_note(struct queue_store *store, const char *id, const char *who,
                                const char *what, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = small_database_run(
        store->db, store->path,
        small_database_prepare(
            store->db, "INSERT INTO queued_note (queued, at_s, who, what) VALUES (?1, ?2, ?3, ?4)",
            "titt", id, now_s(), who, what),
        err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status queue_store_notes(struct queue_store *store, const char *id, queue_note_fn *fn,
                                 void *ctx, struct td_error *err)
{
    enum db_step code = DB_FAILED;
    pthread_mutex_lock(&store->lock);
    struct db_statement *row = small_database_prepare(
        store->db,
        "SELECT at_s, who, what FROM queued_note WHERE queued = ?1 ORDER BY at_s LIMIT 1000", "t",
        id);
    while (row && (code = db_step(row)) == DB_ROW)
        fn(ctx, db_int(row, 0), or_empty(db_text(row, 1)), or_empty(db_text(row, 2)));
    enum td_status status = code == DB_DONE ? TD_OK : db_error(store->db, store->path, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

static enum td_status erase(struct queue_store *store, const char *sql, const char *what,
                            const char *owner, uint64_t *count, struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = small_database_run(
        store->db, store->path, small_database_prepare(store->db, sql, "tt", what, owner), err);
    *count = status == TD_OK ? (uint64_t)db_changes(store->db) : 0;
    if (*count > 0)
        (void)!db_empty_log(store->db);
    pthread_mutex_unlock(&store->lock);
    return status;
}

#define OF_OWNER " AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)"

enum td_status queue_store_forget(struct queue_store *store, const char *owner, const char *user,
                                  uint64_t *count, struct td_error *err)
{
    return erase(store, "DELETE FROM queued WHERE whose = ?1" OF_OWNER, user, owner, count, err);
}

enum td_status queue_store_drop(struct queue_store *store, const char *owner, const char *about,
                                struct td_error *err)
{
    uint64_t count;
    return erase(store, "DELETE FROM queued WHERE about = ?1" OF_OWNER, about, owner, &count, err);
}

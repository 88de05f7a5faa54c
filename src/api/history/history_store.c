/* A record is one row with its body, and a row for each list, so that a conversation grows by what
 * is added. A statement does all that one call needs: with one round trip, and as a whole or not at
 * all. The row of a record orders those who add to it at the same time.
 *
 * An owner is a hash: what stands for a caller in this process is never stored. Tenants and users
 * have the names that they have in the ledger. */
#include "api/history/history_store.h"

#include "api/history/history_internal.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "ledger/database/small_database.h"

#include <stdio.h>
#include <stdlib.h>

#define WHAT "responses that nodes share"
#define HASH_BYTES 33 /* half of a hash in hexadecimal digits, and a NUL */
#define NOW_S "extract(epoch FROM now())::BIGINT"
/* A node that says nothing for so long is gone. */
#define HELD_S "20"
/* A use is written down when the last one is older: reading is seldom a write. */
#define USE_PARTS 16
/* Callers whose limits are looked at with the next sweep; with more, all are. */
#define FILLED_MAX 256
/* Of a sweep: each takes from the caller who has most. */
#define LARGEST_MAX 16

struct history_store {
    struct db *db;
    struct history_limits limits;
    int64_t keep_s;
    uint8_t key[KEYED_KEY_BYTES];
    char filled[FILLED_MAX][HASH_BYTES];
    size_t filled_count; /* FILLED_MAX + 1 = some have no place */
};

enum td_status history_store_open(const char *url, const uint8_t key[static KEYED_KEY_BYTES],
                                  const struct history_limits *limits, struct history_store **out,
                                  struct td_error *err)
{
    struct history_store *store = calloc(1, sizeof *store);
    *out = NULL;
    if (!store)
        return error_set(err, TD_NO_MEMORY, "no memory for " WHAT);
    store->limits = *limits;
    store->keep_s = (int64_t)(limits->keep_ms / 1000);
    memcpy(store->key, key, sizeof store->key);
    enum td_status status = small_database_open(url, "", 0, &store->db, err);
    if (status == TD_OK)
        *out = store;
    else
        history_store_close(store);
    return status;
}

void history_store_hurry(struct history_store *store, uint32_t answer_ms)
{
    db_hurry(store->db, answer_ms);
}

void history_store_close(struct history_store *store)
{
    if (!store)
        return;
    db_close(store->db);
    crypto_wipe(store->key, sizeof store->key);
    free(store);
}

/* --- names and texts --- */

static void write_owner(const struct history_store *store, const char *caller,
                        char out[static HASH_BYTES])
{
    uint8_t mac[KEYED_MAC_BYTES];
    char text[256];
    int len = snprintf(text, sizeof text, "kept owner,%.200s", caller ? caller : "");
    keyed_mac(store->key, text, (size_t)len, mac);
    crypto_hex(mac, (HASH_BYTES - 1) / 2, out);
}

/* So that a text opens at its place alone. kind: 'b' the body, 'l' a list. */
static struct td_str label_of(const char *owner, struct td_str id, char kind, char out[static 128])
{
    int len = snprintf(out, 128, "kept:%s:%.47s:%c", owner, id.data, kind);
    return (struct td_str){out, (size_t)len};
}

/* **returns new** *hex (free): digits for a statement. */
static enum td_status seal(const struct history_store *store, struct td_str label,
                           const struct history_text *text, char **hex, struct td_error *err)
{
    struct td_str plain = history_text_view(text);
    struct buf sealed;
    if (plain.len > HISTORY_STORE_TEXT_BYTES_MAX)
        return error_set(err, TD_LIMIT, "a text of %zu bytes is too large to be kept for all nodes",
                         plain.len);
    buf_init(&sealed, plain.len + 64);
    enum td_status status = keyed_seal(store->key, label, plain, &sealed, err);
    if (status == TD_OK && !(*hex = malloc(2 * sealed.len + 1)))
        status = error_set(err, TD_NO_MEMORY, "no memory for a text");
    if (status == TD_OK)
        crypto_hex((const uint8_t *)sealed.data, sealed.len, *hex);
    buf_deinit(&sealed);
    return status;
}

static enum td_status open_text(const struct history_store *store, struct td_str label,
                                struct td_str hex, struct history_text **out, struct td_error *err)
{
    struct buf plain;
    size_t len = hex.len / 2;
    uint8_t *sealed = malloc(len + 1);
    *out = NULL;
    if (!sealed)
        return error_set(err, TD_NO_MEMORY, "no memory for a text");
    buf_init(&plain, len + 1);
    enum td_status status =
        hex.len % 2 == 0 && crypto_unhex(hex, sealed, len)
            ? keyed_open(store->key, label, (struct td_str){(const char *)sealed, len}, &plain, err)
            : TD_DENIED;
    free(sealed);
    if (status == TD_DENIED) { /* not the caller's fault */
        if (err)
            *err = (struct td_error){.status = TD_OK};
        status = error_set(err, TD_CORRUPT,
                           "a kept response was changed in the database, or "
                           "cluster.key_env is not that of all nodes");
    }
    if (status == TD_OK) {
        *out = history_text_new(plain.data ? buf_view(&plain) : STR(""));
        status = *out ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for a text");
    }
    if (plain.data)
        crypto_wipe(plain.data, plain.len);
    buf_deinit(&plain);
    return status;
}

/* The texts of a record as values of a statement; NULL: there is none. */
struct sealed {
    char *body, *lists[HISTORY_LISTS_OF_RESPONSE];
    char owner[HASH_BYTES];
    int64_t bytes, list_count;
};

static void sealed_deinit(struct sealed *sealed)
{
    free(sealed->body);
    for (size_t i = 0; i < HISTORY_LISTS_OF_RESPONSE; i++)
        free(sealed->lists[i]);
}

/* To be freed with sealed_deinit in any case. */
static enum td_status seal_record(const struct history_store *store,
                                  const struct history_record *record, struct sealed *out,
                                  struct td_error *err)
{
    char label[128];
    struct td_str id = str_from(record->id);
    enum td_status status = TD_OK;
    *out = (struct sealed){.bytes = record->body ? HISTORY_RECORD_BYTES : 0};
    out->bytes += (int64_t)history_text_view(record->body).len;
    write_owner(store, record->owner.caller, out->owner);
    if (record->body)
        status = seal(store, label_of(out->owner, id, 'b', label), record->body, &out->body, err);
    label_of(out->owner, id, 'l', label);
    for (size_t i = 0; i < record->list_count && status == TD_OK; i++) {
        if (!record->lists[i])
            continue;
        out->bytes += HISTORY_LIST_BYTES + (int64_t)history_text_view(record->lists[i]).len;
        out->list_count++;
        status = seal(store, str_from(label), record->lists[i], &out->lists[i], err);
    }
    if (status == TD_OK && (uint64_t)out->bytes > store->limits.caller_bytes_max)
        status = error_set(err, TD_LIMIT, "%s is larger than a caller may have kept", record->id);
    return status;
}

/* Its limits are looked at with the next sweep. */
static void note_filled(struct history_store *store, const char *owner)
{
    for (size_t i = 0; i < store->filled_count && i < FILLED_MAX; i++)
        if (strcmp(store->filled[i], owner) == 0)
            return;
    if (store->filled_count < FILLED_MAX)
        memcpy(store->filled[store->filled_count], owner, HASH_BYTES);
    if (store->filled_count <= FILLED_MAX)
        store->filled_count++;
}

/* *changed: rows of the last part of the statement. */
static enum td_status run(struct history_store *store, struct db_statement *statement,
                          uint64_t *changed, struct td_error *err)
{
    enum td_status status = small_database_run(store->db, WHAT, statement, err);
    *changed = status == TD_OK ? db_changes(store->db) : 0;
    return status;
}

/* One that must have changed a row. */
static enum td_status run_on_one(struct history_store *store, struct db_statement *statement,
                                 struct td_error *err)
{
    uint64_t changed;
    enum td_status status = run(store, statement, &changed, err);
    return status == TD_OK && changed == 0 ? TD_NOT_FOUND : status;
}

static enum td_status remove_of(struct history_store *store, const char *owner, const char *id,
                                struct td_error *err)
{
    return run_on_one(store,
                      small_database_prepare(store->db,
                                             "DELETE FROM kept WHERE id = ?1 AND owner = ?2", "tt",
                                             id, owner),
                      err);
}

/* --- putting --- */

/* What follows the row `k` of the record in the same statement: its user (?12) and its lists. The
 * number of its rows says whether there was one. */
#define USER_AND_LISTS(mark, otherwise)                                                           \
    ", u AS (INSERT INTO kept_user (kept, whom) SELECT k.seq, CAST(?12 AS TEXT) FROM k"           \
    " WHERE CAST(?12 AS TEXT) IS NOT NULL ON CONFLICT DO NOTHING), l AS ("                        \
    "INSERT INTO kept_list (kept, mark, items) SELECT k.seq, " mark " || v.mark,"                 \
    " decode(v.items, 'hex') FROM k, (VALUES ('0', CAST(?13 AS TEXT)), ('1', CAST(?14 AS TEXT)))" \
    " AS v (mark, items) WHERE v.items IS NOT NULL ORDER BY v.mark ON CONFLICT (kept, mark) "     \
    "DO " otherwise ") SELECT seq FROM k"
#define AGAIN "UPDATE SET items = excluded.items"

static const char put_sql[] =
    "WITH k AS (INSERT INTO kept (id, owner, tenant, state, background, declared, seen, previous,"
    " bytes, lists, body, used_s, held_until_s) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"
    " decode(?11, 'hex'), " NOW_S ", " NOW_S " + " HELD_S ") ON CONFLICT (owner, id) DO UPDATE SET"
    " state = excluded.state, declared = excluded.declared, seen = excluded.seen,"
    " bytes = excluded.bytes, lists = excluded.lists, body = excluded.body,"
    " used_s = excluded.used_s RETURNING seq)" USER_AND_LISTS("''", AGAIN);

static const char finish_sql[] =
    "WITH k AS (UPDATE kept SET state = ?4, declared = ?6, seen = ?7, bytes = ?9, lists = ?10,"
    " body = decode(?11, 'hex'), used_s = " NOW_S " WHERE id = ?1 AND owner = ?2 AND state = 1"
    " RETURNING seq)" USER_AND_LISTS("''", AGAIN);

enum td_status history_store_put(struct history_store *store, const struct history_record *record,
                                 bool finish, struct td_error *err)
{
    struct sealed sealed;
    enum td_status status = seal_record(store, record, &sealed, err);
    if (status == TD_OK) {
        struct db_statement *statement = small_database_prepare(
            store->db, finish ? finish_sql : put_sql, "tttiiiitiitttt", record->id, sealed.owner,
            record->owner.tenant ? record->owner.tenant : "", (int64_t)record->state,
            (int64_t)record->background, (int64_t)record->data_class.declared,
            (int64_t)record->data_class.seen, record->previous ? record->previous : "",
            sealed.bytes, sealed.list_count, sealed.body, record->owner.user, sealed.lists[0],
            sealed.lists[1]);
        status = run_on_one(store, statement, err);
        note_filled(store, sealed.owner);
    }
    sealed_deinit(&sealed);
    return status;
}

static const char append_sql[] =
    "WITH k AS (UPDATE kept SET declared = greatest(declared, ?3), seen = greatest(seen, ?4),"
    " bytes = bytes + ?5, lists = lists + 1, used_s = " NOW_S
    " WHERE id = ?1 AND owner = ?2 AND bytes + ?5 <= ?6 AND lists < ?7 AND NOT EXISTS"
    " (SELECT 1 FROM kept_list l WHERE l.kept = kept.seq AND l.mark = ?8 || '0') RETURNING "
    "seq)" USER_AND_LISTS("?8", "NOTHING");

/* One to which nothing can be added is dropped: with a hole in it, it would be another. What was
 * told before is no failure. */
static enum td_status why_not_added(struct history_store *store, const char *id,
                                    const struct sealed *sealed, const char *mark,
                                    struct td_error *err)
{
    int64_t there = small_database_number(
        small_database_prepare(store->db,
                               "SELECT count(*) FROM kept_list l JOIN kept k ON k.seq = l.kept"
                               " WHERE k.id = ?1 AND k.owner = ?2 AND l.mark = ?3 || '0'",
                               "ttt", id, sealed->owner, mark),
        -1);
    if (there != 0)
        return there > 0 ? TD_OK : db_error(store->db, WHAT, err);
    enum td_status status = remove_of(store, sealed->owner, id, err);
    return status == TD_OK ? error_set(err, TD_LIMIT, "%s is larger than may be kept", id) : status;
}

enum td_status history_store_append(struct history_store *store,
                                    const struct history_record *record, const char *mark,
                                    struct td_error *err)
{
    struct sealed sealed;
    enum td_status status = seal_record(store, record, &sealed, err);
    if (status == TD_OK) {
        struct db_statement *statement = small_database_prepare(
            store->db, append_sql, "ttiiiiit", record->id, sealed.owner,
            (int64_t)record->data_class.declared, (int64_t)record->data_class.seen, sealed.bytes,
            (int64_t)store->limits.caller_bytes_max, (int64_t)HISTORY_LISTS_MAX, mark);
        if (statement) {
            db_bind_borrowed(statement, 12, record->owner.user);
            db_bind_borrowed(statement, 13, sealed.lists[0]);
        }
        status = run_on_one(store, statement, err);
        if (status == TD_NOT_FOUND)
            status = why_not_added(store, record->id, &sealed, mark, err);
        note_filled(store, sealed.owner);
    }
    sealed_deinit(&sealed);
    return status;
}

/* --- finding --- */

/* A record, and the ones before it, each with its lists behind it in the order in which they came.
 * Of the first one alone the body is needed. */
static const char find_sql[] =
    "SELECT * FROM (WITH RECURSIVE c AS (SELECT k.*, 0 AS depth FROM kept k WHERE id = ?1"
    " AND owner = ?2 AND used_s > " NOW_S " - ?3 UNION ALL SELECT k.*, c.depth + 1 FROM kept k"
    " JOIN c ON k.id = c.previous AND k.owner = ?2 WHERE c.depth + 1 < ?4"
    " AND k.used_s > " NOW_S " - ?3) SELECT depth, 0 AS at, state + CASE WHEN state = 1"
    " AND held_until_s < " NOW_S " THEN 2 ELSE 0 END, background, declared, seen, previous, " NOW_S
    " - used_s, lists, CASE WHEN depth = 0 THEN encode(body, 'hex') END, id FROM c"
    " UNION ALL SELECT c.depth, l.seq, l.version, NULL, NULL, NULL, NULL, NULL, NULL,"
    " encode(l.items, 'hex'), NULL FROM kept_list l JOIN c ON c.seq = l.kept) AS found"
    " ORDER BY depth, at";
enum { COLUMN_AT = 1, STATE, BACKGROUND, DECLARED, SEEN, PREVIOUS, AGE, LISTS, TEXT, ID };

static enum td_data_class class_of(struct db_statement *row, int column)
{
    int64_t value = db_int(row, column);
    return value >= TD_CLASS_PUBLIC && value <= TD_CLASS_RESTRICTED ? (enum td_data_class)value
                                                                    : TD_CLASS_RESTRICTED;
}

/* Rows that are read into records. */
struct finding {
    const struct history_store *store;
    const char *owner;
    struct history_run *run;
    int64_t lists_left;             /* of the newest one */
    int64_t age_s[HISTORY_RUN_MAX]; /* since their last use */
};

static enum td_status damaged(struct td_error *err)
{
    return error_set(err, TD_CORRUPT, "a kept response is damaged in the database");
}

static enum td_status read_record(struct finding *f, struct db_statement *row, struct td_error *err)
{
    char label[128];
    struct history_run *run = f->run;
    int64_t state = db_int(row, STATE), lists = db_int(row, LISTS);
    struct td_str previous = db_str(row, PREVIOUS), id = db_str(row, ID);
    if (state < HISTORY_DONE || state > HISTORY_LOST || lists < 0 || lists > HISTORY_LISTS_MAX ||
        previous.len >= HISTORY_ID_BYTES || id.len >= HISTORY_ID_BYTES ||
        run->count == HISTORY_RUN_MAX)
        return damaged(err);
    f->age_s[run->count] = db_int(row, AGE);
    f->lists_left = lists + HISTORY_LISTS_OF_RESPONSE;
    struct history_found *out = &run->found[run->count];
    snprintf(run->ids[run->count++], HISTORY_ID_BYTES, STR_FMT, STR_ARG(id));
    *out = (struct history_found){.state = (enum history_state)state,
                                  .background = db_int(row, BACKGROUND) != 0,
                                  .data_class = {class_of(row, DECLARED), class_of(row, SEEN)}};
    snprintf(out->previous, sizeof out->previous, STR_FMT, STR_ARG(previous));
    out->lists = calloc((size_t)f->lists_left + 1, sizeof *out->lists);
    if (!out->lists)
        return error_set(err, TD_NO_MEMORY, "no memory for a response");
    return db_is_null(row, TEXT) ? TD_OK
                                 : open_text(f->store, label_of(f->owner, id, 'b', label),
                                             db_str(row, TEXT), &out->body, err);
}

static enum td_status read_list(struct finding *f, struct db_statement *row, struct td_error *err)
{
    char label[128];
    struct history_text *text;
    if (f->run->count == 0 || f->lists_left-- == 0)
        return damaged(err);
    struct history_found *out = &f->run->found[f->run->count - 1];
    label_of(f->owner, str_from(f->run->ids[f->run->count - 1]), 'l', label);
    enum td_status status = open_text(f->store, str_from(label), db_str(row, TEXT), &text, err);
    if (status != TD_OK)
        return status;
    text->row = db_int(row, COLUMN_AT);
    text->version = db_int(row, STATE);
    out->lists[out->list_count++] = text;
    return TD_OK;
}

static void note_uses(struct history_store *store, const struct finding *f)
{
    for (size_t i = 0; i < f->run->count; i++)
        if (f->age_s[i] > store->keep_s / USE_PARTS)
            (void)!run_on_one(store,
                              small_database_prepare(store->db,
                                                     "UPDATE kept SET used_s = " NOW_S
                                                     " WHERE id = ?1 AND owner = ?2",
                                                     "tt", f->run->ids[i], f->owner),
                              NULL);
}

enum td_status history_store_find(struct history_store *store, const char *caller, struct td_str id,
                                  size_t count_max, struct history_run *out, struct td_error *err)
{
    char owner[HASH_BYTES], name[HISTORY_ID_BYTES];
    enum db_step code = DB_FAILED;
    enum td_status status = TD_OK;
    struct finding f = {.store = store, .owner = owner, .run = out};
    out->count = 0;
    if (id.len == 0 || id.len >= sizeof name || memchr(id.data, '\0', id.len))
        return TD_NOT_FOUND;
    snprintf(name, sizeof name, STR_FMT, STR_ARG(id));
    write_owner(store, caller, owner);
    struct db_statement *row = small_database_prepare(
        store->db, find_sql, "ttii", name, owner, store->keep_s,
        (int64_t)(count_max < HISTORY_RUN_MAX ? count_max : HISTORY_RUN_MAX));
    while (status == TD_OK && row && (code = db_step(row)) == DB_ROW)
        status = db_int(row, COLUMN_AT) == 0 ? read_record(&f, row, err) : read_list(&f, row, err);
    if (status == TD_OK && code != DB_DONE)
        status = db_error(store->db, WHAT, err);
    db_end(row);
    if (status == TD_OK && out->count == 0)
        status = TD_NOT_FOUND;
    if (status == TD_OK)
        note_uses(store, &f);
    else
        history_run_deinit(out);
    return status;
}

enum td_status history_store_users(struct history_store *store, const char *caller, const char *id,
                                   void (*each)(void *ctx, const char *user), void *ctx,
                                   struct td_error *err)
{
    char owner[HASH_BYTES];
    enum db_step code = DB_FAILED;
    write_owner(store, caller, owner);
    struct db_statement *row =
        small_database_prepare(store->db,
                               "SELECT u.whom FROM kept_user u JOIN kept k ON k.seq = u.kept"
                               " WHERE k.id = ?1 AND k.owner = ?2",
                               "tt", id, owner);
    while (row && (code = db_step(row)) == DB_ROW)
        each(ctx, db_text(row, 0));
    enum td_status status = code == DB_DONE ? TD_OK : db_error(store->db, WHAT, err);
    db_end(row);
    return status;
}

enum td_status history_store_begin(struct history_store *store, struct td_error *err)
{
    return small_database_begin(store->db, WHAT, err);
}

enum td_status history_store_end(struct history_store *store, enum td_status status,
                                 struct td_error *err)
{
    return small_database_end(store->db, WHAT, status, err);
}

/* --- changing --- */

enum td_status history_store_cancel(struct history_store *store, const char *caller, const char *id,
                                    struct history_text *body, struct td_error *err)
{
    char owner[HASH_BYTES], label[128], *hex = NULL;
    write_owner(store, caller, owner);
    enum td_status status = seal(store, label_of(owner, str_from(id), 'b', label), body, &hex, err);
    if (status == TD_OK)
        status =
            run_on_one(store,
                       small_database_prepare(
                           store->db,
                           "UPDATE kept SET state = 2, body = decode(?3, 'hex'), used_s = " NOW_S
                           " WHERE id = ?1 AND owner = ?2 AND state = 1",
                           "ttt", id, owner, hex),
                       err);
    free(hex);
    return status;
}

enum td_status history_store_remove(struct history_store *store, const char *caller, const char *id,
                                    struct td_error *err)
{
    char owner[HASH_BYTES];
    write_owner(store, caller, owner);
    return remove_of(store, owner, id, err);
}

enum td_status history_store_replace(struct history_store *store, const char *caller,
                                     const char *id, const struct history_text *before,
                                     struct history_text *after, struct td_error *err)
{
    char owner[HASH_BYTES], label[128], *hex = NULL;
    struct db_statement *statement = NULL;
    write_owner(store, caller, owner);
    label_of(owner, str_from(id), before ? 'l' : 'b', label);
    enum td_status status = seal(store, str_from(label), after, &hex, err);
    if (status == TD_OK && before)
        statement = small_database_prepare(
            store->db,
            "UPDATE kept_list SET items = decode(?3, 'hex'), version = version + 1"
            " WHERE seq = ?4 AND version = ?5 AND kept IN"
            " (SELECT seq FROM kept WHERE id = ?1 AND owner = ?2)",
            "tttii", id, owner, hex, before->row, before->version);
    else if (status == TD_OK)
        statement =
            small_database_prepare(store->db,
                                   "UPDATE kept SET body = decode(?3, 'hex'), used_s = " NOW_S
                                   " WHERE id = ?1 AND owner = ?2",
                                   "ttt", id, owner, hex);
    if (status == TD_OK)
        status = run_on_one(store, statement, err);
    free(hex);
    return status;
}

enum td_status history_store_hold(struct history_store *store, const char *caller, const char *id,
                                  struct td_error *err)
{
    char owner[HASH_BYTES];
    write_owner(store, caller, owner);
    return run_on_one(store,
                      small_database_prepare(store->db,
                                             "UPDATE kept SET held_until_s = " NOW_S " + " HELD_S
                                             " WHERE id = ?1 AND owner = ?2 AND state = 1",
                                             "tt", id, owner),
                      err);
}

/* --- removing --- */

enum td_status history_store_forget(struct history_store *store, const char *tenant,
                                    const char *user, uint64_t *count, struct td_error *err)
{
    return run(
        store,
        small_database_prepare(store->db,
                               "DELETE FROM kept WHERE (CAST(?2 AS TEXT) IS NULL OR tenant ="
                               " ?2) AND seq IN (SELECT kept FROM kept_user WHERE whom = ?1)",
                               "tt", user, tenant),
        count, err);
}

/* What is beyond a caller's limits, the least recently used first. */
static const char shrink_sql[] =
    "DELETE FROM kept WHERE seq IN (SELECT seq FROM (SELECT seq, row_number() OVER w AS place,"
    " sum(bytes) OVER w AS bytes FROM kept WHERE CAST(?1 AS TEXT) IS NULL OR owner = ?1"
    " WINDOW w AS (PARTITION BY owner ORDER BY used_s DESC, seq DESC)) AS own"
    " WHERE place > ?2 OR bytes > ?3)";

/* Of the caller who has most, the least recently used, until ?1 bytes are free. */
static const char largest_sql[] =
    "DELETE FROM kept WHERE seq IN (SELECT seq FROM (SELECT seq, sum(bytes) OVER"
    " (ORDER BY used_s, seq) - bytes AS before FROM kept WHERE owner ="
    " (SELECT owner FROM kept GROUP BY owner ORDER BY sum(bytes) DESC LIMIT 1)) AS own"
    " WHERE before < ?1)";

static enum td_status shrink(struct history_store *store, const char *owner, struct td_error *err)
{
    uint64_t changed;
    return run(store,
               small_database_prepare(store->db, shrink_sql, "tii", owner,
                                      (int64_t)store->limits.caller_count_max,
                                      (int64_t)store->limits.caller_bytes_max),
               &changed, err);
}

static enum td_status shrink_all(struct history_store *store, struct td_error *err)
{
    enum td_status status = TD_OK;
    uint64_t changed = 1;
    for (int i = 0; i < LARGEST_MAX && status == TD_OK && changed > 0; i++) {
        int64_t bytes = small_database_number(
            db_prepare(store->db, "SELECT coalesce(sum(bytes), 0)::BIGINT FROM kept"), 0);
        if (bytes <= (int64_t)store->limits.bytes_max)
            break;
        status = run(store,
                     small_database_prepare(store->db, largest_sql, "i",
                                            bytes - (int64_t)store->limits.bytes_max),
                     &changed, err);
    }
    return status;
}

enum td_status history_store_sweep(struct history_store *store, struct td_error *err)
{
    uint64_t changed;
    size_t count = store->filled_count;
    enum td_status status =
        run(store,
            small_database_prepare(store->db, "DELETE FROM kept WHERE used_s <= " NOW_S " - ?1",
                                   "i", store->keep_s),
            &changed, err);
    if (count > FILLED_MAX && status == TD_OK)
        status = shrink(store, NULL, err);
    for (size_t i = 0; i < count && count <= FILLED_MAX && status == TD_OK; i++)
        status = shrink(store, store->filled[i], err);
    if (status == TD_OK && count > 0)
        status = shrink_all(store, err);
    if (status == TD_OK)
        store->filled_count = 0;
    return status;
}

enum td_status history_share_forget(const struct history_share *share, const char *tenant,
                                    const char *user, uint64_t *count, struct td_error *err)
{
    const struct history_limits any = {.keep_ms = 1000};
    struct history_store *store = NULL;
    *count = 0;
    enum td_status status = history_store_open(share->database, share->key, &any, &store, err);
    if (status == TD_OK)
        status = history_store_forget(store, tenant, user, count, err);
    history_store_close(store);
    return status;
}

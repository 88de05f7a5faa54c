#include "ledger/store/deferred_store.h"

#include "base/bytes/path.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "ledger/database/small_database.h"
#include "ledger/store/deferred_texts.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SCHEMA_VERSION 1
#define CLOSED_S_MAX 86400 /* that may pass by the wall clock while the store is closed */
#define SWEEP_ROWS "500"
#define EVERYBODY "*" /* in tally: no owner has this name */
/* Where nodes share the queue. A node that asks a question says so again each second. */
#define HOLD_S "20"
#define THIS_NODE "current_setting('tandem.node')"
#define NOW "extract(epoch FROM now())::BIGINT"

/* States 0 and 1 wait or run. headers, body and answer are sealed; body and headers are empty once
 * the question has ended. expires_age and ended_age are of the queue's clock. */
static const char schema[] =
    "CREATE TABLE deferred (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
    " owner TEXT NOT NULL, key_id TEXT NOT NULL, \"user\" TEXT NOT NULL, path TEXT NOT NULL,"
    " reason TEXT NOT NULL, headers BLOB NOT NULL, body BLOB NOT NULL, answer BLOB NOT NULL,"
    " state INTEGER NOT NULL, created_s INTEGER NOT NULL, expires_age INTEGER NOT NULL,"
    " ended_s INTEGER NOT NULL, ended_age INTEGER NOT NULL, tries INTEGER NOT NULL,"
    " code INTEGER NOT NULL, bytes INTEGER NOT NULL);"
    "CREATE INDEX deferred_due ON deferred (state, owner, seq);"
    "CREATE INDEX deferred_owner ON deferred (owner, seq);"
    "CREATE INDEX deferred_user ON deferred (\"user\");"
    "CREATE INDEX deferred_expires ON deferred (state, expires_age);"
    "CREATE INDEX deferred_ended ON deferred (ended_age) WHERE state > 1;"
    "CREATE TABLE tally (owner TEXT PRIMARY KEY, waiting INTEGER NOT NULL, bytes INTEGER NOT NULL)"
    " WITHOUT ROWID;"
    "CREATE TABLE age (age_s INTEGER NOT NULL, wall_s INTEGER NOT NULL);"
    "INSERT INTO age VALUES (0, 0);"
    "CREATE TRIGGER deferred_added AFTER INSERT ON deferred BEGIN"
    " INSERT INTO tally VALUES (new.owner, 1, new.bytes), ('" EVERYBODY "', 1, new.bytes)"
    " ON CONFLICT (owner) DO UPDATE SET waiting = waiting + 1, bytes = bytes + new.bytes; END;"
    "CREATE TRIGGER deferred_changed AFTER UPDATE OF state, bytes ON deferred BEGIN"
    " UPDATE tally SET waiting = waiting + (new.state < 2) - (old.state < 2),"
    " bytes = bytes + new.bytes - old.bytes WHERE owner IN (new.owner, '" EVERYBODY "'); END;"
    "CREATE TRIGGER deferred_removed AFTER DELETE ON deferred BEGIN"
    " UPDATE tally SET waiting = waiting - (old.state < 2), bytes = bytes - old.bytes"
    " WHERE owner IN (old.owner, '" EVERYBODY "');"
    " DELETE FROM tally WHERE owner = old.owner AND waiting = 0 AND bytes = 0; END;"
    "PRAGMA user_version=1";

struct deferred_store {
    pthread_mutex_t lock;
    struct db *db;
    char path[PATH_MAX];
    bool shared; /* by nodes, whose tables are those of src/cluster/schema/ */
    struct deferred_limits limits;
    uint8_t key[KEYED_KEY_BYTES];
    const struct clock *clock;
    int64_t age_s;    /* of the queue when it was opened */
    double opened_ms; /* monotonic */
    uint64_t waiting; /* that wait or run; as of the last change */
};

static const char *const state_names[DEFERRED_STATE_COUNT] = {
    [DEFERRED_WAITING] = "waiting",   [DEFERRED_RUNNING] = "running",
    [DEFERRED_ANSWERED] = "answered", [DEFERRED_FAILED] = "failed",
    [DEFERRED_EXPIRED] = "expired",   [DEFERRED_CANCELLED] = "cancelled",
};

const char *deferred_state_name(enum deferred_state state)
{
    return state_names[state];
}

enum deferred_state deferred_state_parse(const char *name)
{
    int state = 0;
    while (state < DEFERRED_STATE_COUNT && strcmp(name, state_names[state]) != 0)
        state++;
    return (enum deferred_state)state;
}

/* --- time --- */

static int64_t age_s(const struct deferred_store *store)
{
    return store->age_s + (int64_t)((clock_monotonic_ms(store->clock) - store->opened_ms) / 1000.0);
}

static int64_t wall_s(const struct deferred_store *store)
{
    return (int64_t)(clock_wall_ms(store->clock) / 1000);
}

static enum td_status run_locked(struct deferred_store *store, struct db_statement *statement,
                                 struct td_error *err)
{
    return small_database_run(store->db, store->path, statement, err);
}

static int64_t number_locked(struct deferred_store *store, const char *sql, int64_t otherwise)
{
    return small_database_number(small_database_prepare(store->db, sql, ""), otherwise);
}

/* What nodes share has the time of its database; between two looks at it that of this node. */
static void read_shared_age_locked(struct deferred_store *store)
{
    int64_t otherwise = store->age_s ? age_s(store) : wall_s(store);
    store->age_s = number_locked(store, "SELECT " NOW, otherwise);
    store->opened_ms = clock_monotonic_ms(store->clock);
}

static enum td_status save_age_locked(struct deferred_store *store, struct td_error *err)
{
    if (store->shared) {
        read_shared_age_locked(store);
        return TD_OK;
    }
    return run_locked(store,
                      small_database_prepare(store->db, "UPDATE age SET age_s = ?1, wall_s = ?2",
                                             "ii", age_s(store), wall_s(store)),
                      err);
}

static void read_age(struct deferred_store *store)
{
    store->opened_ms = clock_monotonic_ms(store->clock);
    store->age_s = number_locked(store, "SELECT age_s FROM age", 0);
    int64_t saved = number_locked(store, "SELECT wall_s FROM age", 0);
    int64_t closed = saved > 0 ? wall_s(store) - saved : 0;
    store->age_s += closed < 0 ? 0 : closed > CLOSED_S_MAX ? CLOSED_S_MAX : closed;
}

/* --- opening --- */

enum td_status deferred_store_recover(struct deferred_store *store, struct td_error *err)
{
    const char *sql = store->shared
                          ? "UPDATE deferred SET state = 0 WHERE state = 1 AND holder = " THIS_NODE
                          : "UPDATE deferred SET state = 0 WHERE state = 1";
    pthread_mutex_lock(&store->lock);
    enum td_status status = run_locked(store, db_prepare(store->db, sql), err);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* Those of a node that does not say any more that it asks them. */
static void recover_lapsed_locked(struct deferred_store *store)
{
    (void)!run_locked(store,
                      db_prepare(store->db, "UPDATE deferred SET state = 0 WHERE state = 1"
                                            " AND held_until_s < " NOW),
                      NULL);
}

static void count_locked(struct deferred_store *store)
{
    store->waiting = (uint64_t)small_database_number(
        small_database_prepare(store->db, "SELECT waiting FROM tally WHERE owner = ?1", "t",
                               EVERYBODY),
        0);
}

/* What ran here when this process ended before waits again. A database that is away is no reason
 * not to start: what it has of this node's waits again when nobody says that it runs. */
static enum td_status begin(struct deferred_store *store, struct td_error *err)
{
    if (store->shared) {
        read_shared_age_locked(store);
        (void)!deferred_store_recover(store, NULL);
        return TD_OK;
    }
    read_age(store);
    enum td_status status = deferred_store_recover(store, err);
    return status == TD_OK ? save_age_locked(store, err) : status;
}

enum td_status deferred_store_open(const char *path, const struct deferred_limits *limits,
                                   const uint8_t key[static KEYED_KEY_BYTES],
                                   const struct clock *clock, struct deferred_store **out,
                                   struct td_error *err)
{
    ASSERT(path && limits && out);
    *out = NULL;
    struct deferred_store *store = calloc(1, sizeof *store);
    if (!store)
        return error_set(err, TD_NO_MEMORY, "no memory for the queue of deferred questions");
    pthread_mutex_init(&store->lock, NULL);
    store->limits = *limits;
    store->clock = clock;
    memcpy(store->key, key, sizeof store->key);
    enum td_status status = path_format(store->path, sizeof store->path, err, "%s", path);
    store->shared = db_driver_of(path) != NULL;
    if (status == TD_OK && !store->shared)
        status = path_make_parents(store->path, 0700, err);
    if (status == TD_OK)
        status = small_database_open(path, schema, SCHEMA_VERSION, &store->db, err);
    if (status == TD_OK)
        status = begin(store, err);
    if (status != TD_OK) {
        deferred_store_close(store);
        return status;
    }
    count_locked(store);
    *out = store;
    return TD_OK;
}

void deferred_store_close(struct deferred_store *store)
{
    if (!store)
        return;
    if (store->db)
        (void)!save_age_locked(store, NULL);
    db_close(store->db);
    crypto_wipe(store->key, sizeof store->key);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

bool deferred_store_is_shared(const struct deferred_store *store)
{
    return store->shared;
}

uint64_t deferred_store_waiting(struct deferred_store *store)
{
    pthread_mutex_lock(&store->lock);
    uint64_t waiting = store->waiting;
    pthread_mutex_unlock(&store->lock);
    return waiting;
}

/* --- rows --- */

#define COLUMNS \
    "seq, id, owner, key_id, path, reason, state, created_s, expires_age, ended_s, tries, code"

static void read_text(struct db_statement *row, int column, char *out, size_t size)
{
    const char *text = db_text(row, column);
    snprintf(out, size, "%s", text ? text : "");
}

static void read_row(const struct deferred_store *store, struct db_statement *row,
                     struct deferred *out)
{
    int64_t state = db_int(row, 6);
    bool known = state >= 0 && state < DEFERRED_STATE_COUNT;
    *out = (struct deferred){
        .seq = db_int(row, 0),
        .state = known ? (enum deferred_state)state : DEFERRED_FAILED,
        .created_s = db_int(row, 7),
        .expires_s = wall_s(store) + db_int(row, 8) - age_s(store),
        .ended_s = db_int(row, 9),
        .tries = (uint32_t)db_int(row, 10),
        .code = (int)db_int(row, 11),
    };
    read_text(row, 1, out->id, sizeof out->id);
    read_text(row, 2, out->owner, sizeof out->owner);
    read_text(row, 3, out->key_id, sizeof out->key_id);
    read_text(row, 4, out->path, sizeof out->path);
    read_text(row, 5, out->reason, sizeof out->reason);
}

/* The first row; frees the statement. */
static bool first_locked(struct deferred_store *store, struct db_statement *row,
                         struct deferred *out)
{
    bool found = row && db_step(row) == DB_ROW;
    if (found)
        read_row(store, row, out);
    db_end(row);
    return found;
}

static bool find_locked(struct deferred_store *store, const char *owner, struct td_str id,
                        struct deferred *out)
{
    if (id.len == 0 || id.len >= STORED_ID_BYTES)
        return false;
    return first_locked(store,
                        small_database_prepare(store->db,
                                               "SELECT " COLUMNS " FROM deferred WHERE id = ?1"
                                               " AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)",
                                               "st", id, owner),
                        out);
}

bool deferred_store_find(struct deferred_store *store, const char *owner, struct td_str id,
                         struct deferred *out)
{
    pthread_mutex_lock(&store->lock);
    bool found = find_locked(store, owner, id, out);
    pthread_mutex_unlock(&store->lock);
    return found;
}

bool deferred_store_list(struct deferred_store *store, const char *owner, enum deferred_state state,
                         const struct stored_page *page,
                         void (*fn)(void *ctx, const struct deferred *one), void *ctx)
{
    struct deferred one = {.seq = INT64_MAX};
    pthread_mutex_lock(&store->lock);
    bool known = !*page->after || find_locked(store, owner, str_from(page->after), &one);
    struct db_statement *row =
        known ? small_database_prepare(store->db,
                                       "SELECT " COLUMNS " FROM deferred WHERE seq < ?1"
                                       " AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)"
                                       " AND (?3 < 0 OR state = ?3) ORDER BY seq DESC LIMIT ?4",
                                       "itii", one.seq, owner,
                                       state == DEFERRED_STATE_COUNT ? -1 : (int64_t)state,
                                       (int64_t)page->limit + 1)
              : NULL;
    bool ok = row != NULL;
    while (row && db_step(row) == DB_ROW) {
        read_row(store, row, &one);
        fn(ctx, &one);
    }
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return ok;
}

/* --- in --- */

static int64_t tally_locked(struct deferred_store *store, const char *owner, const char *sql)
{
    return small_database_number(small_database_prepare(store->db, sql, "t", owner), 0);
}

static enum td_status check_room_locked(struct deferred_store *store, const char *owner,
                                        uint64_t bytes, struct td_error *err)
{
    static const char count[] = "SELECT waiting FROM tally WHERE owner = ?1";
    const struct deferred_limits *limits = &store->limits;
    const char *full = NULL;
    if ((uint64_t)tally_locked(store, EVERYBODY, count) >= limits->count_max)
        full = "deferral.count_max";
    else if ((uint64_t)tally_locked(store, owner, count) >= limits->owner_count_max)
        full = "deferral.caller_count_max";
    else if ((uint64_t)tally_locked(store, EVERYBODY, "SELECT bytes FROM tally WHERE owner = ?1") +
                 bytes >
             limits->bytes_max)
        full = "deferral.mb_max";
    return full ? error_set(err, TD_LIMIT,
                            "the queue of deferred questions is full (%s): cancel some, wait until "
                            "it is worked off, or ask the operator for more",
                            full)
                : TD_OK;
}

static enum td_status insert_locked(struct deferred_store *store,
                                    const struct deferred_question *question,
                                    const struct buf *headers, const struct buf *body,
                                    struct deferred *out, struct td_error *err)
{
    char user[DEFERRED_MARK_BYTES];
    int64_t expires_s = question->expires_s ? question->expires_s : store->limits.expires_s;
    uint64_t bytes = headers->len + body->len;
    deferred_mark_user(store->key, question->user, user);
    enum td_status status = check_room_locked(store, question->owner, bytes, err);
    if (status == TD_OK)
        status = run_locked(
            store,
            small_database_prepare(
                store->db,
                "INSERT INTO deferred (id, owner, key_id, \"user\", path, reason, headers, body,"
                " answer, state, created_s, expires_age, ended_s, ended_age, tries, code, bytes)"
                " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, '', 0, ?9, ?10, 0, 0, 0, 0, ?11)",
                "ttttttssiii", out->id, question->owner, question->key_id, user, question->path,
                question->reason, buf_view(headers), buf_view(body), wall_s(store),
                age_s(store) + expires_s, (int64_t)bytes),
            err);
    if (status == TD_OK && !find_locked(store, NULL, str_from(out->id), out))
        status = db_error(store->db, store->path, err);
    return status;
}

static enum td_status new_id(char out[static STORED_ID_BYTES], struct td_error *err)
{
    uint8_t bytes[16];
    enum td_status status = crypto_random(bytes, sizeof bytes, err);
    memcpy(out, "def_", sizeof "def_");
    crypto_hex(bytes, sizeof bytes, out + strlen("def_"));
    return status;
}

enum td_status deferred_store_add(struct deferred_store *store,
                                  const struct deferred_question *question, struct deferred *out,
                                  struct td_error *err)
{
    const struct deferred_seal seal = {store->key, out->id, store->shared};
    struct buf headers = {0}, body = {0};
    enum td_status status = new_id(out->id, err);
    if (status == TD_OK && strlen(question->path) >= DEFERRED_PATH_BYTES)
        status = error_set(err, TD_LIMIT, "a deferred question's path has at most %d bytes",
                           DEFERRED_PATH_BYTES - 1);
    if (status == TD_OK)
        status = deferred_seal(&seal, "headers", question->headers, &headers, err);
    if (status == TD_OK)
        status = deferred_seal(&seal, "body", question->body, &body, err);
    pthread_mutex_lock(&store->lock);
    if (status == TD_OK)
        status = insert_locked(store, question, &headers, &body, out, err);
    count_locked(store);
    pthread_mutex_unlock(&store->lock);
    buf_deinit(&headers);
    buf_deinit(&body);
    return status;
}

/* --- out --- */

/* What is left of one that has ended without an answer; ?2 and ?3 are when. */
#define END_ROW " headers = '', body = '', answer = '', bytes = 0, ended_s = ?2, ended_age = ?3"

/* What another node asks for an owner is not this one's: answers come in the order of questions. */
#define NOBODY_ASKS \
    " AND NOT EXISTS (SELECT 1 FROM deferred AS other WHERE state = 1 AND other.owner = d.owner)"

bool deferred_store_next_owner(struct deferred_store *store, const char *after,
                               char out[static STORED_OWNER_BYTES])
{
    static const char sql[] = "SELECT min(owner) FROM deferred WHERE state = 0 AND owner > ?1";
    static const char shared_sql[] =
        "SELECT min(owner) FROM deferred AS d WHERE state = 0 AND owner > ?1" NOBODY_ASKS;
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db, store->shared ? shared_sql : sql, "t", after);
    bool found = row && db_step(row) == DB_ROW && !db_is_null(row, 0);
    if (found)
        read_text(row, 0, out, STORED_OWNER_BYTES);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return found;
}

/* TD_NOT_FOUND: another node was quicker, with this question or with another of its owner, of which
 * the database lets one run. */
static enum td_status hold_locked(struct deferred_store *store, const struct deferred *one,
                                  struct td_error *err)
{
    static const char sql[] = "UPDATE deferred SET state = 1, tries = tries + 1 WHERE id = ?1";
    static const char shared_sql[] =
        "UPDATE deferred SET state = 1, tries = tries + 1, holder = " THIS_NODE
        ", held_until_s = " NOW " + " HOLD_S " WHERE id = ?1 AND state = 0";
    enum td_status status = run_locked(
        store, small_database_prepare(store->db, store->shared ? shared_sql : sql, "t", one->id),
        err);
    if (!store->shared || (status == TD_OK && db_changes(store->db) > 0))
        return status;
    int64_t running = small_database_number(
        small_database_prepare(store->db,
                               "SELECT count(*) FROM deferred WHERE owner = ?1 AND state = 1", "t",
                               one->owner),
        0);
    return status == TD_OK || running > 0 ? TD_NOT_FOUND : status;
}

static enum td_status begin_locked(struct deferred_store *store, const char *owner,
                                   struct deferred *out, struct buf *headers, struct buf *body,
                                   struct td_error *err)
{
    static const char sql[] = "SELECT " COLUMNS ", headers, body FROM deferred WHERE state = 0"
                              " AND owner = ?1 ORDER BY seq LIMIT 1";
    static const char shared_sql[] =
        "SELECT " COLUMNS ", headers, body FROM deferred AS d WHERE state = 0"
        " AND owner = ?1" NOBODY_ASKS " ORDER BY seq LIMIT 1";
    struct db_statement *row =
        small_database_prepare(store->db, store->shared ? shared_sql : sql, "t", owner);
    if (!row || db_step(row) != DB_ROW) {
        db_end(row);
        return TD_NOT_FOUND;
    }
    read_row(store, row, out);
    const struct deferred_seal seal = {store->key, out->id, store->shared};
    enum td_status status = deferred_open(&seal, "headers", db_str(row, 12), headers, err);
    if (status == TD_OK)
        status = deferred_open(&seal, "body", db_str(row, 13), body, err);
    db_end(row);
    if (status != TD_OK) /* of another key, or damaged: it would bar the others for ever */
        return run_locked(store,
                          small_database_prepare(
                              store->db, "UPDATE deferred SET state = 3," END_ROW " WHERE id = ?1",
                              "tii", out->id, wall_s(store), age_s(store)),
                          NULL) == TD_OK
                   ? TD_CORRUPT
                   : status;
    out->state = DEFERRED_RUNNING;
    out->tries++;
    return hold_locked(store, out, err);
}

enum td_status deferred_store_take(struct deferred_store *store, const char *owner,
                                   struct deferred *out, struct buf *headers, struct buf *body,
                                   struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = begin_locked(store, owner, out, headers, body, err);
    count_locked(store);
    pthread_mutex_unlock(&store->lock);
    return status;
}

static enum td_status changed_locked(struct deferred_store *store, enum td_status status)
{
    return status == TD_OK && db_changes(store->db) == 0 ? TD_NOT_FOUND : status;
}

#define OWN " AND holder = " THIS_NODE
#define BACK "UPDATE deferred SET state = 0 WHERE id = ?1 AND state = 1"
#define END                                                                            \
    "UPDATE deferred SET state = ?2, code = ?3, answer = ?4, headers = '', body = ''," \
    " ended_s = ?5, ended_age = ?6, bytes = ?7 WHERE id = ?1 AND state = 1"
#define RENEW \
    "UPDATE deferred SET held_until_s = " NOW " + " HOLD_S " WHERE id = ?1 AND state = 1" OWN

enum td_status deferred_store_back(struct deferred_store *store, const char *id,
                                   struct td_error *err)
{
    pthread_mutex_lock(&store->lock);
    enum td_status status = run_locked(
        store, small_database_prepare(store->db, store->shared ? BACK OWN : BACK, "t", id), err);
    status = changed_locked(store, status);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status deferred_store_end(struct deferred_store *store, const char *id, int code,
                                  struct td_str answer, struct td_error *err)
{
    const struct deferred_seal seal = {store->key, id, store->shared};
    struct buf sealed = {0};
    int64_t state = code == 200 ? DEFERRED_ANSWERED : DEFERRED_FAILED;
    enum td_status status = deferred_seal(&seal, "answer", answer, &sealed, err);
    pthread_mutex_lock(&store->lock);
    if (status == TD_OK)
        status =
            run_locked(store,
                       small_database_prepare(store->db, store->shared ? END OWN : END, "tiisiii",
                                              id, state, (int64_t)code, buf_view(&sealed),
                                              wall_s(store), age_s(store), (int64_t)sealed.len),
                       err);
    status = changed_locked(store, status);
    count_locked(store);
    pthread_mutex_unlock(&store->lock);
    buf_deinit(&sealed);
    return status;
}

bool deferred_store_runs(struct deferred_store *store, const char *id)
{
    struct deferred one;
    if (!store->shared)
        return deferred_store_find(store, NULL, str_from(id), &one) &&
               one.state == DEFERRED_RUNNING;
    pthread_mutex_lock(&store->lock);
    enum td_status status =
        run_locked(store, small_database_prepare(store->db, RENEW, "t", id), NULL);
    bool runs = changed_locked(store, status) != TD_NOT_FOUND; /* as far as is known */
    pthread_mutex_unlock(&store->lock);
    return runs;
}

enum td_status deferred_store_answer(struct deferred_store *store, const char *id, struct buf *out,
                                     struct td_error *err)
{
    const struct deferred_seal seal = {store->key, id, store->shared};
    pthread_mutex_lock(&store->lock);
    struct db_statement *row =
        small_database_prepare(store->db, "SELECT answer FROM deferred WHERE id = ?1", "t", id);
    enum td_status status = TD_NOT_FOUND;
    if (row && db_step(row) == DB_ROW)
        status = deferred_open(&seal, "answer", db_str(row, 0), out, err);
    db_end(row);
    pthread_mutex_unlock(&store->lock);
    return status;
}

/* --- away --- */

enum td_status deferred_store_drop(struct deferred_store *store, const char *owner,
                                   struct td_str id, bool *removed, struct td_error *err)
{
    struct deferred one;
    pthread_mutex_lock(&store->lock);
    enum td_status status = find_locked(store, owner, id, &one) ? TD_OK : TD_NOT_FOUND;
    *removed = status == TD_OK && one.state > DEFERRED_RUNNING;
    if (status == TD_OK && *removed)
        status = run_locked(
            store,
            small_database_prepare(store->db, "DELETE FROM deferred WHERE id = ?1", "t", one.id),
            err);
    else if (status == TD_OK)
        status = run_locked(store,
                            small_database_prepare(store->db,
                                                   "UPDATE deferred SET state = 5," END_ROW
                                                   " WHERE id = ?1 AND state < 2",
                                                   "tii", one.id, wall_s(store), age_s(store)),
                            err);
    count_locked(store);
    pthread_mutex_unlock(&store->lock);
    return status;
}

enum td_status deferred_store_forget(struct deferred_store *store, const char *owner,
                                     const char *user, uint64_t *count, struct td_error *err)
{
    char mark[DEFERRED_MARK_BYTES];
    deferred_mark_user(store->key, user, mark);
    pthread_mutex_lock(&store->lock);
    enum td_status status =
        run_locked(store,
                   small_database_prepare(store->db,
                                          "DELETE FROM deferred WHERE \"user\" = ?1"
                                          " AND (CAST(?2 AS TEXT) IS NULL OR owner = ?2)",
                                          "tt", mark, owner),
                   err);
    *count = status == TD_OK ? db_changes(store->db) : 0;
    if (*count > 0)
        (void)!db_empty_log(store->db);
    count_locked(store);
    pthread_mutex_unlock(&store->lock);
    return status;
}

void deferred_store_sweep(struct deferred_store *store)
{
    pthread_mutex_lock(&store->lock);
    (void)!save_age_locked(store, NULL);
    int64_t now = age_s(store);
    if (store->shared)
        recover_lapsed_locked(store);
    (void)!run_locked(
        store,
        small_database_prepare(store->db,
                               "UPDATE deferred SET state = 4," END_ROW " WHERE seq IN"
                               " (SELECT seq FROM deferred WHERE state = 0 AND expires_age <= ?1"
                               " LIMIT " SWEEP_ROWS ")",
                               "iii", now, wall_s(store), now),
        NULL);
    if (store->limits.keep_s > 0)
        (void)!run_locked(
            store,
            small_database_prepare(store->db,
                                   "DELETE FROM deferred WHERE seq IN (SELECT seq FROM deferred"
                                   " WHERE state > 1 AND ended_age <= ?1 LIMIT " SWEEP_ROWS ")",
                                   "i", now - store->limits.keep_s),
            NULL);
    count_locked(store);
    pthread_mutex_unlock(&store->lock);
}

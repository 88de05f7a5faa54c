/* The twin of db.h on PostgreSQL.
 *
 * A reader gets its rows through cursors, some hundred at a time, because a ledger may be larger
 * than memory. A writer collects the statements of a transaction and sends them in one round trip
 * (pq_transaction). When the database gives no answer in time, the statements go into a
 * file on this node's disk (waiting.h) and count as written; they are sent, in their order, when
 * the database is back. Nobody knows whether a commit that was not answered took place. So each
 * statement is one that may run twice (writer.c has them), and rows that were sent twice stand
 * there once. */
#include "cluster/postgres.h"

#include "base/bytes/packed.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "cluster/postgres_internal.h"
#include "cluster/postgres_schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "postgresql://"
#define CONNECT_MS 500
#define RETRY_MS 1000
#define MIGRATE_MS 60000
#define OPEN_MS 10000 /* for a statement, until it is open */

static const char *this_node = "";

static struct postgres *postgres_of(struct db *db)
{
    return (struct postgres *)db;
}

bool postgres_fail(struct postgres *db, enum td_status status, const char *message)
{
    db->status = status;
    snprintf(db->message, sizeof db->message, "%s", message);
    return false;
}

static void hang_up(struct postgres *db)
{
    pq_close(db->pq);
    db->pq = NULL;
    db->broken = db->begun;
    db->begun = false;
}

/* The status of an end; a connection that gave no answer is given up. */
bool postgres_ended(struct postgres *db, enum pq_end end)
{
    if (end == PQ_DONE)
        return true;
    postgres_fail(db,
                  end == PQ_AWAY      ? TD_UNAVAILABLE
                  : end == PQ_REFUSED ? TD_INVALID
                                      : TD_IO,
                  pq_message(db->pq));
    if (end == PQ_AWAY) { /* it has its second to recover, and we lose no time with it */
        hang_up(db);
        db->retry_ms = clock_monotonic_ms(NULL) + RETRY_MS;
    } else {
        db->broken = db->begun;
    }
    return false;
}

static bool query(struct postgres *db, const char *sql, const char *value, struct pq_rows **rows)
{
    const struct pq_statement statement = {.sql = sql, .count = value != NULL, .values = {value}};
    return postgres_ended(db, pq_run(db->pq, &statement, db->answer_ms, rows));
}

/* --- opening --- */

static int64_t version_of(struct postgres *db)
{
    struct pq_rows *rows = NULL;
    int64_t version = -1;
    if (query(db, "SELECT coalesce(max(version), 0) FROM tandem.ledger_version", NULL, &rows))
        (void)!str_to_i64(pq_rows_value(rows, 0, 0), &version);
    pq_rows_free(rows);
    return version;
}

static bool apply(struct postgres *db)
{
    char sql[96];
    int64_t version = version_of(db);
    bool going = version >= 0;
    for (int64_t i = version; going && i < SCHEMA_VERSION; i++) {
        going = postgres_ended(
            db, pq_script(db->pq, packed_string(&schema_packed, (size_t)i), MIGRATE_MS));
        snprintf(sql, sizeof sql, "INSERT INTO ledger_version VALUES (%lld)", (long long)i + 1);
        going = going && postgres_ended(db, pq_script(db->pq, sql, MIGRATE_MS));
    }
    return going;
}

/* All or nothing, and one node at a time: the others wait for the lock. */
static bool migrate(struct postgres *db)
{
    bool going =
        postgres_ended(db, pq_script(db->pq,
                                     "BEGIN; SELECT pg_advisory_xact_lock(x'54414E44454D'::BIGINT);"
                                     "CREATE SCHEMA IF NOT EXISTS tandem; SET search_path = tandem;"
                                     "CREATE TABLE IF NOT EXISTS ledger_version"
                                     " (version INTEGER PRIMARY KEY)",
                                     MIGRATE_MS)) &&
        apply(db) && postgres_ended(db, pq_script(db->pq, "COMMIT", MIGRATE_MS));
    if (!going && db->pq)
        (void)pq_script(db->pq, "ROLLBACK", MIGRATE_MS);
    return going;
}

static bool check_version(struct postgres *db)
{
    char message[160];
    int64_t version = version_of(db);
    if (!db->pq)
        return false;
    if (version < 0)
        return postgres_fail(
            db, TD_NOT_FOUND,
            "there is no ledger in this database; start 'tandem serve' once, which makes "
            "it");
    if (version == SCHEMA_VERSION)
        return true;
    snprintf(message, sizeof message,
             "the ledger has schema version %lld; this program knows version %lld",
             (long long)version, (long long)SCHEMA_VERSION);
    return postgres_fail(db, TD_UNSUPPORTED, message);
}

static bool prepare_session(struct postgres *db)
{
    static const char node_sql[] = "SELECT set_config('tandem.node', $1, FALSE)";
    return (!db->writes || version_of(db) == SCHEMA_VERSION || (db->pq && migrate(db))) && db->pq &&
           check_version(db) &&
           postgres_ended(db, pq_script(db->pq, "SET search_path = tandem", CONNECT_MS)) &&
           query(db, node_sql, this_node, NULL);
}

/* Whether there is a connection, which is tried once a second. */
bool postgres_connected(struct postgres *db)
{
    struct td_error err = {0};
    if (db->pq && !db->begun && !pq_is_open(db->pq))
        hang_up(db);
    if (db->pq)
        return true;
    if (clock_monotonic_ms(NULL) < db->retry_ms)
        return db->status == TD_UNAVAILABLE && *db->message
                   ? false
                   : postgres_fail(db, TD_UNAVAILABLE, "the database is away");
    if (pq_open(db->url, CONNECT_MS, &db->pq, &err) != TD_OK)
        postgres_fail(db, err.status, err.message);
    else if (prepare_session(db))
        return true;
    hang_up(db);
    db->retry_ms = clock_monotonic_ms(NULL) + RETRY_MS;
    return false;
}

static void close_db(struct db *base)
{
    struct postgres *db = postgres_of(base);
    postgres_drop_items(db);
    hang_up(db);
    waiting_close(atomic_load(&db->waiting));
    free(db->url);
    free(db);
}

/* --- the connection --- */

static enum td_status last_status(struct db *base)
{
    return postgres_of(base)->status;
}

static const char *last_message(struct db *base)
{
    return postgres_of(base)->message;
}

static bool exec(struct db *base, const char *sql)
{
    struct postgres *db = postgres_of(base);
    return postgres_connected(db) && postgres_ended(db, pq_script(db->pq, sql, db->answer_ms));
}

static void rollback(struct db *base)
{
    struct postgres *db = postgres_of(base);
    postgres_drop_items(db);
    if (db->pq && db->begun)
        (void)!postgres_ended(db, pq_script(db->pq, "ROLLBACK", CONNECT_MS));
    db->begun = db->broken = false;
    db->transaction = NONE;
}

/* A writer tells the server with its first statement that is not kept for the commit. */
bool postgres_begin_on_server(struct postgres *db)
{
    if (db->broken)
        return false;
    if (db->begun)
        return true;
    if (!postgres_connected(db))
        return false;
    db->begun =
        postgres_ended(db, pq_script(db->pq,
                                     db->transaction == WRITING
                                         ? "BEGIN"
                                         : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
                                     db->answer_ms));
    return db->begun;
}

static bool begin(struct db *base, bool writes)
{
    struct postgres *db = postgres_of(base);
    db->transaction = writes ? WRITING : READING;
    return writes || postgres_begin_on_server(db);
}

static void hurry(struct db *base, uint32_t answer_ms)
{
    postgres_of(base)->answer_ms = answer_ms;
}

static void read_whole(struct db *base)
{
    postgres_of(base)->whole = true;
}

static uint64_t changes(struct db *base)
{
    return postgres_of(base)->changes;
}

static enum td_status open_db(const char *name, bool writes, struct db **out, struct td_error *err);

static const struct db_driver driver = {
    .scheme = SCHEME,
    .dialect = DB_POSTGRESQL,
    .open = open_db,
    .close = close_db,
    .status = last_status,
    .message = last_message,
    .exec = exec,
    .begin = begin,
    .commit = postgres_commit,
    .rollback = rollback,
    .prepare = postgres_prepare,
    .end = postgres_end,
    .bind_null = postgres_bind_null,
    .bind_int = postgres_bind_int,
    .bind_double = postgres_bind_double,
    .bind_text = postgres_bind_text,
    .step = postgres_step,
    .run = postgres_run,
    .changes = changes,
    .is_null = postgres_is_null,
    .integer = postgres_integer,
    .number = postgres_number,
    .str = postgres_str,
    .catch_up = postgres_catch_up,
    .is_away = postgres_is_away,
    .hurry = hurry,
    .read_whole = read_whole,
};

/* A server begins its work while the database is away, but not with one that turns it away. */
static enum td_status open_db(const char *name, bool writes, struct db **out, struct td_error *err)
{
    enum td_status status = pq_check_url(name, err);
    *out = NULL;
    if (status != TD_OK)
        return status;
    struct postgres *db = calloc(1, sizeof *db);
    if (!db || !(db->url = strdup(name))) {
        free(db);
        return error_set(err, TD_NO_MEMORY, "no memory to open the ledger");
    }
    db->base.driver = &driver;
    db->writes = writes;
    db->answer_ms = OPEN_MS;
    db->last = &db->first;
    bool connected = postgres_connected(db);
    db->answer_ms = POSTGRES_READ_MS;
    if (connected || (writes && db->status == TD_UNAVAILABLE)) {
        *out = &db->base;
        return TD_OK;
    }
    status = error_set(err, db->status, "ledger %s: %s", name, db->message);
    close_db(&db->base);
    return status;
}

void postgres_announce(void)
{
    db_announce(&driver);
}

void postgres_set_node(const char *node, const char *waiting)
{
    this_node = node;
    postgres_set_waiting(waiting);
}

enum td_status postgres_check_name(const char *name, struct td_error *err)
{
    return strncmp(name, SCHEME, strlen(SCHEME)) == 0 ? pq_check_url(name, err) : TD_OK;
}

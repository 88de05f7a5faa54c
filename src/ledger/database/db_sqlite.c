/* The twin on SQLite: each call is one of SQLite's. */
#include "ledger/database/db_sqlite.h"

#include "base/core/error.h"
#include "ledger/database/db_driver.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdlib.h>

#define BUSY_TIMEOUT_MS 5000
#define COPY_PAGES 256 /* 1 MiB at a time */

struct sqlite {
    struct db base; /* first */
    sqlite3 *handle;
    size_t refused; /* since BEGIN */
};
struct statement {
    struct db_statement base; /* first */
    struct sqlite *db;
    sqlite3_stmt *handle;
};

static sqlite3 *handle_of(struct db *db)
{
    return ((struct sqlite *)db)->handle;
}

static sqlite3_stmt *row_of(struct db_statement *statement)
{
    return ((struct statement *)statement)->handle;
}

static enum td_status status_of(int sqlite_code)
{
    switch (sqlite_code & 0xff) {
    case SQLITE_OK:
        return TD_OK;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return TD_BUSY;
    case SQLITE_NOMEM:
        return TD_NO_MEMORY;
    case SQLITE_FULL:
    case SQLITE_TOOBIG:
        return TD_LIMIT;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return TD_CORRUPT;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
        return TD_INVALID;
    default:
        return TD_IO;
    }
}

static void close_db(struct db *db)
{
    sqlite3_close(handle_of(db));
    free(db);
}

static enum td_status last_status(struct db *db)
{
    return status_of(sqlite3_extended_errcode(handle_of(db)));
}

static const char *last_message(struct db *db)
{
    return sqlite3_errmsg(handle_of(db));
}

static bool exec(struct db *db, const char *sql)
{
    return sqlite3_exec(handle_of(db), sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool begin(struct db *db, bool writes)
{
    ((struct sqlite *)db)->refused = 0;
    return exec(db, writes ? "BEGIN IMMEDIATE" : "BEGIN");
}

static bool commit(struct db *db, size_t *refused)
{
    if (refused)
        *refused = ((struct sqlite *)db)->refused;
    return exec(db, "COMMIT");
}

static void rollback(struct db *db)
{
    if (!sqlite3_get_autocommit(handle_of(db)))
        (void)!exec(db, "ROLLBACK");
}

static struct db_statement *prepare(struct db *db, const char *sql)
{
    struct statement *statement = calloc(1, sizeof *statement);
    if (!statement)
        return NULL;
    statement->base.driver = db->driver;
    statement->db = (struct sqlite *)db;
    if (sqlite3_prepare_v3(handle_of(db), sql, -1, 0, &statement->handle, NULL) == SQLITE_OK)
        return &statement->base;
    free(statement);
    return NULL;
}

static void end(struct db_statement *statement)
{
    sqlite3_finalize(row_of(statement));
    free(statement);
}

static void bind_null(struct db_statement *statement, int index)
{
    sqlite3_bind_null(row_of(statement), index);
}

static void bind_int(struct db_statement *statement, int index, int64_t value)
{
    sqlite3_bind_int64(row_of(statement), index, value);
}

static void bind_double(struct db_statement *statement, int index, double value)
{
    sqlite3_bind_double(row_of(statement), index, value);
}

static void bind_text(struct db_statement *statement, int index, struct td_str text, bool copy)
{
    sqlite3_bind_text64(row_of(statement), index, text.data, text.len,
                        copy ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
}

static enum db_step step(struct db_statement *statement)
{
    int code = sqlite3_step(row_of(statement));
    return code == SQLITE_ROW ? DB_ROW : code == SQLITE_DONE ? DB_DONE : DB_FAILED;
}

static enum td_status run(struct db_statement *statement, bool must_change)
{
    int code = sqlite3_step(row_of(statement));
    sqlite3_reset(row_of(statement));
    switch (code & 0xff) {
    case SQLITE_DONE:
        return must_change && sqlite3_changes(((struct statement *)statement)->db->handle) == 0
                   ? TD_INVALID
                   : TD_OK;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
        return TD_INVALID;
    case SQLITE_TOOBIG:
        return TD_LIMIT;
    case SQLITE_FULL:
        return TD_IO; /* tried again, unlike what is too large */
    default:
        return status_of(code);
    }
}

static uint64_t changes(struct db *db)
{
    return (uint64_t)sqlite3_changes64(handle_of(db));
}

static int64_t last_row(struct db *db)
{
    return sqlite3_last_insert_rowid(handle_of(db));
}

static bool is_null(struct db_statement *row, int column)
{
    return sqlite3_column_type(row_of(row), column) == SQLITE_NULL;
}

static int64_t integer(struct db_statement *row, int column)
{
    return sqlite3_column_int64(row_of(row), column);
}

static double number(struct db_statement *row, int column)
{
    return sqlite3_column_double(row_of(row), column);
}

static struct td_str str(struct db_statement *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row_of(row), column);
    return (struct td_str){text, text ? (size_t)sqlite3_column_bytes(row_of(row), column) : 0};
}

static bool sync_commits(struct db *db, bool sync)
{
    return exec(db, sync ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL");
}

static bool erase_deleted(struct db *db)
{
    return exec(db, "PRAGMA secure_delete = ON");
}

static void checkpoint(struct db *db)
{
    sqlite3_wal_checkpoint_v2(handle_of(db), NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
}

static bool empty_log(struct db *db)
{
    return sqlite3_wal_checkpoint_v2(handle_of(db), NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
           SQLITE_OK;
}

static void keep_log(struct db *db)
{
    sqlite3_db_config(handle_of(db), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

void db_sqlite_merge_log_on_close(struct db *db)
{
    sqlite3_db_config(handle_of(db), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
}

enum td_status db_sqlite_copy(struct db *from, struct db *to,
                              bool (*copying)(void *ctx, uint64_t done, uint64_t all), void *ctx,
                              struct td_error *err)
{
    sqlite3_backup *copy = sqlite3_backup_init(handle_of(to), "main", handle_of(from), "main");
    int code = copy ? SQLITE_OK : SQLITE_NOMEM;
    bool going = true;
    while (code == SQLITE_OK && going) {
        code = sqlite3_backup_step(copy, COPY_PAGES);
        int all = sqlite3_backup_pagecount(copy), left = sqlite3_backup_remaining(copy);
        going = !copying || copying(ctx, (uint64_t)(all - left), (uint64_t)all);
    }
    sqlite3_backup_finish(copy);
    if (code == SQLITE_OK)
        return error_set(err, TD_CANCELLED, "the copy was stopped");
    return code == SQLITE_DONE
               ? TD_OK
               : error_set(err, status_of(code), "the copy failed: %s", sqlite3_errstr(code));
}

struct sqlite3 *db_sqlite_handle(struct db *db)
{
    return handle_of(db);
}

static const struct db_driver driver = {
    .scheme = "",
    .dialect = DB_SQLITE,
    .close = close_db,
    .status = last_status,
    .message = last_message,
    .exec = exec,
    .begin = begin,
    .commit = commit,
    .rollback = rollback,
    .prepare = prepare,
    .end = end,
    .bind_null = bind_null,
    .bind_int = bind_int,
    .bind_double = bind_double,
    .bind_text = bind_text,
    .step = step,
    .run = run,
    .changes = changes,
    .last_row = last_row,
    .is_null = is_null,
    .integer = integer,
    .number = number,
    .str = str,
    .sync_commits = sync_commits,
    .erase_deleted = erase_deleted,
    .checkpoint = checkpoint,
    .empty_log = empty_log,
    .keep_log = keep_log,
};

void db_sqlite_take_memory_late(void)
{
    (void)sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
    (void)sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
}

enum td_status db_sqlite_open(const char *path, enum db_sqlite_mode mode, struct db **out,
                              struct td_error *err)
{
    struct sqlite *db = calloc(1, sizeof *db);
    *out = NULL;
    if (!db)
        return error_set(err, TD_NO_MEMORY, "no memory to open %s", path);
    db->base.driver = &driver;
    int flags = mode == DB_SQLITE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
    int code = sqlite3_open_v2(path, &db->handle, flags | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code != SQLITE_OK) {
        enum td_status status =
            error_set(err, status_of(code), "cannot open %s: %s", path,
                      db->handle ? sqlite3_errmsg(db->handle) : sqlite3_errstr(code));
        close_db(&db->base);
        return status;
    }
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_timeout(db->handle, BUSY_TIMEOUT_MS);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    *out = &db->base;
    return TD_OK;
}

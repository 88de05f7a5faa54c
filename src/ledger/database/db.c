/* Hands each call to the twin that the database belongs to. */
#include "ledger/database/db.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "ledger/database/db_driver.h"

#include <string.h>

static const struct db_driver *announced; /* set before threads are started */

void db_announce(const struct db_driver *driver)
{
    announced = driver;
}

static enum td_status open_nobody(const char *name, bool writes, struct db **out,
                                  struct td_error *err)
{
    (void)writes;
    *out = NULL;
    return error_set(err, TD_UNSUPPORTED,
                     "%.*s: this program has no client for such a database; use a build with "
                     "libpq, or a file",
                     (int)strcspn(name, ":"), name);
}

static const struct db_driver nobody = {.scheme = "", .open = open_nobody};

const struct db_driver *db_driver_of(const char *name)
{
    if (announced && strncmp(name, announced->scheme, strlen(announced->scheme)) == 0)
        return announced;
    return strstr(name, "://") ? &nobody : NULL;
}

enum db_dialect db_dialect(const struct db *db)
{
    return db->driver->dialect;
}

void db_close(struct db *db)
{
    if (db)
        db->driver->close(db);
}

enum td_status db_status(struct db *db)
{
    return db->driver->status(db);
}

const char *db_message(struct db *db)
{
    return db->driver->message(db);
}

enum td_status db_error(struct db *db, const char *what, struct td_error *err)
{
    return error_set(err, db_status(db), "%s: %s", what, db_message(db));
}

bool db_exec(struct db *db, const char *sql)
{
    return db->driver->exec(db, sql);
}

bool db_begin(struct db *db)
{
    return db->driver->begin(db, true);
}

bool db_begin_read(struct db *db)
{
    return db->driver->begin(db, false);
}

bool db_commit(struct db *db, size_t *refused)
{
    return db->driver->commit(db, refused);
}

void db_rollback(struct db *db)
{
    db->driver->rollback(db);
}

struct db_statement *db_prepare(struct db *db, const char *sql)
{
    return db->driver->prepare(db, sql);
}

void db_end(struct db_statement *statement)
{
    if (statement)
        statement->driver->end(statement);
}

void db_bind_null(struct db_statement *statement, int index)
{
    statement->driver->bind_null(statement, index);
}

void db_bind_int(struct db_statement *statement, int index, int64_t value)
{
    statement->driver->bind_int(statement, index, value);
}

void db_bind_double(struct db_statement *statement, int index, double value)
{
    statement->driver->bind_double(statement, index, value);
}

void db_bind_text(struct db_statement *statement, int index, struct td_str text)
{
    if (text.data)
        statement->driver->bind_text(statement, index, text, true);
    else
        statement->driver->bind_null(statement, index);
}

void db_bind_borrowed(struct db_statement *statement, int index, const char *text)
{
    if (text)
        statement->driver->bind_text(statement, index, str_from(text), false);
    else
        statement->driver->bind_null(statement, index);
}

enum db_step db_step(struct db_statement *statement)
{
    return statement->driver->step(statement);
}

enum td_status db_run(struct db_statement *statement, bool must_change)
{
    return statement->driver->run(statement, must_change);
}

uint64_t db_changes(struct db *db)
{
    return db->driver->changes(db);
}

int64_t db_last_row(struct db *db)
{
    ASSERT(db->driver->last_row);
    return db->driver->last_row(db);
}

bool db_is_null(struct db_statement *row, int column)
{
    return row->driver->is_null(row, column);
}

int64_t db_int(struct db_statement *row, int column)
{
    return row->driver->integer(row, column);
}

double db_double(struct db_statement *row, int column)
{
    return row->driver->number(row, column);
}

const char *db_text(struct db_statement *row, int column)
{
    return row->driver->str(row, column).data;
}

struct td_str db_str(struct db_statement *row, int column)
{
    return row->driver->str(row, column);
}

bool db_catch_up(struct db *db)
{
    return db->driver->catch_up && db->driver->catch_up(db);
}

bool db_is_away(struct db *db, uint64_t *waiting)
{
    *waiting = 0;
    return db->driver->is_away && db->driver->is_away(db, waiting);
}

void db_hurry(struct db *db, uint32_t answer_ms)
{
    if (db->driver->hurry)
        db->driver->hurry(db, answer_ms);
}

void db_read_whole(struct db *db)
{
    if (db->driver->read_whole)
        db->driver->read_whole(db);
}

bool db_sync_commits(struct db *db, bool sync)
{
    return !db->driver->sync_commits || db->driver->sync_commits(db, sync);
}

bool db_erase_deleted(struct db *db)
{
    return !db->driver->erase_deleted || db->driver->erase_deleted(db);
}

void db_checkpoint(struct db *db)
{
    if (db->driver->checkpoint)
        db->driver->checkpoint(db);
}

bool db_empty_log(struct db *db)
{
    return !db->driver->empty_log || db->driver->empty_log(db);
}

void db_keep_log(struct db *db)
{
    if (db->driver->keep_log)
        db->driver->keep_log(db);
}

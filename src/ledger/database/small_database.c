/* The settings that every small database shares. A commit is on the disk when it returns, because
 * what is kept here was promised to somebody: a file, a key that was revoked. */
#include "ledger/database/small_database.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "ledger/database/db_driver.h"
#include "ledger/database/db_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define ANSWER_MS 2000 /* of a database on another machine; callers are on event loops, too */

struct db_statement *small_database_prepare(struct db *db, const char *sql, const char *types, ...)
{
    struct db_statement *statement = db_prepare(db, sql);
    va_list values;
    va_start(values, types);
    for (int i = 1; statement && types[i - 1]; i++) {
        switch (types[i - 1]) {
        case 'i':
            db_bind_int(statement, i, va_arg(values, int64_t));
            break;
        case 'd':
            db_bind_double(statement, i, va_arg(values, double));
            break;
        case 's':
            db_bind_text(statement, i, va_arg(values, struct td_str));
            break;
        default:
            db_bind_text(statement, i, str_from(va_arg(values, const char *)));
            break;
        }
    }
    va_end(values);
    return statement;
}

enum td_status small_database_run(struct db *db, const char *path, struct db_statement *statement,
                                  struct td_error *err)
{
    bool done = statement && db_step(statement) == DB_DONE;
    enum td_status status = done ? TD_OK : db_error(db, path, err);
    db_end(statement);
    return status;
}

enum td_status small_database_begin(struct db *db, const char *path, struct td_error *err)
{
    return db_begin(db) ? TD_OK : db_error(db, path, err);
}

int64_t small_database_number(struct db_statement *statement, int64_t otherwise)
{
    int64_t number = otherwise;
    if (statement && db_step(statement) == DB_ROW)
        number = db_int(statement, 0);
    db_end(statement);
    return number;
}

enum td_status small_database_end(struct db *db, const char *path, enum td_status status,
                                  struct td_error *err)
{
    if (status == TD_OK && !db_commit(db, NULL))
        status = db_error(db, path, err);
    db_rollback(db);
    return status;
}

static int64_t read_version(struct db *db)
{
    return small_database_number(db_prepare(db, "PRAGMA user_version"), -1);
}

/* Of two processes that open a new one, the second finds what the first has made. */
static enum td_status set_up(struct db *db, const char *path, const char *schema, int version,
                             struct td_error *err)
{
    if (!db_exec(db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;"
                     "PRAGMA secure_delete=ON; PRAGMA journal_size_limit=16777216"))
        return db_error(db, path, err);
    if (read_version(db) == version)
        return TD_OK;
    enum td_status status = small_database_begin(db, path, err);
    int64_t found = read_version(db);
    if (status == TD_OK && found == 0 && !db_exec(db, schema))
        status = db_error(db, path, err);
    else if (status == TD_OK && found != 0 && found != version)
        status = error_set(err, TD_UNSUPPORTED, "%s has version %lld; this program knows up to %d",
                           path, (long long)found, version);
    return small_database_end(db, path, status, err);
}

/* A file that is there is not opened here: closing it again would drop the locks that other
 * connections of this process have on it (https://www.sqlite.org/howtocorrupt.html, 2.2). */
static enum td_status create(const char *path, struct td_error *err)
{
    struct stat info;
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        return TD_OK;
    }
    int saved = errno;
    if (saved == EEXIST && lstat(path, &info) == 0 && S_ISREG(info.st_mode))
        return TD_OK;
    return error_set(err, TD_IO, "cannot create %s: %s", path,
                     saved == EEXIST ? "it is no regular file" : strerror(saved));
}

/* Its tables came with the ledger's. One that is away is found with a later statement. */
static enum td_status open_shared(const struct db_driver *driver, const char *name, struct db **out,
                                  struct td_error *err)
{
    enum td_status status = driver->open(name, true, out, err);
    if (status != TD_OK)
        return status;
    db_hurry(*out, ANSWER_MS);
    db_read_whole(*out);
    return TD_OK;
}

enum td_status small_database_open(const char *path, const char *schema, int version,
                                   struct db **out, struct td_error *err)
{
    *out = NULL;
    const struct db_driver *driver = db_driver_of(path);
    if (driver)
        return open_shared(driver, path, out, err);
    enum td_status status = create(path, err);
    if (status == TD_OK)
        status = db_sqlite_open(path, DB_SQLITE_WRITE, out, err);
    return status == TD_OK ? set_up(*out, path, schema, version, err) : status;
}

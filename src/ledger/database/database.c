/* Creates, checks and migrates the database file. A ledger is created under another name and linked
 * into place when its schema is complete. So a file of that name is either a complete ledger or not
 * ours. The schema is committed before the file enters WAL mode: the application id is then in the
 * first page, where any program can see it.
 *
 * Offsets in the first page (https://www.sqlite.org/fileformat.html, 1.3):
 *
 *    0  "SQLite format 3\0"
 *   60  user version (4 bytes, big-endian): number of migrations applied
 *   68  application id (4 bytes, big-endian): TNDM */
#include "ledger/database/database.h"

#include "base/bytes/file.h"
#include "base/bytes/packed.h"
#include "base/bytes/path.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "ledger/database/db_driver.h"
#include "ledger/database/db_sqlite.h"
#include "ledger/database/db_sqlite_texts.h"
#include "ledger/schema_sql.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x544E444D /* "TNDM" */
#define HEADER_BYTES 100
/* Checking all pages takes about 1 s per GB; larger files are opened without the check. */
#define CHECK_BYTES_MAX (256LL << 20)
#define LOG_WAIT_MS 2000
#define LOG_TRY_US 20000

static enum td_status sql_error(struct db *db, const char *path, struct td_error *err)
{
    return error_set(err, db_status(db), "ledger %s: %s", path, db_message(db));
}

static enum td_status run(struct db *db, const char *path, const char *sql, struct td_error *err)
{
    return db_exec(db, sql) ? TD_OK : sql_error(db, path, err);
}

/* Applies the missing migrations, all or none. */
static enum td_status migrate(struct db *db, const char *path, int version, struct td_error *err)
{
    if (version == SCHEMA_VERSION)
        return TD_OK;
    if (!db_begin(db))
        return sql_error(db, path, err);
    enum td_status status = TD_OK;
    for (int i = version; status == TD_OK && i < SCHEMA_VERSION; i++)
        status = run(db, path, packed_string(&schema_packed, (size_t)i), err);
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
             APPLICATION_ID, SCHEMA_VERSION);
    if (status == TD_OK)
        status = run(db, path, sql, err);
    if (status != TD_OK)
        db_rollback(db);
    return status;
}

/* Gives the draft its name. It may replace an empty file, but nothing else. */
static bool put_in_place(const char *draft, const char *path)
{
    if (link(draft, path) == 0)
        return true;
    struct stat info;
    if (errno == EEXIST && stat(path, &info) == 0 && info.st_size > 0)
        return true; /* another process was faster, and its file is as good */
    /* The file is empty, or the file system has no hard links. */
    return rename(draft, path) == 0;
}

static enum td_status create(const char *path, struct td_error *err)
{
    char draft[PATH_MAX];
    enum td_status status =
        path_format(draft, sizeof draft, err, "%s.new-%ld", path, (long)getpid());
    if (status == TD_OK)
        status = path_make_parents(path, 0700, err);
    if (status != TD_OK)
        return status;
    unlink(draft); /* left by a dead process with our id */
    int fd = open(draft, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(err, TD_IO, "cannot create ledger %s: %s", draft, strerror(errno));
    close(fd);
    struct db *db = NULL;
    status = db_sqlite_open(draft, DB_SQLITE_WRITE, &db, err);
    if (status == TD_OK) /* so that what is pruned can be given back; only an empty file takes it */
        status = run(db, draft, "PRAGMA auto_vacuum=INCREMENTAL", err);
    if (status == TD_OK)
        status = migrate(db, draft, 0, err);
    db_close(db);
    if (status == TD_OK && !put_in_place(draft, path))
        status = error_set(err, TD_IO, "cannot create ledger %s: %s", path, strerror(errno));
    unlink(draft);
    file_sync_folder(path);
    return status;
}

static uint32_t read_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Looks at the bytes without SQLite. TD_NOT_FOUND; TD_CORRUPT (not a ledger); TD_OK with the
 * size. */
static enum td_status inspect(const char *path, long long *bytes, struct td_error *err)
{
    unsigned char header[HEADER_BYTES] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(err, errno == ENOENT || errno == ENOTDIR ? TD_NOT_FOUND : TD_IO,
                         "cannot open ledger %s: %s", path, strerror(errno));
    struct stat info;
    ssize_t got =
        fstat(fd, &info) == 0 && S_ISREG(info.st_mode) ? pread(fd, header, sizeof header, 0) : -1;
    close(fd);
    if (got < 0)
        return error_set(err, TD_IO, "ledger %s is not a readable file", path);
    *bytes = (long long)info.st_size;
    if (got == 0)
        return error_set(err, TD_NOT_FOUND, "ledger %s is empty", path);
    if (got < HEADER_BYTES || memcmp(header, "SQLite format 3", 16) != 0)
        return error_set(err, TD_CORRUPT,
                         "%s is not a ledger (no SQLite header); move it away or name another file",
                         path);
    if (read_be32(header + 68) != APPLICATION_ID)
        return error_set(err, TD_CORRUPT,
                         "%s is a database of another program; name another file for the ledger",
                         path);
    return TD_OK;
}

/* Reads the first column of the first row as a number and, if text is not NULL, as text. */
static enum td_status query_one(struct db *db, const char *path, const char *sql, int *number,
                                char text[static 128], struct td_error *err)
{
    struct db_statement *statement = db_prepare(db, sql);
    enum td_status status = TD_OK;
    if (statement && db_step(statement) == DB_ROW) {
        *number = (int)db_int(statement, 0);
        const char *value = db_text(statement, 0);
        snprintf(text, 128, "%s", value ? value : "");
    } else {
        status = sql_error(db, path, err);
    }
    db_end(statement);
    return status;
}

/* Checks the version and, when the file is small enough, every page. */
static enum td_status verify(struct db *db, const char *path, long long bytes, int *version,
                             struct td_error *err)
{
    char text[128];
    int number;
    enum td_status status = query_one(db, path, "PRAGMA user_version", version, text, err);
    if (status != TD_OK)
        return status;
    if (*version > SCHEMA_VERSION)
        return error_set(
            err, TD_UNSUPPORTED,
            "ledger %s has schema version %d; this program knows up to %d; run the newer "
            "program that wrote it, or name another file for the ledger",
            path, *version, SCHEMA_VERSION);
    if (bytes > CHECK_BYTES_MAX)
        return TD_OK;
    status = query_one(db, path, "PRAGMA quick_check(1)", &number, text, err);
    if (status == TD_OK && strcmp(text, "ok") != 0)
        status = error_set(err, TD_CORRUPT, "ledger %s is damaged: %s", path, text);
    return status;
}

static enum td_status add_texts(struct db *db, const char *path, struct td_error *err)
{
    return db_sqlite_texts_add(db_sqlite_handle(db))
               ? TD_OK
               : error_set(err, TD_NO_MEMORY, "ledger %s: no memory to open it", path);
}

enum td_status database_open_writer(const char *path, struct db **out, struct td_error *err)
{
    ASSERT(path != NULL && out != NULL);
    *out = NULL;
    const struct db_driver *driver = db_driver_of(path);
    if (driver)
        return driver->open(path, true, out, err);
    long long bytes = 0;
    enum td_status status = inspect(path, &bytes, NULL);
    if (status == TD_NOT_FOUND) {
        status = create(path, err);
        if (status != TD_OK)
            return status;
    }
    status = inspect(path, &bytes, err);
    if (status != TD_OK)
        return status;
    struct db *db = NULL;
    status = db_sqlite_open(path, DB_SQLITE_WRITE, &db, err);
    if (status != TD_OK)
        return status;
    /* Closing must not write into the file until it is known to be sound. */
    db_keep_log(db);
    int version = 0;
    status = verify(db, path, bytes, &version, err);
    if (status == TD_OK)
        status = run(db, path,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
                     "PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=16777216",
                     err);
    if (status == TD_OK)
        status = migrate(db, path, version, err);
    if (status == TD_OK)
        status = add_texts(db, path, err);
    if (status != TD_OK) {
        db_close(db);
        return status;
    }
    db_sqlite_merge_log_on_close(db);
    *out = db;
    return TD_OK;
}

static enum td_status open_to_read(const char *path, struct db **out, int *version,
                                   struct td_error *err)
{
    long long bytes;
    char text[128];
    *out = NULL;
    enum td_status status = inspect(path, &bytes, err);
    if (status == TD_OK)
        status = db_sqlite_open(path, DB_SQLITE_READ, out, err);
    return status == TD_OK ? query_one(*out, path, "PRAGMA user_version", version, text, err)
                           : status;
}

static enum td_status refuse_version(const char *path, int version, struct td_error *err)
{
    return error_set(
        err, TD_UNSUPPORTED, "ledger %s has schema version %d; this program reads version %d; %s",
        path, version, SCHEMA_VERSION,
        version < SCHEMA_VERSION ? "start 'tandem serve' once, which brings the ledger up to date"
                                 : "a newer program wrote it, so read it with that one");
}

enum td_status database_open_any(const char *path, struct db **out, int *version,
                                 struct td_error *err)
{
    enum td_status status = open_to_read(path, out, version, err);
    return status == TD_OK && *version > SCHEMA_VERSION ? refuse_version(path, *version, err)
                                                        : status;
}

enum td_status database_open_reader(const char *path, struct db **out, struct td_error *err)
{
    ASSERT(path != NULL && out != NULL);
    *out = NULL;
    int version = 0;
    const struct db_driver *driver = db_driver_of(path);
    if (driver)
        return driver->open(path, false, out, err);
    enum td_status status = open_to_read(path, out, &version, err);
    if (status == TD_OK && version != SCHEMA_VERSION)
        status = refuse_version(path, version, err);
    if (status == TD_OK)
        status = add_texts(*out, path, err);
    if (status == TD_OK)
        status = run(*out, path, db_sqlite_texts_view, err);
    if (status != TD_OK) {
        db_close(*out);
        *out = NULL;
    }
    return status;
}

/* While the ledger's writer empties its log, SQLite says that it is busy without waiting. */
enum td_status database_empty_log(struct db *db, const char *path, struct td_error *err)
{
    double begin = clock_monotonic_ms(NULL);
    while (!db_empty_log(db)) {
        if (db_status(db) != TD_BUSY || clock_monotonic_ms(NULL) - begin >= LOG_WAIT_MS)
            return error_set(err, TD_BUSY,
                             "ledger %s: erased, but a reader holds its log, which still has the "
                             "old bytes; try again",
                             path);
        usleep(LOG_TRY_US);
    }
    return TD_OK;
}

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
#include "ledger/database.h"

#include "base/error.h"
#include "base/file.h"
#include "base/path.h"
#include "ledger/schema_sql.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x544E444D /* "TNDM" */
#define SCHEMA_VERSION ((int)(sizeof schema_migrations / sizeof schema_migrations[0]))
#define HEADER_BYTES 100
#define BUSY_TIMEOUT_MS 5000
/* Checking all pages takes about 1 s per GB; larger files are opened without the check. */
#define CHECK_BYTES_MAX (256LL << 20)

enum td_status database_status(int sqlite_code)
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

static enum td_status sql_error(sqlite3 *db, const char *path, struct td_error *err)
{
    return error_set(err, database_status(sqlite3_extended_errcode(db)), "ledger %s: %s", path,
                     sqlite3_errmsg(db));
}

static enum td_status run(sqlite3 *db, const char *path, const char *sql, struct td_error *err)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? TD_OK : sql_error(db, path, err);
}

/* Applies the missing migrations, all or none. */
static enum td_status migrate(sqlite3 *db, const char *path, int version, struct td_error *err)
{
    if (version == SCHEMA_VERSION)
        return TD_OK;
    enum td_status status = run(db, path, "BEGIN IMMEDIATE", err);
    if (status != TD_OK)
        return status;
    for (int i = version; status == TD_OK && i < SCHEMA_VERSION; i++)
        status = run(db, path, schema_migrations[i], err);
    char sql[96];
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d; COMMIT",
             APPLICATION_ID, SCHEMA_VERSION);
    if (status == TD_OK)
        status = run(db, path, sql, err);
    if (status != TD_OK)
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

static enum td_status open_handle(const char *path, int flags, sqlite3 **out, struct td_error *err)
{
    int code = sqlite3_open_v2(path, out, flags | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code != SQLITE_OK) {
        enum td_status status = error_set(err, database_status(code), "cannot open ledger %s: %s",
                                          path, *out ? sqlite3_errmsg(*out) : sqlite3_errstr(code));
        sqlite3_close(*out);
        *out = NULL;
        return status;
    }
    sqlite3_extended_result_codes(*out, 1);
    sqlite3_busy_timeout(*out, BUSY_TIMEOUT_MS);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return TD_OK;
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
    sqlite3 *db = NULL;
    status = open_handle(draft, SQLITE_OPEN_READWRITE, &db, err);
    if (status == TD_OK)
        status = migrate(db, draft, 0, err);
    sqlite3_close(db);
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
static enum td_status query_one(sqlite3 *db, const char *path, const char *sql, int *number,
                                char text[static 128], struct td_error *err)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    enum td_status status = TD_OK;
    if (code == SQLITE_ROW) {
        *number = sqlite3_column_int(statement, 0);
        const unsigned char *value = sqlite3_column_text(statement, 0);
        snprintf(text, 128, "%s", value ? (const char *)value : "");
    } else {
        status = sql_error(db, path, err);
    }
    sqlite3_finalize(statement);
    return status;
}

/* Checks the version and, when the file is small enough, every page. */
static enum td_status verify(sqlite3 *db, const char *path, long long bytes, int *version,
                             struct td_error *err)
{
    char text[128];
    int number;
    enum td_status status = query_one(db, path, "PRAGMA user_version", version, text, err);
    if (status != TD_OK)
        return status;
    if (*version > SCHEMA_VERSION)
        return error_set(err, TD_UNSUPPORTED,
                         "ledger %s has schema version %d; this program knows up to %d", path,
                         *version, SCHEMA_VERSION);
    if (bytes > CHECK_BYTES_MAX)
        return TD_OK;
    status = query_one(db, path, "PRAGMA quick_check(1)", &number, text, err);
    if (status == TD_OK && strcmp(text, "ok") != 0)
        status = error_set(err, TD_CORRUPT, "ledger %s is damaged: %s", path, text);
    return status;
}

enum td_status database_open_writer(const char *path, sqlite3 **out, struct td_error *err)
{
    assert(path != NULL && out != NULL);
    *out = NULL;
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
    sqlite3 *db = NULL;
    status = open_handle(path, SQLITE_OPEN_READWRITE, &db, err);
    if (status != TD_OK)
        return status;
    /* Closing must not write into the file until it is known to be sound. */
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    int version = 0;
    status = verify(db, path, bytes, &version, err);
    if (status == TD_OK)
        status = run(db, path,
                     "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;"
                     "PRAGMA wal_autocheckpoint=1000; PRAGMA journal_size_limit=16777216",
                     err);
    if (status == TD_OK)
        status = migrate(db, path, version, err);
    if (status != TD_OK) {
        sqlite3_close(db);
        return status;
    }
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    *out = db;
    return TD_OK;
}

enum td_status database_open_reader(const char *path, sqlite3 **out, struct td_error *err)
{
    assert(path != NULL && out != NULL);
    *out = NULL;
    long long bytes;
    enum td_status status = inspect(path, &bytes, err);
    if (status == TD_OK)
        status = open_handle(path, SQLITE_OPEN_READONLY, out, err);
    if (status != TD_OK)
        return status;
    int version = 0;
    char text[128];
    status = query_one(*out, path, "PRAGMA user_version", &version, text, err);
    if (status == TD_OK && version != SCHEMA_VERSION)
        status = error_set(err, TD_UNSUPPORTED,
                           "ledger %s has schema version %d; this program reads version %d; %s",
                           path, version, SCHEMA_VERSION,
                           version < SCHEMA_VERSION
                               ? "start 'tandem serve' once, which brings the ledger up to date"
                               : "a newer program wrote it, so read it with that one");
    if (status != TD_OK) {
        sqlite3_close(*out);
        *out = NULL;
    }
    return status;
}

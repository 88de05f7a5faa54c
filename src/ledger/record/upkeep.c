/* A backup is made by SQLite's backup interface inside of one read transaction: the copy is of
 * one moment, whatever is written meanwhile, and no writer waits. It says in a table of its own
 * when it was made and of which state folder it is, because names of tenants are hashes under
 * that folder's key and mean nothing elsewhere.
 *
 * Rejected: VACUUM INTO, which makes a smaller copy but sorts the whole file anew, and a copy of
 * the file's bytes, which is of no one moment. */
#include "ledger/record/upkeep.h"

#include "base/bytes/file.h"
#include "base/bytes/path.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "ledger/database/database.h"
#include "ledger/database/db_driver.h"
#include "ledger/database/db_sqlite.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum td_status refuse_database(struct td_error *err)
{
    return error_set(err, TD_UNSUPPORTED,
                     "the ledger is in a database: copy it with the database's own tools (pg_dump, "
                     "pg_restore)");
}

/* The first column of the first row as a number and a text; 0 and "" without a row. */
static bool read_one(struct db *db, const char *sql, uint64_t *number, char *text, size_t size)
{
    struct db_statement *row = db_prepare(db, sql);
    enum db_step step = row ? db_step(row) : DB_FAILED;
    const char *value = step == DB_ROW ? db_text(row, 0) : NULL;
    if (number)
        *number = step == DB_ROW ? (uint64_t)db_int(row, 0) : 0;
    if (text)
        snprintf(text, size, "%s", value ? value : "");
    db_end(row);
    return step != DB_FAILED;
}

static uint64_t bytes_of(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 ? (uint64_t)info.st_size : 0;
}

/* What is in it. A file without the table of backups is somebody's own copy. */
static enum td_status describe(struct db *db, const char *path, struct ledger_copied *out,
                               struct td_error *err)
{
    uint64_t marked = 0;
    *out = (struct ledger_copied){.bytes = bytes_of(path)};
    bool read =
        read_one(db, "SELECT count(*) FROM exchange", &out->exchanges, NULL, 0) &&
        read_one(db, "SELECT max(wall_ms) FROM exchange", &out->last_wall_ms, NULL, 0) &&
        read_one(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'backup'", &marked, NULL, 0);
    if (read && marked)
        read = read_one(db, "SELECT made_wall_ms FROM backup", &out->made_wall_ms, NULL, 0) &&
               read_one(db, "SELECT state FROM backup", NULL, out->state, sizeof out->state);
    return read ? TD_OK : db_error(db, path, err);
}

static enum td_status check_pages(struct db *db, const char *path, struct td_error *err)
{
    char text[160];
    if (!read_one(db, "PRAGMA integrity_check(1)", NULL, text, sizeof text))
        return db_error(db, path, err);
    return strcmp(text, "ok") == 0 ? TD_OK
                                   : error_set(err, TD_CORRUPT, "%s is damaged: %s", path, text);
}

/* An empty file that is ours alone. */
static enum td_status make_file(const char *path, struct td_error *err)
{
    int fd = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 && errno == EEXIST)
        return error_set(err, TD_BUSY, "%s is there already; name another file, or remove it",
                         path);
    if (fd < 0)
        return error_set(err, TD_IO, "cannot create %s: %s", path, strerror(errno));
    close(fd);
    return TD_OK;
}

/* All pages of `from` into the file, which is made. What was begun goes after a failure. */
static enum td_status copy_into(struct db *from, const char *file, ledger_copying_fn *copying,
                                void *ctx, struct td_error *err)
{
    struct db *to = NULL;
    enum td_status status = make_file(file, err);
    if (status != TD_OK)
        return status;
    status = db_sqlite_open(file, DB_SQLITE_WRITE, &to, err);
    if (status == TD_OK)
        status = db_sqlite_copy(from, to, copying, ctx, err);
    /* One file, without a log beside it. */
    if (status == TD_OK && !db_exec(to, "PRAGMA journal_mode=DELETE"))
        status = db_error(to, file, err);
    db_close(to);
    if (status != TD_OK)
        unlink(file);
    return status;
}

/* --- a backup --- */

static enum td_status mark(struct db *db, const char *file, const char *state, struct td_error *err)
{
    bool done = db_exec(db, "CREATE TABLE backup (made_wall_ms INTEGER, state TEXT) STRICT");
    struct db_statement *row = done ? db_prepare(db, "INSERT INTO backup VALUES (?1, ?2)") : NULL;
    if (row) {
        db_bind_int(row, 1, (int64_t)clock_wall_ms(NULL));
        db_bind_text(row, 2, str_from(state));
    }
    done = row && db_step(row) == DB_DONE;
    enum td_status status = done ? TD_OK : db_error(db, file, err);
    db_end(row);
    return status;
}

/* Marks the copy and reads it whole: a backup that cannot be read is found today. */
static enum td_status finish_backup(const char *file, const char *state, struct ledger_copied *out,
                                    struct td_error *err)
{
    struct db *db = NULL;
    enum td_status status = db_sqlite_open(file, DB_SQLITE_WRITE, &db, err);
    if (status == TD_OK)
        status = mark(db, file, state, err);
    if (status == TD_OK)
        status = check_pages(db, file, err);
    if (status == TD_OK)
        status = describe(db, file, out, err);
    db_close(db);
    return status;
}

enum td_status ledger_backup(const struct ledger_backup_options *options, struct ledger_copied *out,
                             struct td_error *err)
{
    char part[PATH_MAX];
    struct db *from = NULL;
    *out = (struct ledger_copied){0};
    if (db_driver_of(options->path))
        return refuse_database(err);
    if (access(options->file, F_OK) == 0)
        return error_set(err, TD_BUSY, "%s is there already; name another file, or remove it",
                         options->file);
    enum td_status status =
        path_format(part, sizeof part, err, "%s.part-%ld", options->file, (long)getpid());
    if (status == TD_OK)
        status = database_open_reader(options->path, &from, err);
    if (status == TD_OK && (!db_begin_read(from) ||
                            !read_one(from, "SELECT count(*) FROM main.exchange", NULL, NULL, 0)))
        status = db_error(from, options->path, err);
    if (status == TD_OK)
        status = copy_into(from, part, options->copying, options->ctx, err);
    db_close(from);
    if (status != TD_OK)
        return status;
    status = finish_backup(part, options->state, out, err);
    if (status == TD_OK && link(part, options->file) != 0 &&
        (errno == EEXIST || rename(part, options->file) != 0))
        status = error_set(err, TD_IO, "cannot create %s: %s", options->file, strerror(errno));
    unlink(part);
    file_sync_folder(options->file);
    return status;
}

/* --- a restoration --- */

static enum td_status check_state(const struct ledger_restore_options *options,
                                  const struct ledger_copied *backup, struct td_error *err)
{
    if (options->other_state || !*backup->state || strcmp(backup->state, options->state) == 0)
        return TD_OK;
    return error_set(
        err, TD_DENIED,
        "%s is a backup of another state folder (%s; this one is %s): names of tenants in it mean "
        "nothing here. Put that folder's installation.key here first, or say --other-state",
        options->file, backup->state, *options->state ? options->state : "without a key yet");
}

/* Whether what is there may give way. What cannot be read is not known to be older. */
static enum td_status check_target(const struct ledger_restore_options *options,
                                   const struct ledger_copied *backup, bool *there,
                                   struct td_error *err)
{
    struct db *db = NULL;
    struct ledger_copied old = {0};
    struct td_error why = {0};
    *there = bytes_of(options->path) > 0;
    if (!*there)
        return TD_OK;
    enum td_status status = database_open_writer(options->path, &db, &why);
    if (status == TD_OK)
        status = describe(db, options->path, &old, &why);
    /* Its log goes into the file, and nobody else may have it open. */
    bool alone = status == TD_OK && db_exec(db, "PRAGMA journal_mode=DELETE");
    if (status == TD_OK && !alone)
        status = error_set(err, TD_BUSY, "the ledger %s is in use: %s; end who uses it",
                           options->path, db_message(db));
    else if (status != TD_OK && status != TD_CORRUPT && status != TD_UNSUPPORTED)
        status = error_set(err, status, "%s", why.message); /* somebody may be at work in it */
    else if (status != TD_OK && !options->replace)
        status = error_set(err, TD_CORRUPT, "%s; --replace puts it aside", why.message);
    else if (status == TD_OK && old.last_wall_ms > backup->last_wall_ms && !options->replace)
        status = error_set(err, TD_BUSY,
                           "the ledger %s has newer exchanges than the backup; --replace puts it "
                           "aside, and the backup in its place",
                           options->path);
    else
        status = TD_OK;
    db_close(db);
    return status;
}

static enum td_status move_logs(const char *path, const char *new_path, struct td_error *err)
{
    static const char *const logs[] = {"-wal", "-shm"};
    char from[PATH_MAX], to[PATH_MAX];
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < 2; i++) {
        status = path_format(from, sizeof from, err, "%s%s", path, logs[i]);
        if (status == TD_OK)
            status = path_format(to, sizeof to, err, "%s%s", new_path, logs[i]);
        if (status == TD_OK && rename(from, to) != 0 && errno != ENOENT)
            status = error_set(err, TD_IO, "cannot keep %s: %s", from, strerror(errno));
    }
    return status;
}

/* With two names there is always a ledger in its place. Some file systems have no second names. */
static bool keep_as(const char *path, const char *aside)
{
    if (link(path, aside) == 0)
        return true;
    bool has_links = errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK;
    return !has_links && rename(path, aside) == 0;
}

/* What was there keeps its bytes under another name, with its log. */
static enum td_status put_aside(const char *path, char *aside, size_t size, struct td_error *err)
{
    enum td_status status = path_format(aside, size, err, "%s.before-restore-%llu", path,
                                        (unsigned long long)clock_wall_ms(NULL));
    if (status == TD_OK && !keep_as(path, aside))
        status = error_set(err, TD_IO, "cannot keep %s as %s: %s", path, aside, strerror(errno));
    return status == TD_OK ? move_logs(path, aside, err) : status;
}

/* After a failure. `rename` does nothing where both are names of one file. */
static void put_back(const char *aside, const char *path)
{
    struct td_error why = {0};
    if (move_logs(aside, path, &why) == TD_OK && rename(aside, path) == 0)
        unlink(aside);
}

/* Migrates the copy and makes a ledger of it. */
static enum td_status finish_restore(const char *draft, struct ledger_copied *out,
                                     struct td_error *err)
{
    struct db *db = NULL;
    struct ledger_copied copied;
    enum td_status status = database_open_writer(draft, &db, err);
    if (status == TD_OK && !db_exec(db, "DROP TABLE IF EXISTS backup"))
        status = db_error(db, draft, err);
    if (status == TD_OK)
        status = check_pages(db, draft, err);
    if (status == TD_OK)
        status = describe(db, draft, &copied, err);
    if (status == TD_OK && copied.exchanges != out->exchanges)
        status =
            error_set(err, TD_CORRUPT, "%s has %llu exchanges instead of %llu", draft,
                      (unsigned long long)copied.exchanges, (unsigned long long)out->exchanges);
    if (status == TD_OK && !db_exec(db, "PRAGMA journal_mode=DELETE"))
        status = db_error(db, draft, err);
    db_close(db);
    return status;
}

/* Whether both are one file; restoring it onto itself would move it away in the middle. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static enum td_status read_backup(const char *file, struct db **out, struct ledger_copied *copied,
                                  struct td_error *err)
{
    int version;
    enum td_status status = database_open_any(file, out, &version, err);
    if (status == TD_OK)
        status = check_pages(*out, file, err);
    return status == TD_OK ? describe(*out, file, copied, err) : status;
}

enum td_status ledger_restore(const struct ledger_restore_options *options,
                              struct ledger_copied *out, char *aside, size_t aside_size,
                              struct td_error *err)
{
    char draft[PATH_MAX];
    struct db *from = NULL;
    bool there = false;
    *out = (struct ledger_copied){0};
    aside[0] = '\0';
    if (db_driver_of(options->path))
        return refuse_database(err);
    if (is_same_file(options->file, options->path))
        return error_set(err, TD_INVALID, "%s is the ledger itself, and no backup of it",
                         options->file);
    enum td_status status =
        path_format(draft, sizeof draft, err, "%s.restored-%ld", options->path, (long)getpid());
    if (status == TD_OK)
        status = read_backup(options->file, &from, out, err);
    if (status == TD_OK)
        status = check_state(options, out, err);
    if (status == TD_OK)
        status = check_target(options, out, &there, err);
    if (status == TD_OK)
        status = path_make_parents(options->path, 0700, err);
    if (status == TD_OK)
        status = copy_into(from, draft, options->copying, options->ctx, err);
    db_close(from);
    if (status != TD_OK)
        return status;
    status = finish_restore(draft, out, err);
    if (status == TD_OK && there)
        status = put_aside(options->path, aside, aside_size, err);
    if (status == TD_OK && rename(draft, options->path) != 0)
        status = error_set(err, TD_IO, "cannot replace %s: %s", options->path, strerror(errno));
    if (status != TD_OK) {
        unlink(draft);
        if (*aside)
            put_back(aside, options->path);
    }
    file_sync_folder(options->path);
    return status;
}

/* --- a look at all of it --- */

static bool found(struct ledger_sound *out, const char *what, const char *text)
{
    out->sound = false;
    snprintf(out->problem, sizeof out->problem, "%s%s", what, text);
    return true;
}

/* True after the first problem. */
static bool find_problem(struct db *db, struct ledger_sound *out)
{
    char text[160];
    if (!read_one(db, "PRAGMA integrity_check(1)", NULL, text, sizeof text))
        return found(out, "", db_message(db));
    if (strcmp(text, "ok") != 0)
        return found(out, "", text);
    if (!read_one(db, "PRAGMA foreign_key_check", NULL, text, sizeof text))
        return found(out, "", db_message(db));
    if (*text)
        return found(out, "rows without their exchange in the table ", text);
    if (!read_one(db, "SELECT count(*) FROM exchange WHERE length(signals) + length(reasons) < 0",
                  NULL, NULL, 0))
        return found(out, "", db_message(db));
    return false;
}

enum td_status ledger_inspect(const char *path, struct ledger_sound *out, struct td_error *err)
{
    struct db *db = NULL;
    uint64_t version = 0;
    *out = (struct ledger_sound){.sound = true};
    enum td_status status = database_open_reader(path, &db, err);
    if (status != TD_OK)
        return status;
    bool file = db_dialect(db) == DB_SQLITE;
    bool problem = file && find_problem(db, out);
    if (!problem && (!read_one(db, "SELECT count(*) FROM exchange", &out->exchanges, NULL, 0) ||
                     !read_one(db, "SELECT count(*) FROM attempt", &out->attempts, NULL, 0) ||
                     (file && !read_one(db, "PRAGMA user_version", &version, NULL, 0)) ||
                     !sealed_texts_count(db, &out->texts)))
        status = db_error(db, path, err);
    out->version = (uint32_t)version;
    out->bytes = file ? bytes_of(path) : 0;
    db_close(db);
    return status;
}

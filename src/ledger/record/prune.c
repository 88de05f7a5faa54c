/* PostgreSQL holds an advisory lock for a connection, so a node that dies leaves it to another. */
#include "ledger/record/prune.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "ledger/database/database.h"
#include "ledger/database/db_driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 10000
#define ROWS_MIN 128
#define ROWS_FIRST 256
#define ROWS_MAX 4096
#define TRANSACTION_MS 25
#define REST_MS_MAX 50
/* A page that is written by many transactions goes into the file once for as many. */
#define LOG_PAGES "PRAGMA wal_autocheckpoint=4000"
#define GIVE_BACK_PAGES 4096 /* of 4 KiB */

struct ledger_pruner {
    struct db *db;
    char *path;
    uint32_t limit; /* of rows in a transaction */
};

/* Whether nobody else has it. */
static bool take_lock(struct db *db, bool *taken)
{
    struct db_statement *row =
        db_prepare(db, "SELECT CASE WHEN pg_try_advisory_lock(x'5052554E45'::BIGINT)"
                       " THEN 1 ELSE 0 END");
    bool read = row && db_step(row) == DB_ROW;
    *taken = read && db_int(row, 0) == 1;
    db_end(row);
    return read;
}

enum td_status ledger_pruner_open(const char *path, struct ledger_pruner **out,
                                  struct td_error *err)
{
    ASSERT(path && out);
    bool taken = true;
    *out = NULL;
    if (!db_driver_of(path) && access(path, F_OK) != 0)
        return error_set(err, TD_NOT_FOUND, "there is no ledger %s", path);
    struct ledger_pruner *pruner = calloc(1, sizeof *pruner);
    if (!pruner || !(pruner->path = strdup(path))) {
        free(pruner);
        return error_set(err, TD_NO_MEMORY, "no memory to remove old records");
    }
    pruner->limit = ROWS_FIRST;
    enum td_status status = database_open_writer(path, &pruner->db, err);
    if (status == TD_OK) {
        db_hurry(pruner->db, ANSWER_MS);
        db_read_whole(pruner->db);
    }
    if (status == TD_OK && db_dialect(pruner->db) == DB_POSTGRESQL &&
        !take_lock(pruner->db, &taken))
        status = db_error(pruner->db, path, err);
    if (status == TD_OK && !taken)
        status = error_set(err, TD_BUSY, "another node removes old records");
    if (status == TD_OK && !db_erase_deleted(pruner->db))
        status = db_error(pruner->db, path, err);
    if (status == TD_OK && db_dialect(pruner->db) == DB_SQLITE && !db_exec(pruner->db, LOG_PAGES))
        status = db_error(pruner->db, path, err);
    if (status == TD_OK)
        *out = pruner;
    else
        ledger_pruner_close(pruner);
    return status;
}

void ledger_pruner_close(struct ledger_pruner *pruner)
{
    if (!pruner)
        return;
    db_close(pruner->db);
    free(pruner->path);
    free(pruner);
}

/* The rows of one pass: of a class, of none (NULL and what this version does not know), or all. */
enum { OF_NO_CLASS = LEDGER_CLASSES, OF_ALL };
#define WHICH                                                                         \
    "wall_ms >= ?1 AND wall_ms < ?2 AND CASE WHEN ?3 = 5 THEN TRUE WHEN ?3 = 4 THEN"  \
    " data_class IS NULL OR data_class NOT IN ('public', 'sensitive', 'contractual'," \
    " 'restricted') ELSE data_class = ?4 END"

struct pass {
    uint64_t from_ms, before_ms;
    int of;
};

static struct db_statement *prepare(struct ledger_pruner *pruner, const char *sql,
                                    const struct pass *pass)
{
    struct db_statement *statement = db_prepare(pruner->db, sql);
    if (!statement)
        return NULL;
    db_bind_int(statement, 1, (int64_t)pass->from_ms);
    db_bind_int(statement, 2, (int64_t)pass->before_ms);
    db_bind_int(statement, 3, pass->of);
    db_bind_borrowed(statement, 4,
                     pass->of < LEDGER_CLASSES ? names_class((enum td_data_class)pass->of) : "");
    return statement;
}

/* One number of one row; NULL is 0. */
static enum td_status read_number(struct ledger_pruner *pruner, struct db_statement *statement,
                                  uint64_t *out, struct td_error *err)
{
    bool read = statement && db_step(statement) == DB_ROW;
    *out = read ? (uint64_t)db_int(statement, 0) : 0;
    enum td_status status = read ? TD_OK : db_error(pruner->db, pruner->path, err);
    db_end(statement);
    return status;
}

/* The mark first: it is where the next rows begin. */
static enum td_status remove_some(struct ledger_pruner *pruner, struct pass *pass, uint32_t limit,
                                  uint64_t *count, struct td_error *err)
{
    static const char last_sql[] =
        "SELECT max(t) FROM (SELECT wall_ms AS t FROM exchange WHERE " WHICH
        " ORDER BY wall_ms LIMIT ?5) AS oldest";
    static const char delete_sql[] =
        "DELETE FROM exchange WHERE seq IN (SELECT seq FROM exchange WHERE " WHICH
        " ORDER BY wall_ms LIMIT ?5)";
    uint64_t last_ms;
    *count = 0;
    struct db_statement *statement = prepare(pruner, last_sql, pass);
    if (statement)
        db_bind_int(statement, 5, limit);
    enum td_status status = read_number(pruner, statement, &last_ms, err);
    if (status != TD_OK || last_ms == 0)
        return status;
    statement = prepare(pruner, delete_sql, pass);
    if (statement)
        db_bind_int(statement, 5, limit);
    if (!statement || db_step(statement) != DB_DONE)
        status = db_error(pruner->db, pruner->path, err);
    else
        *count = db_changes(pruner->db);
    db_end(statement);
    if (status == TD_OK)
        pass->from_ms = last_ms;
    return status;
}

/* How many rows take some 20 ms: a writer may have to wait for them. */
static uint32_t next_limit(uint32_t limit, double took_ms)
{
    if (took_ms > TRANSACTION_MS && limit > ROWS_MIN)
        return limit / 2;
    return took_ms < TRANSACTION_MS / 3 && limit < ROWS_MAX ? limit * 2 : limit;
}

struct run {
    struct ledger_pruner *pruner;
    ledger_rest_fn *rest;
    void *ctx;
    struct ledger_pruned *out;
    bool stopped;
};

/* Rests after some work. */
static void rest_after(struct run *run, double took_ms)
{
    uint32_t rest_ms = took_ms / 2 < REST_MS_MAX ? (uint32_t)(took_ms / 2) + 1 : REST_MS_MAX;
    run->stopped = run->rest(run->ctx, rest_ms);
}

static enum td_status run_pass(struct run *run, struct pass *pass, uint64_t most,
                               struct td_error *err)
{
    uint64_t count = 1;
    enum td_status status = TD_OK;
    while (status == TD_OK && count > 0 && most > 0 && !run->stopped) {
        uint32_t limit = run->pruner->limit < most ? run->pruner->limit : (uint32_t)most;
        double begin_ms = clock_monotonic_ms(NULL);
        status = remove_some(run->pruner, pass, limit, &count, err);
        double took_ms = clock_monotonic_ms(NULL) - begin_ms;
        run->pruner->limit = next_limit(run->pruner->limit, took_ms);
        run->out->exchanges += count;
        most -= count < most ? count : most;
        if (count > 0)
            rest_after(run, took_ms);
    }
    return status;
}

static uint64_t before_of(const struct ledger_keep *keep, int of)
{
    return of < LEDGER_CLASSES ? keep->class_before_wall_ms[of] : keep->before_wall_ms;
}

/* --- the size of a file --- */

static enum td_status pragma(struct ledger_pruner *pruner, const char *sql, uint64_t *out,
                             struct td_error *err)
{
    return read_number(pruner, db_prepare(pruner->db, sql), out, err);
}

struct pages {
    uint64_t all, free, bytes;
};

static enum td_status read_pages(struct ledger_pruner *pruner, struct pages *out,
                                 struct td_error *err)
{
    *out = (struct pages){0};
    if (db_dialect(pruner->db) != DB_SQLITE)
        return TD_OK;
    enum td_status status = pragma(pruner, "PRAGMA page_count", &out->all, err);
    if (status == TD_OK)
        status = pragma(pruner, "PRAGMA freelist_count", &out->free, err);
    if (status == TD_OK)
        status = pragma(pruner, "PRAGMA page_size", &out->bytes, err);
    return status;
}

/* As many of the oldest as their share of the file is; that is looked at again afterwards. */
static enum td_status prune_by_size(struct run *run, uint64_t bytes_max, struct td_error *err)
{
    struct pages pages;
    struct pass pass = {0, INT64_MAX, OF_ALL};
    uint64_t count = 0, removed;
    if (db_dialect(run->pruner->db) != DB_SQLITE)
        return error_set(err, TD_INVALID,
                         "%s: a database gets no smaller by what is removed from it; keep by age",
                         run->pruner->path);
    do {
        enum td_status status = read_pages(run->pruner, &pages, err);
        uint64_t used = (pages.all - pages.free) * pages.bytes;
        if (status != TD_OK || used <= bytes_max || run->stopped)
            return status;
        status = pragma(run->pruner, "SELECT count(*) FROM exchange", &count, err);
        uint64_t most = (uint64_t)((double)count * (double)(used - bytes_max) / (double)used) + 1;
        removed = run->out->exchanges;
        if (status == TD_OK)
            status = run_pass(run, &pass, most, err);
        if (status != TD_OK)
            return status;
        removed = run->out->exchanges - removed;
    } while (removed > 0);
    return TD_OK;
}

/* Gives the disk what is free at the end of the file, unless it is so little that new rows soon
 * fill it. Files of before stay as large as they were. */
static enum td_status give_back(struct run *run, struct td_error *err)
{
    struct pages pages;
    enum td_status status = read_pages(run->pruner, &pages, err);
    uint64_t left = pages.free;
    bool much = pages.free > GIVE_BACK_PAGES && pages.free > pages.all / 8;
    while (status == TD_OK && much && left > 0 && !run->stopped) {
        double begin_ms = clock_monotonic_ms(NULL);
        if (!db_exec(run->pruner->db, "PRAGMA incremental_vacuum(500)"))
            return db_error(run->pruner->db, run->pruner->path, err);
        rest_after(run, clock_monotonic_ms(NULL) - begin_ms);
        status = read_pages(run->pruner, &pages, err);
        much = pages.free < left;
        left = pages.free;
    }
    run->out->bytes = (pages.all - pages.free) * pages.bytes;
    return status;
}

enum td_status ledger_prune(struct ledger_pruner *pruner, struct ledger_keep *keep,
                            ledger_rest_fn *rest, void *ctx, struct ledger_pruned *out,
                            struct td_error *err)
{
    struct run run = {.pruner = pruner, .rest = rest, .ctx = ctx, .out = out};
    enum td_status status = TD_OK;
    *out = (struct ledger_pruned){0};
    for (int of = 0; of <= OF_NO_CLASS && status == TD_OK && !run.stopped; of++) {
        int what = keep->by_class ? of : OF_ALL;
        struct pass pass = {keep->marks[of], before_of(keep, what), what};
        if (pass.before_ms > pass.from_ms)
            status = run_pass(&run, &pass, UINT64_MAX, err);
        keep->marks[of] = pass.from_ms;
        if (!keep->by_class)
            break;
    }
    if (status == TD_OK && keep->bytes_max > 0 && !run.stopped)
        status = prune_by_size(&run, keep->bytes_max, err);
    return status == TD_OK ? give_back(&run, err) : status;
}

enum td_status ledger_prune_count(struct ledger_pruner *pruner, const struct ledger_keep *keep,
                                  uint64_t *count, struct td_error *err)
{
    enum td_status status = TD_OK;
    *count = 0;
    for (int of = 0; of <= OF_NO_CLASS && status == TD_OK; of++) {
        int what = keep->by_class ? of : OF_ALL;
        const struct pass pass = {0, before_of(keep, what), what};
        uint64_t some;
        status = read_number(pruner,
                             prepare(pruner, "SELECT count(*) FROM exchange WHERE " WHICH, &pass),
                             &some, err);
        *count += some;
        if (!keep->by_class)
            break;
    }
    return status;
}

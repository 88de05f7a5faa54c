/* PostgreSQL holds an advisory lock for a connection, so a node that dies leaves it to another. */
#include "ledger/prune.h"

#include "base/assertion.h"
#include "base/error.h"
#include "ledger/database.h"
#include "ledger/db_driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS 10000

struct ledger_pruner {
    struct db *db;
    char *path;
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

enum td_status ledger_prune(struct ledger_pruner *pruner, uint64_t before_wall_ms, uint32_t limit,
                            uint64_t *count, struct td_error *err)
{
    struct db_statement *statement =
        db_prepare(pruner->db, "DELETE FROM exchange WHERE seq IN (SELECT seq FROM exchange"
                               " WHERE wall_ms < ?1 ORDER BY wall_ms LIMIT ?2)");
    *count = 0;
    if (statement) {
        db_bind_int(statement, 1, (int64_t)before_wall_ms);
        db_bind_int(statement, 2, limit);
    }
    bool done = statement && db_step(statement) == DB_DONE;
    if (done)
        *count = db_changes(pruner->db);
    db_end(statement);
    return done ? TD_OK : db_error(pruner->db, pruner->path, err);
}

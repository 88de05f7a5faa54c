/* Erases what the ledger holds of a user, in one transaction. The rows stay, because totals of cost
 * and quality must stay true; only what names or quotes the user goes. SQLite's secure_delete and
 * an emptied log make sure that the bytes are overwritten and not only unlinked. */
#include "ledger/forget.h"

#include "base/clock.h"
#include "base/error.h"
#include "ledger/database.h"

#include <assert.h>
#include <unistd.h>

#define LOG_WAIT_MS 2000
#define OF_USER " WHERE user = ?1 AND (?2 IS NULL OR tenant = ?2)"

/* In this order, because comments are found by the user whom the rows still name. */
static const struct {
    const char *sql;
    size_t counted; /* offset in struct ledger_forgotten of the number of changed rows */
} steps[] = {
    {"UPDATE feedback SET comment = NULL WHERE comment IS NOT NULL AND exchange IN"
     " (SELECT seq FROM exchange" OF_USER ")",
     offsetof(struct ledger_forgotten, comments)},
    {"UPDATE exchange SET prompt = NULL, answer = NULL" OF_USER
     " AND (prompt IS NOT NULL OR answer IS NOT NULL)",
     offsetof(struct ledger_forgotten, texts)},
    {"UPDATE exchange SET user = NULL, disclosure = NULL, signals = NULL, reasons = NULL,"
     " trace_id = NULL, parent_span_id = NULL, request_id = NULL" OF_USER,
     offsetof(struct ledger_forgotten, exchanges)},
};

static int run_step(sqlite3 *db, const char *sql, const char *tenant, const char *user,
                    uint64_t *changed)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, user, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 2, tenant, -1, SQLITE_STATIC); /* NULL binds NULL */
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    sqlite3_finalize(statement);
    if (code != SQLITE_DONE)
        return code;
    *changed = (uint64_t)sqlite3_changes64(db);
    return SQLITE_OK;
}

static int run_steps(sqlite3 *db, const char *tenant, const char *user,
                     struct ledger_forgotten *out)
{
    int code = sqlite3_exec(db, "PRAGMA secure_delete = ON; BEGIN IMMEDIATE", NULL, NULL, NULL);
    for (size_t i = 0; code == SQLITE_OK && i < sizeof steps / sizeof *steps; i++)
        code = run_step(db, steps[i].sql, tenant, user,
                        (uint64_t *)(void *)((char *)out + steps[i].counted));
    if (code == SQLITE_OK)
        code = sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    return code;
}

/* While the ledger's writer empties its log, SQLite says that it is busy without waiting. */
static bool empty_log(sqlite3 *db)
{
    double begin = clock_monotonic_ms(NULL);
    int code;
    do
        code = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    while (code == SQLITE_BUSY && clock_monotonic_ms(NULL) - begin < LOG_WAIT_MS &&
           sqlite3_sleep(20) > 0);
    return code == SQLITE_OK;
}

enum td_status ledger_forget(const char *path, const char *tenant, const char *user,
                             struct ledger_forgotten *out, struct td_error *err)
{
    assert(path != NULL && user != NULL && out != NULL);
    sqlite3 *db = NULL;
    *out = (struct ledger_forgotten){0};
    if (user[0] == '\0')
        return error_set(err, TD_INVALID, "a user without a name cannot be forgotten");
    if (access(path, F_OK) != 0)
        return error_set(err, TD_NOT_FOUND, "there is no ledger %s", path);
    enum td_status status = database_open_writer(path, &db, err);
    if (status != TD_OK)
        return status;
    int code = run_steps(db, tenant, user, out);
    if (code != SQLITE_OK)
        status = error_set(err, database_status(code), "ledger %s: %s", path, sqlite3_errmsg(db));
    if (!sqlite3_get_autocommit(db))
        sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    if (status == TD_OK && !empty_log(db))
        status = error_set(err, TD_BUSY,
                           "ledger %s: erased, but a reader holds its log, which still has the "
                           "old bytes; try again",
                           path);
    sqlite3_close(db);
    return status;
}

/* Erases what the ledger holds of a user, in one transaction. The rows stay, because totals of cost
 * and quality must stay true; only what names or quotes the user goes. SQLite's secure_delete and
 * an emptied log make sure that the bytes are overwritten and not only unlinked. */
#include "ledger/record/forget.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "ledger/database/database.h"

#include <unistd.h>

#define OF_USER " WHERE \"user\" = ?1 AND (CAST(?2 AS TEXT) IS NULL OR tenant = ?2)"

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
};
#define NAMES                                                                                 \
    "UPDATE exchange SET \"user\" = NULL, disclosure = NULL, signals = NULL, reasons = NULL," \
    " trace_id = NULL, parent_span_id = NULL, request_id = NULL"
static const char *const names_sql[] = {
    [DB_SQLITE] = NAMES ", packed = NULL" OF_USER, [DB_POSTGRESQL] = NAMES OF_USER};

static bool run_step(struct db *db, const char *sql, const char *tenant, const char *user,
                     uint64_t *changed)
{
    struct db_statement *statement = db_prepare(db, sql);
    if (!statement)
        return false;
    db_bind_borrowed(statement, 1, user);
    db_bind_borrowed(statement, 2, tenant);
    bool done = db_step(statement) == DB_DONE;
    *changed = done ? db_changes(db) : 0;
    db_end(statement);
    return done;
}

static bool run_steps(struct db *db, const char *tenant, const char *user,
                      struct ledger_forgotten *out)
{
    bool done = db_erase_deleted(db) && db_begin(db);
    for (size_t i = 0; done && i < sizeof steps / sizeof *steps; i++)
        done = run_step(db, steps[i].sql, tenant, user,
                        (uint64_t *)(void *)((char *)out + steps[i].counted));
    done = done && run_step(db, names_sql[db_dialect(db)], tenant, user, &out->exchanges);
    return done && db_commit(db, NULL);
}

enum td_status ledger_forget(const char *path, const char *tenant, const char *user,
                             struct ledger_forgotten *out, struct td_error *err)
{
    ASSERT(path != NULL && user != NULL && out != NULL);
    struct db *db = NULL;
    *out = (struct ledger_forgotten){0};
    if (user[0] == '\0')
        return error_set(err, TD_INVALID, "a user without a name cannot be forgotten");
    if (!db_driver_of(path) && access(path, F_OK) != 0)
        return error_set(err, TD_NOT_FOUND, "there is no ledger %s", path);
    enum td_status status = database_open_writer(path, &db, err);
    if (status != TD_OK)
        return status;
    if (!run_steps(db, tenant, user, out))
        status = error_set(err, db_status(db), "ledger %s: %s", path, db_message(db));
    db_rollback(db);
    if (status == TD_OK)
        status = database_empty_log(db, path, err);
    db_close(db);
    return status;
}

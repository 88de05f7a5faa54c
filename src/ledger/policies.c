/* The policies that exchanges were decided by. */
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/reader.h"

#include <assert.h>

static const char policies_sql[] =
    "SELECT p.version, p.wall_ms, p.text, coalesce(c.count, 0) FROM policy p LEFT JOIN"
    " (SELECT policy_version, count(*) AS count FROM exchange GROUP BY policy_version) c"
    " ON c.policy_version = p.version WHERE p.wall_ms >= ?1 ORDER BY p.wall_ms, p.rowid";

static struct json *policy_object(struct db_statement *row)
{
    struct json *policy = json_new_object();
    json_put(policy, "version", json_new_cstr(db_text(row, 0)));
    json_put(policy, "wall_ms", json_new_int(db_int(row, 1)));
    json_put(policy, "exchanges", json_new_int(db_int(row, 3)));
    json_put(policy, "text", json_new_cstr(db_text(row, 2)));
    return policy;
}

enum td_status ledger_reader_policies(struct ledger_reader *reader, struct json **out,
                                      struct td_error *err)
{
    assert(reader != NULL && out != NULL);
    struct json *list = json_new_array();
    enum td_status status = TD_IO;
    int code = DB_FAILED;
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = reader_prepare_locked(reader, policies_sql, 0, err);
    while (statement && (code = db_step(statement)) == DB_ROW)
        json_push(list, policy_object(statement));
    if (statement)
        status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(statement);
    pthread_mutex_unlock(&reader->mutex);
    *out = status == TD_OK ? list : NULL;
    if (status != TD_OK)
        json_free(list);
    return status;
}

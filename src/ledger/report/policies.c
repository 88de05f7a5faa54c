/* The policies that exchanges were decided by, and the versions of models that answered. */
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/report/reader.h"

static const char policies_sql[] =
    "SELECT p.version, p.wall_ms, p.text, coalesce(c.count, 0) FROM policy p LEFT JOIN"
    " (SELECT policy_version, count(*) AS count FROM exchange GROUP BY policy_version) c"
    " ON c.policy_version = p.version WHERE p.wall_ms >= ?1 ORDER BY p.wall_ms, p.rowid";

static const char models_sql[] =
    "SELECT m.version, m.wall_ms, m.text, coalesce(c.count, 0), c.last FROM model_version m"
    " LEFT JOIN (SELECT a.model_version, count(*) AS count, max(x.wall_ms) AS last FROM attempt a"
    "  JOIN exchange x ON x.seq = a.exchange GROUP BY a.model_version) c"
    " ON c.model_version = m.version WHERE m.wall_ms >= ?1 ORDER BY m.wall_ms, m.version";

static struct json *policy_object(struct db_statement *row)
{
    struct json *policy = json_new_object();
    json_put(policy, "version", json_new_cstr(db_text(row, 0)));
    json_put(policy, "wall_ms", json_new_int(db_int(row, 1)));
    json_put(policy, "exchanges", json_new_int(db_int(row, 3)));
    json_put(policy, "text", json_new_cstr(db_text(row, 2)));
    return policy;
}

static struct json *model_object(struct db_statement *row)
{
    struct json *model = json_new_object();
    json_put(model, "version", json_new_cstr(db_text(row, 0)));
    json_put(model, "wall_ms", json_new_int(db_int(row, 1)));
    json_put(model, "last_ms", db_is_null(row, 4) ? json_new_null() : json_new_int(db_int(row, 4)));
    json_put(model, "attempts", json_new_int(db_int(row, 3)));
    json_put(model, "text", json_new_cstr(db_text(row, 2)));
    return model;
}

enum td_status reader_list(struct ledger_reader *reader, const char *sql, uint64_t first,
                           struct json *(*make)(struct db_statement *row), struct json **out,
                           struct td_error *err)
{
    ASSERT(reader != NULL && out != NULL);
    struct json *list = json_new_array();
    enum td_status status = TD_IO;
    int code = DB_FAILED;
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = reader_prepare_locked(reader, sql, first, err);
    while (statement && (code = db_step(statement)) == DB_ROW)
        json_push(list, make(statement));
    if (statement)
        status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(statement);
    pthread_mutex_unlock(&reader->mutex);
    *out = status == TD_OK ? list : NULL;
    if (status != TD_OK)
        json_free(list);
    return status;
}

enum td_status ledger_reader_policies(struct ledger_reader *reader, struct json **out,
                                      struct td_error *err)
{
    return reader_list(reader, policies_sql, 0, policy_object, out, err);
}

enum td_status ledger_reader_models(struct ledger_reader *reader, struct json **out,
                                    struct td_error *err)
{
    return reader_list(reader, models_sql, 0, model_object, out, err);
}

/* The report on shadows. For each pair of an answering tier and its shadow it says how often both
 * agreed, in all and for each task that the classifier saw. */
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "base/ratio.h"
#include "ledger/report/reader.h"

#include <string.h>

static const char pairs_sql[] =
    "SELECT x.tier, s.tier, count(s.agreement),"
    " total(s.agreement IS NULL AND s.kind <> '" LEDGER_SHADOW_DROPPED "'), total(s.same),"
    " avg(s.agreement), total(s.cost_usd), avg(CASE WHEN s.agreement IS NOT NULL THEN s.total_ms "
    "END)"
    " FROM shadow s JOIN exchange x ON x.seq = s.exchange WHERE x.wall_ms >= ?1"
    " GROUP BY x.tier, s.tier ORDER BY x.tier NULLS FIRST, s.tier";
static const char tasks_sql[] =
    "SELECT CASE WHEN json_valid(x.signals) THEN coalesce(json_extract(x.signals, '$.task'), '')"
    " ELSE '' END AS task, count(s.agreement), total(s.same)"
    " FROM shadow s JOIN exchange x ON x.seq = s.exchange"
    " WHERE x.wall_ms >= ?1 AND x.tier IS NOT DISTINCT FROM ?2 AND s.tier = ?3 AND s.agreement IS "
    "NOT NULL"
    " GROUP BY task ORDER BY count(*) DESC, task";
static const char examples_sql[] =
    "SELECT x.id FROM shadow s JOIN exchange x ON x.seq = s.exchange"
    " WHERE x.wall_ms >= ?1 AND x.tier IS NOT DISTINCT FROM ?2 AND s.tier = ?3 AND NOT s.same"
    " AND s.agreement IS NOT NULL ORDER BY s.agreement, s.seq LIMIT 5";

/* By the versions of both models: of the tier that answered it is that of its last attempt. */
static const char skew_sql[] =
    "SELECT p.tier, p.model, p.version, p.shadow, p.shadow_model, p.shadow_version, count(*),"
    " total(p.same), min(p.wall_ms), max(p.wall_ms) FROM (SELECT x.tier, x.model,"
    " (SELECT a.model_version FROM attempt a WHERE a.exchange = x.seq AND a.tier = x.tier"
    "  ORDER BY a.position DESC LIMIT 1) AS version, s.tier AS shadow, s.model AS shadow_model,"
    " s.model_version AS shadow_version, s.same, x.wall_ms"
    " FROM shadow s JOIN exchange x ON x.seq = s.exchange"
    " WHERE x.wall_ms >= ?1 AND s.agreement IS NOT NULL) p"
    " GROUP BY p.tier, p.model, p.version, p.shadow, p.shadow_model, p.shadow_version"
    " ORDER BY max(p.wall_ms) DESC, p.tier NULLS FIRST, p.shadow, p.version NULLS FIRST,"
    " p.shadow_version NULLS FIRST";

static void put_share(struct json *object, double compared, double same)
{
    static const char *const names[] = {"same_share", "same_low", "same_high"};
    double values[] = {same / compared, 0, 0};
    json_put(object, "compared", json_new_int((int64_t)compared));
    json_put(object, "same", json_new_int((int64_t)same));
    if (compared > 0)
        ratio_share_interval(same, compared, &values[1], &values[2]);
    for (int i = 0; i < 3; i++)
        json_put(object, names[i], compared > 0 ? json_new_double(values[i]) : json_new_null());
}

static struct json *task_of(struct db_statement *row)
{
    struct json *task = json_new_object();
    json_put(task, "task", json_new_cstr(db_text(row, 0)));
    put_share(task, db_double(row, 1), db_double(row, 2));
    return task;
}

static struct json *id_of(struct db_statement *row)
{
    return json_new_cstr(db_text(row, 0));
}

/* The rows of a pair of tiers as a list. */
static struct json *list_of(struct ledger_reader *reader, const char *sql, uint64_t since_wall_ms,
                            struct db_statement *pair,
                            struct json *(*make)(struct db_statement *row), struct td_error *err)
{
    struct json *list = json_new_array();
    struct db_statement *statement = reader_prepare_locked(reader, sql, since_wall_ms, err);
    if (statement == NULL)
        return list;
    db_bind_text(statement, 2, db_str(pair, 0));
    db_bind_text(statement, 3, db_str(pair, 1));
    int code;
    while ((code = db_step(statement)) == DB_ROW)
        json_push(list, make(statement));
    if (code != DB_DONE)
        reader_error_locked(reader, err);
    db_end(statement);
    return list;
}

static struct json *pair_of(struct ledger_reader *reader, uint64_t since_wall_ms,
                            struct db_statement *row, struct td_error *err)
{
    struct json *object = json_new_object();
    double compared = db_double(row, 2);
    json_put(object, "tier", json_new_cstr(db_text(row, 0)));
    json_put(object, "shadow", json_new_cstr(db_text(row, 1)));
    json_put(object, "failed", json_new_int(db_int(row, 3)));
    put_share(object, compared, db_double(row, 4));
    static const char *const means[] = {"agreement", "cost_usd", "total_ms"};
    for (int i = 0; i < 3; i++)
        json_put(object, means[i],
                 db_is_null(row, 5 + i) ? json_new_null() : json_new_double(db_double(row, 5 + i)));
    json_put(object, "tasks", list_of(reader, tasks_sql, since_wall_ms, row, task_of, err));
    json_put(object, "examples", list_of(reader, examples_sql, since_wall_ms, row, id_of, err));
    return object;
}

enum td_status shadows_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                              struct json **out, struct td_error *err)
{
    ASSERT(err != NULL && err->status == TD_OK);
    *out = NULL;
    struct db_statement *statement = reader_prepare_locked(reader, pairs_sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    struct json *list = json_new_array();
    int code;
    while ((code = db_step(statement)) == DB_ROW)
        json_push(list, pair_of(reader, since_wall_ms, statement, err));
    if (code != DB_DONE)
        reader_error_locked(reader, err);
    db_end(statement);
    if (err->status != TD_OK) {
        json_free(list);
        return err->status;
    }
    *out = list;
    return TD_OK;
}

enum td_status ledger_reader_shadows(struct ledger_reader *reader, uint64_t since_wall_ms,
                                     struct json **out, struct td_error *err)
{
    ASSERT(reader != NULL && out != NULL);
    struct td_error own = {0};
    pthread_mutex_lock(&reader->mutex);
    enum td_status status = shadows_locked(reader, since_wall_ms, out, &own);
    pthread_mutex_unlock(&reader->mutex);
    return status == TD_OK ? TD_OK : error_set(err, status, "%s", own.message);
}

static struct json *skew_of(struct db_statement *row)
{
    static const char *const names[] = {"tier",   "model",        "version",
                                        "shadow", "shadow_model", "shadow_version"};
    struct json *object = json_new_object();
    for (int i = 0; i < 6; i++)
        json_put(object, names[i], json_new_cstr(db_text(row, i)));
    put_share(object, db_double(row, 6), db_double(row, 7));
    json_put(object, "first_ms", json_new_int(db_int(row, 8)));
    json_put(object, "last_ms", json_new_int(db_int(row, 9)));
    return object;
}

enum td_status ledger_reader_skew(struct ledger_reader *reader, uint64_t since_wall_ms,
                                  struct json **out, struct td_error *err)
{
    ASSERT(reader != NULL && out != NULL);
    return reader_list(reader, skew_sql, since_wall_ms, skew_of, out, err);
}

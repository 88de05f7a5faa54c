/* What each API key asked for, by its id: most cost first. */
#include "base/json/json.h"
#include "ledger/report/reader.h"

/* As many as a reader looks at; the store has sums of all (ledger/store/key_store.h). */
static const char keys_sql[] =
    "SELECT key_id, tenant, count(*), total(cost), CAST(total(tokens) AS BIGINT)"
    " FROM (SELECT x.tenant AS tenant, x.cost_usd AS cost,"
    "  CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.key_id') END AS key_id,"
    "  (SELECT total(a.prompt_tokens + a.completion_tokens) FROM attempt a"
    "   WHERE a.exchange = x.seq) AS tokens"
    "  FROM exchange x WHERE x.wall_ms >= ?1) AS asked"
    " WHERE key_id IS NOT NULL GROUP BY key_id, tenant"
    " ORDER BY 4 DESC, 5 DESC, key_id, tenant NULLS FIRST LIMIT 100";

enum td_status keys_locked(struct ledger_reader *reader, uint64_t since_wall_ms, struct json **out,
                           struct td_error *err)
{
    struct db_statement *statement = reader_prepare_locked(reader, keys_sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    struct json *list = json_new_array();
    enum db_step code;
    while ((code = db_step(statement)) == DB_ROW) {
        struct json *key = json_new_object();
        json_put(key, "key_id", json_new_cstr(db_text(statement, 0)));
        json_put(key, "tenant", json_new_cstr(db_text(statement, 1)));
        json_put(key, "exchanges", json_new_int(db_int(statement, 2)));
        json_put(key, "cost_usd", json_new_double(db_double(statement, 3)));
        json_put(key, "tokens", json_new_int(db_int(statement, 4)));
        json_push(list, key);
    }
    enum td_status status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(statement);
    *out = list;
    return status;
}

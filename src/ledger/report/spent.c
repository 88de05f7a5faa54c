/* What exchanges have cost, summed by user, route, application and hour. A server starts its
 * budgets from these sums. */
#include "base/core/assertion.h"
#include "ledger/report/reader.h"

/* Application and key are in the signals. Signals that are no JSON (or were erased) have none. */
static const char spent_sql[] =
    "SELECT x.user, x.route,"
    " CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.app') END AS app,"
    " x.wall_ms / 3600000 AS hour, total(x.cost_usd),"
    " CAST(total((SELECT total(a.prompt_tokens + a.completion_tokens)"
    "  FROM attempt a WHERE a.exchange = x.seq)) AS BIGINT),"
    " total((SELECT total(s.cost_usd) FROM shadow s WHERE s.exchange = x.seq)),"
    " CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.key_id') END AS key_id,"
    " x.tenant, CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.key') END AS digest"
    " FROM exchange x WHERE x.wall_ms >= ?1"
    " GROUP BY x.tenant, x.user, x.route, app, key_id, digest, hour";

enum td_status ledger_reader_spent(struct ledger_reader *reader, uint64_t since_wall_ms,
                                   ledger_spent_fn *each, void *ctx, struct td_error *err)
{
    ASSERT(reader != NULL && each != NULL);
    enum td_status status = TD_IO;
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = reader_prepare_locked(reader, spent_sql, since_wall_ms, err);
    if (statement) {
        int code;
        while ((code = db_step(statement)) == DB_ROW) {
            const struct ledger_spent spent = {
                .user = db_text(statement, 0),
                .route = db_text(statement, 1),
                .app = db_text(statement, 2),
                .key_id = db_text(statement, 7),
                .key_digest = db_text(statement, 9),
                .tenant = db_text(statement, 8),
                .hour = (uint64_t)db_int(statement, 3),
                .cost_usd = db_double(statement, 4) + db_double(statement, 6),
                .shadow_usd = db_double(statement, 6),
                .tokens = (uint64_t)db_int(statement, 5),
            };
            each(ctx, &spent);
        }
        status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
        db_end(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

/* How right the device was, as measured: people said it (feedback), or another tier answered the
 * same question (shadows, in either direction). */
#include "ledger/reader.h"

#include <assert.h>

static const char outcomes_sql[] =
    "SELECT x.signals, f.score FROM exchange x JOIN feedback f ON f.exchange = x.seq"
    " WHERE x.wall_ms >= ?1 AND x.place = 'device' AND x.status = 'ok' AND f.seq ="
    "  (SELECT max(g.seq) FROM feedback g WHERE g.exchange = x.seq)"
    " UNION ALL "
    "SELECT x.signals, s.same FROM shadow s JOIN exchange x ON x.seq = s.exchange"
    " WHERE x.wall_ms >= ?1 AND s.agreement IS NOT NULL AND (x.place = 'device') <>"
    "  (s.tier IN (SELECT DISTINCT a.tier FROM attempt a WHERE a.place = 'device'))";

enum td_status ledger_reader_outcomes(struct ledger_reader *reader, uint64_t since_wall_ms,
                                      ledger_outcome_fn *each, void *ctx, struct td_error *err)
{
    assert(reader != NULL && each != NULL);
    enum td_status status = TD_IO;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = reader_prepare_locked(reader, outcomes_sql, since_wall_ms, err);
    if (statement) {
        int code;
        while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
            const char *signals = (const char *)sqlite3_column_text(statement, 0);
            each(ctx, signals ? signals : "", sqlite3_column_double(statement, 1));
        }
        status = code == SQLITE_DONE ? TD_OK : reader_error_locked(reader, err);
        sqlite3_finalize(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

/* How right answers were, as measured: people said it (feedback), or another tier answered the same
 * question beside the device (shadows, in either direction). */
#include "ledger/reader.h"

#include <assert.h>

/* Of shadow s of exchange x one answer is the device's, and the other is not. Older rows have no
 * place. */
#define ONE_ON_DEVICE                                                        \
    "(x.place = 'device') <> CASE WHEN s.place IS NULL THEN s.tier IN"       \
    " (SELECT DISTINCT a.tier FROM attempt a WHERE a.place = 'device') ELSE" \
    " s.place = 'device' END"

static const char outcomes_sql[] =
    "SELECT x.signals, f.score FROM exchange x JOIN feedback f ON f.exchange = x.seq"
    " WHERE x.wall_ms >= ?1 AND x.place = 'device' AND x.status = 'ok' AND f.seq ="
    "  (SELECT max(g.seq) FROM feedback g WHERE g.exchange = x.seq)"
    " UNION ALL "
    "SELECT x.signals, s.same FROM shadow s JOIN exchange x ON x.seq = s.exchange"
    " WHERE x.wall_ms >= ?1 AND s.agreement IS NOT NULL AND " ONE_ON_DEVICE;

static const char lessons_sql[] =
    "SELECT x.tenant, x.route, x.tier, x.data_class, x.prompt, x.answer, x.signals,"
    " x.status = 'ok' AND NOT EXISTS"
    "  (SELECT 1 FROM attempt a WHERE a.exchange = x.seq AND a.outcome = 'continued'),"
    " x.place = 'device', instr(coalesce(x.reasons, ''), '\"code\":\"review\"') > 0,"
    " " NEWEST_SCORE ", (SELECT avg(s.same) FROM shadow s WHERE s.exchange = x.seq"
    "  AND s.agreement IS NOT NULL AND " ONE_ON_DEVICE "),"
    " coalesce((SELECT a.model FROM attempt a WHERE a.exchange = x.seq AND a.place = 'device'"
    "  ORDER BY a.position LIMIT 1),"
    "  (SELECT s.model FROM shadow s WHERE s.exchange = x.seq AND s.place = 'device' LIMIT 1))"
    " FROM exchange x WHERE x.wall_ms >= ?1 ORDER BY x.seq";

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

static struct ledger_lesson lesson_of(sqlite3_stmt *row)
{
    return (struct ledger_lesson){
        .tenant = (const char *)sqlite3_column_text(row, 0),
        .route = (const char *)sqlite3_column_text(row, 1),
        .tier = (const char *)sqlite3_column_text(row, 2),
        .data_class = (const char *)sqlite3_column_text(row, 3),
        .prompt = (const char *)sqlite3_column_text(row, 4),
        .answer = (const char *)sqlite3_column_text(row, 5),
        .signals_json = (const char *)sqlite3_column_text(row, 6),
        .answered = sqlite3_column_int(row, 7) != 0,
        .device = sqlite3_column_int(row, 8) != 0,
        .review = sqlite3_column_int(row, 9) != 0,
        .score = reader_number(row, 10),
        .same = reader_number(row, 11),
        .model = (const char *)sqlite3_column_text(row, 12),
    };
}

enum td_status ledger_reader_lessons(struct ledger_reader *reader, uint64_t since_wall_ms,
                                     ledger_lesson_fn *each, void *ctx, struct td_error *err)
{
    assert(reader != NULL && each != NULL);
    enum td_status status = TD_IO;
    pthread_mutex_lock(&reader->mutex);
    sqlite3_stmt *statement = reader_prepare_locked(reader, lessons_sql, since_wall_ms, err);
    if (statement) {
        int code = SQLITE_DONE;
        status = TD_OK;
        while (status == TD_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
            const struct ledger_lesson lesson = lesson_of(statement);
            status = each(ctx, &lesson, err);
        }
        if (status == TD_OK && code != SQLITE_DONE)
            status = reader_error_locked(reader, err);
        sqlite3_finalize(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

/* How right answers were, as measured: people said it (feedback), or another tier answered the same
 * question beside the device (shadows, in either direction). */
#include "base/core/assertion.h"
#include "ledger/database/sealed_text.h"
#include "ledger/report/reader.h"

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
    "SELECT x.signals, CASE WHEN s.same THEN 1.0 ELSE 0.0 END FROM shadow s JOIN exchange x ON "
    "x.seq = s.exchange"
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
    "  (SELECT s.model FROM shadow s WHERE s.exchange = x.seq AND s.place = 'device' LIMIT 1)),"
    " x.confidence, x.id FROM exchange x WHERE x.wall_ms >= ?1 ORDER BY x.seq";

enum td_status ledger_reader_outcomes(struct ledger_reader *reader, uint64_t since_wall_ms,
                                      ledger_outcome_fn *each, void *ctx, struct td_error *err)
{
    ASSERT(reader != NULL && each != NULL);
    enum td_status status = TD_IO;
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement =
        reader_prepare_locked(reader, outcomes_sql, since_wall_ms, err);
    if (statement) {
        int code;
        while ((code = db_step(statement)) == DB_ROW) {
            const char *signals = db_text(statement, 0);
            each(ctx, signals ? signals : "", db_double(statement, 1));
        }
        status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
        db_end(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

/* The text in a column, or NULL. */
static enum td_status open_text(struct db_statement *row, int column, struct buf *out,
                                struct td_error *err)
{
    buf_clear(out);
    if (db_is_null(row, column))
        return TD_OK;
    return sealed_text_open(db_text(row, 14), db_str(row, column), out, err);
}

static const char *text_of(struct db_statement *row, int column, const struct buf *text)
{
    return db_is_null(row, column) ? NULL : text->data ? text->data : "";
}

static struct ledger_lesson lesson_of(struct db_statement *row, const struct buf texts[static 2])
{
    return (struct ledger_lesson){
        .tenant = db_text(row, 0),
        .route = db_text(row, 1),
        .tier = db_text(row, 2),
        .data_class = db_text(row, 3),
        .prompt = text_of(row, 4, &texts[0]),
        .answer = text_of(row, 5, &texts[1]),
        .signals_json = db_text(row, 6),
        .answered = db_int(row, 7) != 0,
        .device = db_int(row, 8) != 0,
        .review = db_int(row, 9) != 0,
        .score = reader_number(row, 10),
        .same = reader_number(row, 11),
        .model = db_text(row, 12),
        .confidence = reader_number(row, 13),
    };
}

enum td_status ledger_reader_lessons(struct ledger_reader *reader, uint64_t since_wall_ms,
                                     ledger_lesson_fn *each, void *ctx, struct td_error *err)
{
    ASSERT(reader != NULL && each != NULL);
    enum td_status status = TD_IO;
    struct buf texts[2];
    buf_init(&texts[0], SEALED_TEXT_BYTES_MAX);
    buf_init(&texts[1], SEALED_TEXT_BYTES_MAX);
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = reader_prepare_locked(reader, lessons_sql, since_wall_ms, err);
    if (statement) {
        int code = DB_DONE;
        status = TD_OK;
        while (status == TD_OK && (code = db_step(statement)) == DB_ROW) {
            status = open_text(statement, 4, &texts[0], err);
            if (status == TD_OK)
                status = open_text(statement, 5, &texts[1], err);
            const struct ledger_lesson lesson = lesson_of(statement, texts);
            if (status == TD_OK)
                status = each(ctx, &lesson, err);
        }
        if (status == TD_OK && code != DB_DONE)
            status = reader_error_locked(reader, err);
        db_end(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    buf_deinit(&texts[0]);
    buf_deinit(&texts[1]);
    return status;
}

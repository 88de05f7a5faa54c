/* Exchanges whose first attempt was on the device, with the feedback on their answers: the data
 * from which thresholds are learned. */
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "ledger/report/reader.h"

/* The first attempt is the local tier's own try. Of several feedbacks on an answer the newest
 * counts. `kept`: that attempt gave the answer, so the feedback is about it. What a stronger tier
 * found of it counts where nobody has said anything, also when its answer was replaced. */
#define CHECKED \
    "(SELECT avg(s.same) FROM shadow s WHERE s.exchange = x.seq AND s.kind = 'verified')"
static const char judged_sql[] =
    "SELECT x.id, a.confidence, x.signals, " CHECKED " IS NOT NULL OR (a.outcome = 'answered' AND"
    "  x.status = 'ok' AND (SELECT count(*) FROM attempt b WHERE b.exchange = x.seq) = 1),"
    " coalesce(CASE WHEN x.place = 'device' OR " CHECKED " IS NULL THEN (SELECT f.score FROM"
    "  feedback f WHERE f.exchange = x.seq ORDER BY f.seq DESC LIMIT 1) END, " CHECKED ")"
    " FROM exchange x JOIN attempt a ON a.exchange = x.seq AND a.position = 0"
    " WHERE x.wall_ms >= ?1 AND a.place = 'device' ORDER BY x.seq";

enum td_status ledger_reader_judged(struct ledger_reader *reader, uint64_t since_wall_ms,
                                    ledger_judged_fn *each, void *ctx, struct td_error *err)
{
    ASSERT(reader != NULL && each != NULL);
    enum td_status status = TD_IO;
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = reader_prepare_locked(reader, judged_sql, since_wall_ms, err);
    if (statement) {
        int code;
        status = TD_OK;
        while (status == TD_OK && (code = db_step(statement)) == DB_ROW) {
            const struct ledger_judged judged = {
                .id = db_str(statement, 0),
                .confidence = reader_number(statement, 1),
                .signals_json = db_str(statement, 2),
                .kept = db_int(statement, 3) != 0,
                .score = reader_number(statement, 4),
            };
            status = each(ctx, &judged, err);
        }
        if (status == TD_OK && code != DB_DONE)
            status = reader_error_locked(reader, err);
        db_end(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

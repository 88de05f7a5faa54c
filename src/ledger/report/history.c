/* Exchanges with their attempts as plain rows, oldest first, for a replay. One statement joins both
 * tables, so ten thousand exchanges take tens of milliseconds. */
#include "base/bytes/buf.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/text/names.h"
#include "ledger/report/reader.h"

#include <string.h>

static const char history_sql[] =
    "SELECT x.seq, x.id, x.requested_model, x.route, x.tier, x.place, x.user, x.status, x.cost_usd,"
    " x.total_ms, x.signals, x.reasons,"
    " (SELECT f.score FROM feedback f WHERE f.exchange = x.seq ORDER BY f.seq DESC LIMIT 1),"
    " (SELECT avg(s.same) FROM shadow s WHERE s.exchange = x.seq AND s.agreement IS NOT NULL),"
    " a.tier, a.place, a.outcome, a.confidence, a.prompt_tokens, a.completion_tokens, a.total_ms,"
    " a.cost_usd"
    " FROM exchange x LEFT JOIN attempt a ON a.exchange = x.seq WHERE x.wall_ms >= ?1"
    " ORDER BY x.seq, a.position";
enum { FIRST_OF_ATTEMPT = 14 };

/* An exchange whose attempts are still being read. Its strings are copied, because SQLite keeps
 * them for one row only. */
struct gathering {
    struct ledger_history row;
    struct ledger_attempt attempts[LEDGER_ATTEMPTS_MAX];
    struct buf strings; /* NUL-terminated, one after the other */
    size_t offsets[16 + 3 * LEDGER_ATTEMPTS_MAX];
    const char **owners[16 + 3 * LEDGER_ATTEMPTS_MAX];
    size_t string_count;
    int64_t seq;
    bool some;
};

static struct td_str column_text(struct db_statement *row, int column)
{
    return str_from(db_text(row, column));
}

/* Keeps a text of the row. *owner points into the strings only after all are there, because the
 * buffer may move while it grows. */
static void keep_text(struct gathering *g, struct db_statement *row, int column, const char **owner)
{
    const char *text = db_text(row, column);
    *owner = NULL;
    if (!text)
        return;
    g->owners[g->string_count] = owner;
    g->offsets[g->string_count++] = g->strings.len;
    buf_append(&g->strings, text, db_str(row, column).len);
    buf_append_char(&g->strings, '\0');
}

static void begin_row(struct gathering *g, struct db_statement *row)
{
    struct ledger_history *out = &g->row;
    buf_clear(&g->strings);
    g->string_count = 0;
    *out = (struct ledger_history){.attempts = g->attempts};
    keep_text(g, row, 1, &out->id);
    keep_text(g, row, 2, &out->requested_model);
    keep_text(g, row, 3, &out->route);
    keep_text(g, row, 4, &out->tier);
    keep_text(g, row, 5, &out->place);
    keep_text(g, row, 6, &out->user);
    names_end_parse(column_text(row, 7), &out->status);
    out->cost_usd = reader_number(row, 8);
    out->total_ms = reader_number(row, 9);
    keep_text(g, row, 10, &out->signals_json);
    keep_text(g, row, 11, &out->reasons_json);
    out->score = reader_number(row, 12);
    out->same = reader_number(row, 13);
    g->seq = db_int(row, 0);
    g->some = true;
}

static void add_attempt(struct gathering *g, struct db_statement *row)
{
    int at = FIRST_OF_ATTEMPT;
    if (db_is_null(row, at + 2) || g->row.attempt_count == LEDGER_ATTEMPTS_MAX)
        return;
    struct ledger_attempt *attempt = &g->attempts[g->row.attempt_count++];
    *attempt = (struct ledger_attempt){
        .confidence = reader_number(row, at + 3),
        .prompt_tokens = (uint32_t)db_int(row, at + 4),
        .completion_tokens = (uint32_t)db_int(row, at + 5),
        .total_ms = reader_number(row, at + 6),
        .cost_usd = reader_number(row, at + 7),
    };
    keep_text(g, row, at, &attempt->tier);
    keep_text(g, row, at + 1, &attempt->place);
    names_outcome_parse(column_text(row, at + 2), &attempt->outcome);
}

static enum td_status give(struct gathering *g, ledger_history_fn *each, void *ctx,
                           struct td_error *err)
{
    if (!g->some)
        return TD_OK;
    g->some = false;
    if (g->strings.failed)
        return TD_OK; /* larger than any exchange that can be put */
    for (size_t i = 0; i < g->string_count; i++)
        *g->owners[i] = g->strings.data + g->offsets[i];
    return each(ctx, &g->row, err);
}

enum td_status ledger_reader_history(struct ledger_reader *reader, uint64_t since_wall_ms,
                                     ledger_history_fn *each, void *ctx, struct td_error *err)
{
    ASSERT(reader != NULL && each != NULL);
    static const size_t strings_bytes_max = 16u << 20;
    struct gathering g = {.seq = -1};
    enum td_status status = TD_IO;
    buf_init(&g.strings, strings_bytes_max);
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = reader_prepare_locked(reader, history_sql, since_wall_ms, err);
    if (statement) {
        int code = DB_DONE;
        status = TD_OK;
        while (status == TD_OK && (code = db_step(statement)) == DB_ROW) {
            if (db_int(statement, 0) != g.seq) {
                status = give(&g, each, ctx, err);
                begin_row(&g, statement);
            }
            add_attempt(&g, statement);
        }
        if (status == TD_OK && code != DB_DONE)
            status = reader_error_locked(reader, err);
        if (status == TD_OK)
            status = give(&g, each, ctx, err);
        db_end(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    buf_deinit(&g.strings);
    return status;
}

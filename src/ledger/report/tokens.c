/* What servers told of their tokens, beside our estimate of the same text: four bytes are a token.
 * Only attempts with an exact usage and some text count. */
#include "base/core/assertion.h"
#include "base/json/json.h"
#include "base/ratio.h"
#include "ledger/report/reader.h"

#include <math.h>

/* Enough for a ratio, and read in some milliseconds. */
#define NEWEST "20000"
#define TAUGHT                                                                          \
    " a.exact AND a.place <> 'device' AND a.answer_bytes > 0 AND a.prompt_estimate > 0" \
    " AND a.outcome IN ('answered', 'escalated')"

static const char newest_sql[] =
    "SELECT a.tier, a.model, count(*), total(a.prompt_estimate), total(a.prompt_tokens),"
    " total(a.cached_tokens), total(a.answer_bytes), total(a.completion_tokens) FROM attempt a"
    " WHERE a.exchange > (SELECT coalesce(max(seq), 0) FROM exchange) - " NEWEST " AND" TAUGHT
    " AND ?1 = 0 GROUP BY a.tier, a.model";

/* For a ratio y / x and its error. */
#define SUMS(x, y) \
    " total(" x "), total(" y "), total(" x " * " x "), total(" x " * " y "), total(" y " * " y ")"
static const char since_sql[] =
    "SELECT tier, model, count(*), total(cached), total(t)," SUMS("e", "t") "," SUMS(
        "b",
        "c") " FROM (SELECT a.tier AS tier, a.model AS model, a.cached_tokens AS cached,"
             "  1.0 * a.prompt_estimate AS e, 1.0 * a.prompt_tokens AS t, a.answer_bytes / 4.0 AS "
             "b,"
             "  1.0 * a.completion_tokens AS c FROM attempt a JOIN exchange x ON x.seq = a.exchange"
             "  WHERE x.wall_ms >= ?1 AND" TAUGHT
             ") AS usages GROUP BY tier, model ORDER BY count(*) DESC, tier NULLS FIRST,"
             " model NULLS FIRST";

enum td_status ledger_reader_tokens(struct ledger_reader *reader, ledger_tokens_fn *each, void *ctx,
                                    struct td_error *err)
{
    ASSERT(reader != NULL && each != NULL);
    enum td_status status = TD_IO;
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = reader_prepare_locked(reader, newest_sql, 0, err);
    if (statement) {
        int code;
        while ((code = db_step(statement)) == DB_ROW) {
            const struct ledger_tokens tokens = {
                .tier = db_text(statement, 0),
                .model = db_text(statement, 1),
                .count = db_double(statement, 2),
                .prompt_estimate = db_double(statement, 3),
                .prompt_tokens = db_double(statement, 4),
                .cached_tokens = db_double(statement, 5),
                .answer_bytes = db_double(statement, 6),
                .completion_tokens = db_double(statement, 7),
            };
            if (tokens.tier && tokens.model)
                each(ctx, &tokens);
        }
        status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
        db_end(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    return status;
}

static struct json *ratio_object(struct db_statement *row, int first)
{
    const struct ratio_sums sums = {db_double(row, 2),         db_double(row, first),
                                    db_double(row, first + 1), db_double(row, first + 2),
                                    db_double(row, first + 3), db_double(row, first + 4)};
    double value = ratio_value(&sums), half = RATIO_Z95 * ratio_error(&sums);
    struct json *object = json_new_object();
    json_put(object, "ratio", json_new_double(value));
    json_put(object, "low", isnan(half) ? json_new_null() : json_new_double(value - half));
    json_put(object, "high", isnan(half) ? json_new_null() : json_new_double(value + half));
    return object;
}

enum td_status token_counts_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                                   struct json *report, struct td_error *err)
{
    struct db_statement *statement = reader_prepare_locked(reader, since_sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    struct json *list = json_new_array();
    int code;
    while ((code = db_step(statement)) == DB_ROW) {
        struct json *object = json_new_object();
        double told = db_double(statement, 4);
        json_put(object, "tier", json_new_cstr(db_text(statement, 0)));
        json_put(object, "model", json_new_cstr(db_text(statement, 1)));
        json_put(object, "usages", json_new_int(db_int(statement, 2)));
        json_put(object, "prompt", ratio_object(statement, 5));
        json_put(object, "answer", ratio_object(statement, 10));
        json_put(object, "cached_share",
                 json_new_double(told > 0 ? db_double(statement, 3) / told : 0));
        json_push(list, object);
    }
    if (code != DB_DONE)
        reader_error_locked(reader, err);
    db_end(statement);
    json_put(report, "token_counts", list);
    return err->status;
}

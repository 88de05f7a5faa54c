/* The report: totals, and exact percentiles per tier. It is one read transaction, so that all its
 * numbers are about the same exchanges while a writer goes on. */
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/json/json.h"
#include "base/ratio.h"
#include "base/time/clock.h"
#include "ledger/report/reader.h"

#include <math.h>

static const char totals_sql[] =
    "SELECT count(*), total(cost_usd), total(status = 'failed'),"
    " (SELECT count(DISTINCT a.exchange) FROM attempt a JOIN exchange x ON x.seq = a.exchange"
    "  WHERE a.outcome = 'escalated' AND x.wall_ms >= ?1),"
    " count(" NEWEST_SCORE "), avg(" NEWEST_SCORE ")"
    " FROM exchange x WHERE wall_ms >= ?1";
static const char tiers_sql[] =
    "SELECT tier, count(*), total(prompt_tokens), total(completion_tokens), total(cost_usd),"
    " count(ttft_ms), count(total_ms), count(" NEWEST_SCORE "), avg(" NEWEST_SCORE ")"
    " FROM exchange x WHERE wall_ms >= ?1 GROUP BY tier"
    " ORDER BY count(*) DESC, tier NULLS FIRST";
/* What was remembered of earlier exchanges and how it was used, by days of UTC. */
#define EARLIER "json_extract(signals, '$.decision.earlier"
#define REMEMBERED                                                                               \
    "(SELECT wall_ms / 86400000 AS day, " EARLIER ".by') AS of, " EARLIER ".result') AS result," \
    " CAST(" EARLIER ".given_up') AS DOUBLE PRECISION) AS given_up,"                             \
    " CAST(" EARLIER ".usd') AS DOUBLE PRECISION) AS usd FROM exchange"                          \
    " WHERE wall_ms >= ?1 AND json_valid(signals)"                                               \
    " AND json_type(signals, '$.decision.earlier') = 'object') AS remembered"
static const char consistency_sql[] =
    "SELECT day,"
    " total(of = 'similar'), total(of = 'similar' AND result IN ('moved', 'barred')),"
    " total(of = 'conversation'), total(of = 'conversation' AND result IN ('moved', 'barred')),"
    " total(result = 'kept'), total(given_up), total(usd)"
    " FROM " REMEMBERED " GROUP BY day ORDER BY day";
/* The known values of a column in ascending order; a percentile steps to its rank. SQLite sorts in
 * temporary storage if there are many. */
static const char *const rank_sql[] = {
    "SELECT ttft_ms FROM exchange WHERE wall_ms >= ?1 AND tier IS NOT DISTINCT FROM ?2 AND ttft_ms "
    "IS NOT NULL"
    " ORDER BY ttft_ms",
    "SELECT total_ms FROM exchange WHERE wall_ms >= ?1 AND tier IS NOT DISTINCT FROM ?2 AND "
    "total_ms IS NOT NULL"
    " ORDER BY total_ms",
};

static const struct {
    const char *name;
    unsigned percent;
} percentiles[] = {{"p50", 50}, {"p95", 95}, {"p99", 99}};

/* {p50, p95, p99} of a column, for a tier that has `count` values. */
static struct json *percentile_object(struct ledger_reader *reader, const char *sql,
                                      uint64_t since_wall_ms, struct td_str tier, int64_t count,
                                      struct td_error *err)
{
    struct json *object = json_new_object();
    struct db_statement *statement = reader_prepare_locked(reader, sql, since_wall_ms, err);
    if (statement == NULL)
        return object;
    db_bind_text(statement, 2, tier);
    int64_t position = 0;
    for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
        int64_t rank = (count * percentiles[i].percent + 99) / 100; /* rounded up */
        int code = DB_ROW;
        while (position < rank && (code = db_step(statement)) == DB_ROW)
            position++;
        bool known = count > 0 && code == DB_ROW;
        json_put(object, percentiles[i].name,
                 known ? json_new_double(db_double(statement, 0)) : json_new_null());
        if (code != DB_ROW && code != DB_DONE)
            reader_error_locked(reader, err);
    }
    db_end(statement);
    return object;
}

/* Writes count and mean of the feedback, which are two columns of the row. */
static void put_feedback(struct json *object, struct db_statement *row, int column)
{
    bool some = db_int(row, column) > 0;
    json_put(object, "feedback", json_new_int(db_int(row, column)));
    json_put(object, "score", some ? json_new_double(db_double(row, column + 1)) : json_new_null());
}

static struct json *tier_object(struct ledger_reader *reader, struct db_statement *row,
                                uint64_t since_wall_ms, double exchanges, struct td_error *err)
{
    struct json *object = json_new_object();
    if (object == NULL)
        return NULL;
    json_put(object, "tier", json_new_cstr(db_text(row, 0)));
    json_put(object, "exchanges", json_new_int(db_int(row, 1)));
    double count = db_double(row, 1), low, high;
    ratio_share_interval(count, exchanges, &low, &high);
    json_put(object, "share", json_new_double(count / exchanges));
    json_put(object, "share_low", json_new_double(low));
    json_put(object, "share_high", json_new_double(high));
    json_put(object, "prompt_tokens", json_new_int(db_int(row, 2)));
    json_put(object, "completion_tokens", json_new_int(db_int(row, 3)));
    json_put(object, "cost_usd", json_new_double(db_double(row, 4)));
    put_feedback(object, row, 7);
    static const char *const names[] = {"ttft_ms", "total_ms"};
    for (int i = 0; i < 2; i++)
        json_put(object, names[i],
                 percentile_object(reader, rank_sql[i], since_wall_ms, db_str(row, 0),
                                   db_int(row, 5 + i), err));
    return object;
}

static enum td_status put_tiers(struct ledger_reader *reader, struct json *report,
                                uint64_t since_wall_ms, double exchanges, struct td_error *err)
{
    struct db_statement *statement = reader_prepare_locked(reader, tiers_sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    struct json *tiers = json_new_array();
    int code;
    while (tiers != NULL && (code = db_step(statement)) == DB_ROW)
        json_push(tiers, tier_object(reader, statement, since_wall_ms, exchanges, err));
    if (tiers == NULL)
        error_set(err, TD_NO_MEMORY, "no memory for a report");
    else if (code != DB_DONE)
        reader_error_locked(reader, err);
    db_end(statement);
    json_put(report, "tiers", tiers);
    return err->status;
}

static void put_days(struct json *days, struct db_statement *row, double sums[static 7])
{
    struct json *day = json_new_object();
    double similar = db_double(row, 1), flipped = db_double(row, 2);
    for (int i = 0; i < 7; i++)
        sums[i] += db_double(row, i + 1);
    char iso[25];
    clock_format_iso8601((uint64_t)db_int(row, 0) * 86400000, iso);
    json_put(day, "day", json_new_text((struct td_str){iso, sizeof "2026-11-21" - 1}));
    json_put(day, "similar", json_new_int((int64_t)similar));
    json_put(day, "flipped", json_new_int((int64_t)flipped));
    json_put(day, "flip_rate", similar > 0 ? json_new_double(flipped / similar) : json_new_null());
    json_push(days, day);
}

static enum td_status put_consistency(struct ledger_reader *reader, struct json *report,
                                      uint64_t since_wall_ms, struct td_error *err)
{
    struct db_statement *statement =
        reader_prepare_locked(reader, consistency_sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    struct json *object = json_new_object(), *days = json_new_array();
    double sums[7] = {0};
    int code;
    while ((code = db_step(statement)) == DB_ROW)
        put_days(days, statement, sums);
    if (code != DB_DONE)
        reader_error_locked(reader, err);
    db_end(statement);
    static const char *const names[] = {"similar", "flipped", "turns", "turns_moved", "kept"};
    for (int i = 0; i < 5; i++)
        json_put(object, names[i], json_new_int((int64_t)sums[i]));
    json_put(object, "flip_rate",
             sums[0] > 0 ? json_new_double(sums[1] / sums[0]) : json_new_null());
    json_put(object, "given_up", json_new_double(sums[5]));
    json_put(object, "usd", json_new_double(sums[6]));
    json_put(object, "days", days);
    json_put(report, "consistency", object);
    return err->status;
}

static enum td_status report_locked(struct ledger_reader *reader, struct json *report,
                                    uint64_t since_wall_ms, struct td_error *err)
{
    struct db_statement *statement = reader_prepare_locked(reader, totals_sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    if (db_step(statement) != DB_ROW) {
        enum td_status status = reader_error_locked(reader, err);
        db_end(statement);
        return status;
    }
    double exchanges = db_double(statement, 0);
    json_put(report, "since_wall_ms", json_new_int((int64_t)since_wall_ms));
    json_put(report, "exchanges", json_new_int((int64_t)exchanges));
    json_put(report, "cost_usd", json_new_double(db_double(statement, 1)));
    json_put(report, "escalations", json_new_int(db_int(statement, 3)));
    json_put(report, "failures", json_new_int(db_int(statement, 2)));
    put_feedback(report, statement, 4);
    db_end(statement);
    enum td_status status = money_locked(reader, since_wall_ms, report, err);
    if (status == TD_OK)
        status = put_tiers(reader, report, since_wall_ms, exchanges, err);
    if (status == TD_OK)
        status = put_consistency(reader, report, since_wall_ms, err);
    struct json *shadows = NULL;
    if (status == TD_OK)
        status = shadows_locked(reader, since_wall_ms, &shadows, err);
    json_put(report, "shadows", shadows);
    struct json *reactions = NULL;
    if (status == TD_OK)
        status = reactions_locked(reader, since_wall_ms, &reactions, err);
    json_put(report, "reactions", reactions);
    struct json *keys = NULL;
    if (status == TD_OK)
        status = keys_locked(reader, since_wall_ms, &keys, err);
    json_put(report, "keys", keys);
    return status;
}

enum td_status ledger_reader_report(struct ledger_reader *reader, uint64_t since_wall_ms,
                                    struct json **out, struct td_error *err)
{
    ASSERT(reader != NULL && out != NULL);
    struct td_error own = {0};
    *out = NULL;
    struct json *report = json_new_object();
    if (report == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a report");
    pthread_mutex_lock(&reader->mutex);
    enum td_status status = TD_OK;
    if (!db_begin_read(reader->db))
        status = reader_error_locked(reader, &own);
    if (status == TD_OK)
        status = report_locked(reader, report, since_wall_ms, &own);
    db_rollback(reader->db);
    pthread_mutex_unlock(&reader->mutex);
    if (status != TD_OK) {
        json_free(report);
        return error_set(err, status, "%s", own.message);
    }
    *out = report;
    return TD_OK;
}

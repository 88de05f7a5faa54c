/* The report on money: what whole answers cost beside what the cloud alone would have charged for
 * them, what degraded and missing answers cost, and what each figure rests on.
 *
 * What the client did not get saves nothing, whatever the cloud would have charged. All costs count
 * against the saving: also those of answers that nobody got, and of shadows. */
#include "base/core/error.h"
#include "base/json/json.h"
#include "base/ratio.h"
#include "ledger/report/reader.h"

#include <math.h>
#include <string.h>

/* A row of before it was recorded has its standing from its end. */
#define STANDING                                                                    \
    "coalesce(x.standing, CASE WHEN x.status = 'ok' AND x.degraded THEN 'degraded'" \
    " WHEN x.status = 'ok' THEN 'full' ELSE 'none' END)"
/* One row an exchange: standing, basis, its cost with shadows, and what counts as saved on. */
#define MONEY                                                                          \
    "(SELECT " STANDING " AS standing, coalesce(x.all_cloud_basis, 'older') AS basis," \
    " coalesce(x.cost_usd, 0) AS cost, coalesce(x.all_cloud_cost_usd, 0) AS cloud,"    \
    " (SELECT total(s.cost_usd) FROM shadow s WHERE s.exchange = x.seq) AS shadow"     \
    " FROM exchange x WHERE x.wall_ms >= ?1) AS money"

static const char standings_sql[] = "SELECT standing, count(*), total(cost), total(cloud)"
                                    " FROM " MONEY " GROUP BY standing";
static const char sums_sql[] =
    "SELECT count(*), total(a), total(c), total(a * a), total(a * c), total(c * c), total(shadow),"
    " total(CASE WHEN basis = 'ratio' THEN a END)"
    " FROM (SELECT CASE standing WHEN 'full' THEN cloud ELSE 0 END AS a, cost + shadow AS c,"
    "  shadow, basis FROM " MONEY ") AS sums";
static const char bases_sql[] = "SELECT basis, count(*), total(cloud) FROM " MONEY
                                " WHERE standing = 'full' AND cloud > 0 GROUP BY basis";
static const char estimated_sql[] =
    "SELECT total(a.estimated), total(CASE WHEN a.estimated THEN a.cost_usd END)"
    " FROM attempt a JOIN exchange x ON x.seq = a.exchange WHERE x.wall_ms >= ?1";
/* Rows without a look into the cache, which are most, are not parsed. */
static const char cached_sql[] =
    "SELECT count(*), total(hit), total(saved) FROM (SELECT"
    "  CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.cache') IN ('hit', "
    "'similar') END AS hit,"
    "  CASE WHEN json_valid(x.signals) THEN"
    "   CAST(json_extract(x.signals, '$.cache_saved_usd') AS DOUBLE PRECISION) END AS saved"
    "  FROM exchange x"
    "  WHERE x.wall_ms >= ?1 AND instr(coalesce(x.signals, ''), '\"cache\":') > 0) AS looked";
/* Feedback decides, the newest one; else a review that is still due; else most of the shadows. */
static const char accepted_sql[] =
    "SELECT tier, count(*), total(accepted), total(cost), total(score IS NOT NULL),"
    " total(score IS NULL AND review), total(score IS NULL AND NOT review)"
    " FROM (SELECT tier, cost, score, review,"
    "  CASE WHEN score IS NOT NULL THEN score >= 0.5 WHEN review THEN FALSE ELSE same >= 0.5 END"
    "   AS accepted"
    "  FROM (SELECT x.tier AS tier, coalesce(x.cost_usd, 0) AS cost,"
    "   " NEWEST_SCORE " AS score,"
    "   (SELECT avg(s.same) FROM shadow s WHERE s.exchange = x.seq AND s.agreement IS NOT NULL)"
    "    AS same,"
    "   instr(coalesce(x.reasons, ''), '\"code\":\"review\"') > 0 AS review"
    "   FROM exchange x WHERE x.wall_ms >= ?1) AS each_one) AS judged"
    " WHERE accepted IS NOT NULL GROUP BY tier ORDER BY count(*) DESC, tier NULLS FIRST";

/* Gives each row of a query to a function. */
typedef void row_fn(struct json *into, struct db_statement *row);
static enum td_status each_row(struct ledger_reader *reader, const char *sql,
                               uint64_t since_wall_ms, row_fn *each, struct json *into,
                               struct td_error *err)
{
    struct db_statement *statement = reader_prepare_locked(reader, sql, since_wall_ms, err);
    if (statement == NULL)
        return err->status;
    int code;
    while ((code = db_step(statement)) == DB_ROW)
        each(into, statement);
    if (code != DB_DONE)
        reader_error_locked(reader, err);
    db_end(statement);
    return err->status;
}

static void put_number(struct json *object, const char *name, double value)
{
    json_put(object, name, isfinite(value) ? json_new_double(value) : json_new_null());
}

static void add_standing(struct json *report, struct db_statement *row)
{
    const char *standing = db_text(row, 0);
    double count = db_double(row, 1), cost = db_double(row, 2), cloud = db_double(row, 3);
    if (strcmp(standing, "full") == 0) {
        json_put(report, "answered", json_new_int((int64_t)count));
        put_number(report, "all_cloud_cost_usd", cloud);
    } else if (strcmp(standing, "degraded") == 0) {
        json_put(report, "degraded", json_new_int((int64_t)count));
        put_number(report, "degraded_cost_usd", cost);
        put_number(report, "degraded_all_cloud_cost_usd", cloud);
    } else {
        json_put(report, "unanswered", json_new_int((int64_t)count));
        put_number(report, "unanswered_cost_usd", cost);
    }
}

static void add_basis(struct json *bases, struct db_statement *row)
{
    struct json *object = json_new_object();
    json_put(object, "exchanges", json_new_int(db_int(row, 1)));
    put_number(object, "usd", db_double(row, 2));
    json_put(bases, db_text(row, 0), object);
}

static void add_estimated(struct json *report, struct db_statement *row)
{
    json_put(report, "estimated_attempts", json_new_int((int64_t)db_double(row, 0)));
    put_number(report, "estimated_cost_usd", db_double(row, 1));
}

static void add_cached(struct json *report, struct db_statement *row)
{
    json_put(report, "cache_lookups", json_new_int(db_int(row, 0)));
    json_put(report, "cache_hits", json_new_int((int64_t)db_double(row, 1)));
    put_number(report, "cache_saved_usd", db_double(row, 2));
}

static void add_accepted(struct json *list, struct db_statement *row)
{
    static const char *const sources[] = {"by_feedback", "by_review", "by_shadow"};
    double judged = db_double(row, 1), accepted = db_double(row, 2), cost = db_double(row, 3), low,
           high;
    struct json *object = json_new_object();
    ratio_share_interval(accepted, judged, &low, &high);
    json_put(object, "tier", json_new_cstr(db_text(row, 0)));
    json_put(object, "judged", json_new_int((int64_t)judged));
    for (int i = 0; i < 3; i++)
        json_put(object, sources[i], json_new_int((int64_t)db_double(row, 4 + i)));
    json_put(object, "accepted", json_new_int((int64_t)accepted));
    put_number(object, "share", accepted / judged);
    put_number(object, "share_low", low);
    put_number(object, "share_high", high);
    put_number(object, "cost_usd", cost);
    put_number(object, "cost_per_accepted_usd", accepted > 0 ? cost / accepted : (double)NAN);
    put_number(object, "cost_per_accepted_low", cost / judged / high);
    put_number(object, "cost_per_accepted_high", accepted > 0 ? cost / judged / low : (double)NAN);
    json_push(list, object);
}

/* The same for all tiers together. */
static void put_accepted_total(struct json *report)
{
    const struct json *list = json_get(report, "accepted");
    double cost = 0, accepted = 0;
    for (size_t i = 0; i < json_count(list); i++) {
        cost += json_number(json_get(json_at(list, i), "cost_usd"), 0);
        accepted += json_number(json_get(json_at(list, i), "accepted"), 0);
    }
    put_number(report, "cost_per_accepted_usd", accepted > 0 ? cost / accepted : (double)NAN);
}

/* How far the ratios of tokens may be off, as a share: the worst of what was learnt. */
static double worst_error(const struct json *token_counts)
{
    static const char *const sides[] = {"prompt", "answer"};
    double worst = 0;
    for (size_t i = 0; i < json_count(token_counts); i++)
        for (int side = 0; side < 2; side++) {
            const struct json *ratio = json_get(json_at(token_counts, i), sides[side]);
            double value = json_number(json_get(ratio, "ratio"), 0),
                   high = json_number(json_get(ratio, "high"), value);
            if (value > 0)
                worst = fmax(worst, (high - value) / RATIO_Z95 / value);
        }
    return worst;
}

/* The saving is one minus a ratio of totals. Two errors are independent: which exchanges there
 * were, and how the cloud counts the tokens of what it was not asked. */
static void put_saving(struct json *report, struct db_statement *row)
{
    struct ratio_sums sums = {db_double(row, 0), db_double(row, 1), db_double(row, 2),
                              db_double(row, 3), db_double(row, 4), db_double(row, 5)};
    double paid_share = ratio_value(&sums);
    double counted = sums.x > 0 ? db_double(row, 7) / sums.x : 0;
    double error = hypot(ratio_error(&sums),
                         paid_share * counted * worst_error(json_get(report, "token_counts")));
    put_number(report, "shadow_cost_usd", db_double(row, 6));
    put_number(report, "saving_usd", sums.x - sums.y);
    put_number(report, "saving_share", sums.x > 0 ? 1 - paid_share : 0);
    put_number(report, "saving_low", 1 - paid_share - RATIO_Z95 * error);
    put_number(report, "saving_high", fmin(1 - paid_share + RATIO_Z95 * error, 1));
}

/* Members of exchanges that there were none of. */
static void put_nothing(struct json *report)
{
    static const char *const counts[] = {"answered", "degraded", "unanswered"};
    static const char *const sums[] = {"all_cloud_cost_usd", "degraded_cost_usd",
                                       "degraded_all_cloud_cost_usd", "unanswered_cost_usd"};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_put(report, counts[i], json_new_int(0));
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        json_put(report, sums[i], json_new_double(0));
}

enum td_status money_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                            struct json *report, struct td_error *err)
{
    struct json *bases = json_new_object(), *accepted = json_new_array();
    put_nothing(report);
    json_put(report, "all_cloud_basis", bases);
    json_put(report, "accepted", accepted);
    const struct {
        const char *sql;
        row_fn *each;
        struct json *into;
    } queries[] = {
        {standings_sql, add_standing, report},  {bases_sql, add_basis, bases},
        {estimated_sql, add_estimated, report}, {accepted_sql, add_accepted, accepted},
        {sums_sql, put_saving, report},         {cached_sql, add_cached, report},
    };
    enum td_status status = token_counts_locked(reader, since_wall_ms, report, err);
    for (size_t i = 0; status == TD_OK && i < sizeof queries / sizeof *queries; i++)
        status =
            each_row(reader, queries[i].sql, since_wall_ms, queries[i].each, queries[i].into, err);
    put_accepted_total(report);
    return status;
}

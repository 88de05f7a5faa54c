/* The report by one property of exchanges. Groups beyond the largest hundred are counted together:
 * a ledger may have a million users. */
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/report/reader.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS 86400000
#define GROUPS_MAX 100
#define DAYS_MAX 400 /* a year, and the month before it */

const char *const ledger_by_names[LEDGER_BY_COUNT + 1] = {"app",   "user", "route", "model", "tier",
                                                          "class", "day",  "key",   NULL};

#define KEY_ID "CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.key_id') END"

static const char *const names_sql[LEDGER_BY_COUNT] = {
    "CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.app') END",
    "x.\"user\"",
    "x.route",
    "x.model",
    "x.tier",
    "x.data_class",
    "CAST(x.wall_ms / 86400000 AS TEXT)",
    KEY_ID,
};

/* ?1 since, ?2 the length of a slot, ?3 until, ?4 a tenant or NULL, ?5 a key or NULL. What gives
 * rows must begin with SELECT (db.h). */
#define SCOPE                                                                            \
    "x.wall_ms >= ?1 AND x.wall_ms < ?3 AND (CAST(?4 AS TEXT) IS NULL OR x.tenant = ?4)" \
    " AND (CAST(?5 AS TEXT) IS NULL OR " KEY_ID " = ?5)"
#define ASKED                                                                                     \
    "(SELECT coalesce(%s, '') AS name, (x.wall_ms - ?1) / ?2 AS slot,"                            \
    "  x.place = 'device' AS here, x.status = 'failed' AS failed,"                                \
    "  x.standing = 'degraded' AS degraded, x.prompt_tokens + x.completion_tokens AS tokens,"     \
    "  x.cost_usd AS cost, CASE WHEN x.standing = 'full' THEN x.all_cloud_cost_usd END AS cloud," \
    "  x.total_ms AS took FROM exchange x WHERE " SCOPE ") AS asked"
static const char form_sql[] =
    "SELECT name, slot, count(*), total(here), total(failed), total(degraded), total(tokens),"
    "  total(cost), total(cloud), total(took), count(took)"
    " FROM " ASKED " JOIN (SELECT coalesce(%s, '') AS named, count(*) AS size FROM exchange x"
    "  WHERE " SCOPE " GROUP BY 1 ORDER BY %s DESC, 1 LIMIT %d) AS largest ON name = named"
    " GROUP BY name, slot, size ORDER BY %s, name, slot";

enum { SUM_FIRST = 2, SUMS = 9 }; /* columns: exchanges to count(took) */

/* A group while its rows come. */
struct group {
    struct json *object, *trend;
    double sums[SUMS];
};

static void end_group(struct group *group, struct json *groups)
{
    static const char *const members[SUMS - 2] = {
        "exchanges", "device", "failed", "degraded", "tokens", "cost_usd", "all_cloud_cost_usd"};
    if (!group->object)
        return;
    for (int i = 0; i < 5; i++)
        json_put(group->object, members[i], json_new_int((int64_t)group->sums[i]));
    for (int i = 5; i < SUMS - 2; i++)
        json_put(group->object, members[i], json_new_double(group->sums[i]));
    json_put(group->object, "total_ms",
             group->sums[8] > 0 ? json_new_double(group->sums[7] / group->sums[8])
                                : json_new_null());
    json_put(group->object, "trend", group->trend);
    json_push(groups, group->object);
    *group = (struct group){0};
}

static struct json *name_value(struct td_str name, enum ledger_by by)
{
    uint64_t day;
    char iso[25];
    if (by != LEDGER_BY_DAY || !str_to_u64(name, &day))
        return name.len ? json_new_text(name) : json_new_null();
    clock_format_iso8601(day * DAY_MS, iso);
    return json_new_text((struct td_str){iso, sizeof "2026-11-21" - 1});
}

/* Slots without exchanges are 0. */
static void fill_trend(struct group *group, size_t until)
{
    while (json_count(group->trend) < until)
        json_push(group->trend, json_new_int(0));
}

static double take_rows(struct db_statement *rows, enum ledger_by by, struct json *groups,
                        enum db_step *code)
{
    struct group group = {0};
    char name[256] = "";
    double all = 0;
    while ((*code = db_step(rows)) == DB_ROW) {
        struct td_str is = db_str(rows, 0);
        char cut[sizeof name];
        snprintf(cut, sizeof cut, "%.*s", (int)is.len, is.data);
        if (!group.object || strcmp(cut, name) != 0) {
            fill_trend(&group, group.object ? LEDGER_TREND : 0);
            end_group(&group, groups);
            group.object = json_new_object();
            group.trend = json_new_array();
            memcpy(name, cut, sizeof name);
            json_put(group.object, "name", name_value(str_from(cut), by));
        }
        for (int i = 0; i < SUMS; i++)
            group.sums[i] += db_double(rows, SUM_FIRST + i);
        all += db_double(rows, SUM_FIRST);
        int64_t slot = db_int(rows, 1);
        fill_trend(&group, slot < LEDGER_TREND ? (size_t)slot : LEDGER_TREND - 1);
        if (json_count(group.trend) < LEDGER_TREND)
            json_push(group.trend, json_new_int(db_int(rows, SUM_FIRST)));
    }
    fill_trend(&group, group.object ? LEDGER_TREND : 0);
    end_group(&group, groups);
    return all;
}

/* The sums of all exchanges, in groups or not. Shadows cost, too (money_report.c). */
static const char span_sql[] =
    "SELECT count(*), min(x.wall_ms), total(x.place = 'device'), total(x.cost_usd),"
    "  total(CASE WHEN x.standing = 'full' THEN x.all_cloud_cost_usd END),"
    "  total((SELECT total(s.cost_usd) FROM shadow s WHERE s.exchange = x.seq))"
    " FROM exchange x WHERE " SCOPE;

static struct db_statement *prepare_locked(struct ledger_reader *reader, const char *sql,
                                           const struct ledger_scope *scope, struct td_error *err)
{
    struct db_statement *rows = reader_prepare_locked(reader, sql, scope->since_wall_ms, err);
    if (!rows)
        return NULL;
    uint64_t until = scope->until_wall_ms;
    db_bind_int(rows, 3, until && until < INT64_MAX ? (int64_t)until : INT64_MAX);
    db_bind_borrowed(rows, 4, scope->tenant);
    db_bind_borrowed(rows, 5, scope->key_id);
    return rows;
}

/* Fills since_wall_ms where it is 0: when the first exchange was. */
static enum td_status read_span(struct ledger_reader *reader, struct ledger_scope *scope,
                                struct json *report, struct td_error *err)
{
    static const char *const sums[] = {"cost_usd", "all_cloud_cost_usd", "shadow_cost_usd"};
    struct db_statement *row = prepare_locked(reader, span_sql, scope, err);
    if (!row)
        return err->status;
    enum td_status status = db_step(row) == DB_ROW ? TD_OK : reader_error_locked(reader, err);
    if (status == TD_OK) {
        if (scope->since_wall_ms == 0)
            scope->since_wall_ms = (uint64_t)db_int(row, 1);
        json_put(report, "since_wall_ms", json_new_int((int64_t)scope->since_wall_ms));
        json_put(report, "exchanges", json_new_int(db_int(row, 0)));
        json_put(report, "device", json_new_int((int64_t)db_double(row, 2)));
        for (int i = 0; i < 3; i++)
            json_put(report, sums[i], json_new_double(db_double(row, 3 + i)));
        json_put(report, "saving_usd",
                 json_new_double(db_double(row, 4) - db_double(row, 3) - db_double(row, 5)));
    }
    db_end(row);
    return status;
}

static enum td_status groups_locked(struct ledger_reader *reader, struct ledger_scope scope,
                                    enum ledger_by by, struct json *report, struct td_error *err)
{
    char sql[4096];
    json_put(report, "by", json_new_cstr(ledger_by_names[by]));
    enum td_status status = read_span(reader, &scope, report, err);
    if (status != TD_OK)
        return status;
    uint64_t end_ms = clock_wall_ms(NULL), since_ms = scope.since_wall_ms;
    if (scope.until_wall_ms && scope.until_wall_ms < end_ms)
        end_ms = scope.until_wall_ms;
    /* since is 0 only where there is nothing. */
    uint64_t slot_ms = since_ms && end_ms > since_ms ? (end_ms - since_ms) / LEDGER_TREND + 1 : 1;
    bool day = by == LEDGER_BY_DAY;
    snprintf(sql, sizeof sql, form_sql, names_sql[by], names_sql[by], day ? "1" : "count(*)",
             day ? DAYS_MAX : GROUPS_MAX, day ? "name" : "size DESC");
    struct db_statement *rows = prepare_locked(reader, sql, &scope, err);
    if (!rows)
        return err->status;
    db_bind_int(rows, 2, (int64_t)slot_ms);
    struct json *groups = json_new_array();
    enum db_step code;
    double shown = take_rows(rows, by, groups, &code);
    status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(rows);
    double exchanges = json_number(json_get(report, "exchanges"), 0);
    json_put(report, "slot_ms", json_new_int((int64_t)slot_ms));
    json_put(report, "others", json_new_int((int64_t)(exchanges - shown)));
    json_put(report, "groups", groups);
    return status;
}

enum td_status ledger_reader_groups(struct ledger_reader *reader, const struct ledger_scope *scope,
                                    enum ledger_by by, struct json **out, struct td_error *err)
{
    ASSERT(reader != NULL && scope != NULL && out != NULL && by < LEDGER_BY_COUNT);
    struct td_error own = {0};
    *out = json_new_object();
    pthread_mutex_lock(&reader->mutex);
    enum td_status status = db_begin_read(reader->db)
                                ? groups_locked(reader, *scope, by, *out, &own)
                                : reader_error_locked(reader, &own);
    db_rollback(reader->db);
    pthread_mutex_unlock(&reader->mutex);
    if (status == TD_OK)
        return TD_OK;
    json_free(*out);
    *out = NULL;
    return error_set(err, status, "%s", own.message);
}

/* The report by one property of exchanges. Groups beyond the largest hundred are counted together:
 * a ledger may have a million users. */
#include "base/assertion.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/reader.h"

#include <stdio.h>
#include <string.h>

#define DAY_MS 86400000

const char *const ledger_by_names[LEDGER_BY_COUNT + 1] = {"app",  "user",  "route", "model",
                                                          "tier", "class", "day",   NULL};

static const char *const names_sql[LEDGER_BY_COUNT] = {
    "CASE WHEN json_valid(x.signals) THEN json_extract(x.signals, '$.app') END",
    "x.\"user\"",
    "x.route",
    "x.model",
    "x.tier",
    "x.data_class",
    "CAST(x.wall_ms / 86400000 AS TEXT)",
};

/* ?1 since, ?2 the length of a slot. It begins with SELECT, as what gives rows must (db.h). */
#define ASKED                                                                                     \
    "(SELECT coalesce(%s, '') AS name, (x.wall_ms - ?1) / ?2 AS slot,"                            \
    "  x.place = 'device' AS here, x.status = 'failed' AS failed,"                                \
    "  x.standing = 'degraded' AS degraded, x.prompt_tokens + x.completion_tokens AS tokens,"     \
    "  x.cost_usd AS cost, CASE WHEN x.standing = 'full' THEN x.all_cloud_cost_usd END AS cloud," \
    "  x.total_ms AS took FROM exchange x WHERE x.wall_ms >= ?1) AS asked"
static const char form_sql[] =
    "SELECT name, slot, count(*), total(here), total(failed), total(degraded), total(tokens),"
    "  total(cost), total(cloud), total(took), count(took)"
    " FROM " ASKED " JOIN (SELECT coalesce(%s, '') AS named, count(*) AS size FROM exchange x"
    "  WHERE x.wall_ms >= ?1 GROUP BY 1 ORDER BY %s DESC, 1 LIMIT 100) AS largest ON name = named"
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

/* The number of exchanges since then, and when the first of them was. */
static enum td_status read_span(struct ledger_reader *reader, uint64_t *since_wall_ms,
                                double *exchanges, struct td_error *err)
{
    struct db_statement *row = reader_prepare_locked(
        reader, "SELECT count(*), min(wall_ms) FROM exchange WHERE wall_ms >= ?1", *since_wall_ms,
        err);
    if (!row)
        return err->status;
    enum td_status status = db_step(row) == DB_ROW ? TD_OK : reader_error_locked(reader, err);
    *exchanges = status == TD_OK ? db_double(row, 0) : 0;
    if (status == TD_OK && *since_wall_ms == 0)
        *since_wall_ms = (uint64_t)db_int(row, 1);
    db_end(row);
    return status;
}

static enum td_status groups_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                                    enum ledger_by by, struct json *report, struct td_error *err)
{
    char sql[2048];
    double exchanges = 0;
    enum td_status status = read_span(reader, &since_wall_ms, &exchanges, err);
    if (status != TD_OK)
        return status;
    uint64_t now_ms = clock_wall_ms(NULL);
    uint64_t slot_ms = now_ms > since_wall_ms ? (now_ms - since_wall_ms) / LEDGER_TREND + 1 : 1;
    bool day = by == LEDGER_BY_DAY;
    snprintf(sql, sizeof sql, form_sql, names_sql[by], names_sql[by], day ? "1" : "count(*)",
             day ? "name" : "size DESC");
    struct db_statement *rows = reader_prepare_locked(reader, sql, since_wall_ms, err);
    if (!rows)
        return err->status;
    db_bind_int(rows, 2, (int64_t)slot_ms);
    struct json *groups = json_new_array();
    enum db_step code;
    double shown = take_rows(rows, by, groups, &code);
    status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(rows);
    json_put(report, "by", json_new_cstr(ledger_by_names[by]));
    json_put(report, "since_wall_ms", json_new_int((int64_t)since_wall_ms));
    json_put(report, "slot_ms", json_new_int((int64_t)slot_ms));
    json_put(report, "exchanges", json_new_int((int64_t)exchanges));
    json_put(report, "others", json_new_int((int64_t)(exchanges - shown)));
    json_put(report, "groups", groups);
    return status;
}

enum td_status ledger_reader_groups(struct ledger_reader *reader, uint64_t since_wall_ms,
                                    enum ledger_by by, struct json **out, struct td_error *err)
{
    ASSERT(reader != NULL && out != NULL && by < LEDGER_BY_COUNT);
    struct td_error own = {0};
    *out = json_new_object();
    pthread_mutex_lock(&reader->mutex);
    enum td_status status = db_begin_read(reader->db)
                                ? groups_locked(reader, since_wall_ms, by, *out, &own)
                                : reader_error_locked(reader, &own);
    db_rollback(reader->db);
    pthread_mutex_unlock(&reader->mutex);
    if (status == TD_OK)
        return TD_OK;
    json_free(*out);
    *out = NULL;
    return error_set(err, status, "%s", own.message);
}

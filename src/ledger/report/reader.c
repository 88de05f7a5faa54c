/* Reads exchanges from the database into JSON objects. One table says which column becomes which
 * member and how it is shown, so list and single exchange cannot differ. A reader has one
 * connection and one lock: several threads may share it, one query runs at a time. */
#include "ledger/report/reader.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "ledger/database/database.h"
#include "ledger/database/sealed_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_BYTES_MAX 256

/* Columns in the order of the JSON object's members. The shape says how a value is shown. */
enum shape { TEXT, INTEGER, NUMBER, FLAG, JSON, STORED, COMMENT };

struct column {
    const char *name; /* of the JSON member */
    enum shape shape;
};

#define EXCHANGE_COLUMNS                                                                         \
    "id, wall_ms, tenant, \"user\", route, policy_version, requested_model, tier, model, place," \
    " data_class, status, finish, confidence, prompt_tokens, completion_tokens, ttft_ms,"        \
    " total_ms, cost_usd, all_cloud_cost_usd, all_cloud_basis, standing, degraded, streamed, "   \
    "disclosure, trace_id,"                                                                      \
    " span_id, parent_span_id, request_id"
#define DETAIL_COLUMNS ", signals, reasons, prompt, answer, seq"

static const struct column exchange_columns[] = {
    {"id", TEXT},
    {"wall_ms", INTEGER},
    {"tenant", TEXT},
    {"user", TEXT},
    {"route", TEXT},
    {"policy_version", TEXT},
    {"requested_model", TEXT},
    {"tier", TEXT},
    {"model", TEXT},
    {"place", TEXT},
    {"data_class", TEXT},
    {"status", TEXT},
    {"finish", TEXT},
    {"confidence", NUMBER},
    {"prompt_tokens", INTEGER},
    {"completion_tokens", INTEGER},
    {"ttft_ms", NUMBER},
    {"total_ms", NUMBER},
    {"cost_usd", NUMBER},
    {"all_cloud_cost_usd", NUMBER},
    {"all_cloud_basis", TEXT},
    {"standing", TEXT},
    {"degraded", FLAG},
    {"streamed", FLAG},
    {"disclosure", TEXT},
    {"trace_id", TEXT},
    {"span_id", TEXT},
    {"parent_span_id", TEXT},
    {"request_id", TEXT},
    {"signals", JSON},
    {"reasons", JSON},
    {"prompt", STORED},
    {"answer", STORED},
};
#define DETAIL_COUNT (sizeof exchange_columns / sizeof exchange_columns[0])
#define LIST_COUNT (DETAIL_COUNT - 4)

static const char attempts_sql[] =
    "SELECT tier, model, place, outcome, error, confidence, "
    "prompt_tokens, completion_tokens, cached_tokens, exact, "
    "prompt_estimate, answer_bytes, start_ms,"
    " first_ms, total_ms, cost_usd, estimated, egress_bytes, span_id, model_version"
    " FROM attempt WHERE exchange = ?1 ORDER BY position";
static const struct column attempt_columns[] = {
    {"tier", TEXT},
    {"model", TEXT},
    {"place", TEXT},
    {"outcome", TEXT},
    {"error", TEXT},
    {"confidence", NUMBER},
    {"prompt_tokens", INTEGER},
    {"completion_tokens", INTEGER},
    {"cached_tokens", INTEGER},
    {"exact", FLAG},
    {"prompt_estimate", INTEGER},
    {"answer_bytes", INTEGER},
    {"start_ms", NUMBER},
    {"first_ms", NUMBER},
    {"total_ms", NUMBER},
    {"cost_usd", NUMBER},
    {"estimated", FLAG},
    {"egress_bytes", INTEGER},
    {"span_id", TEXT},
    {"model_version", TEXT},
};

static const char shadows_sql[] =
    "SELECT tier, agreement, same, kind, completion_tokens, total_ms, cost_usd, egress_bytes,"
    " model_version FROM shadow WHERE exchange = ?1 ORDER BY seq";
static const struct column shadow_columns[] = {
    {"tier", TEXT},       {"agreement", NUMBER},          {"same", FLAG},
    {"kind", TEXT},       {"completion_tokens", INTEGER}, {"total_ms", NUMBER},
    {"cost_usd", NUMBER}, {"egress_bytes", INTEGER},      {"model_version", TEXT},
};

static const char reactions_sql[] =
    "SELECT kind, wall_ms FROM reaction WHERE exchange = ?1 ORDER BY seq";
static const struct column reaction_columns[] = {{"kind", TEXT}, {"wall_ms", INTEGER}};

static const char feedback_sql[] =
    "SELECT score, comment, wall_ms FROM feedback WHERE exchange = ?1 ORDER BY seq";
static const struct column feedback_columns[] = {
    {"score", NUMBER}, {"comment", COMMENT}, {"wall_ms", INTEGER}};

enum td_status reader_error_locked(struct ledger_reader *reader, struct td_error *err)
{
    return db_error(reader->db, "ledger", err);
}

struct db_statement *reader_prepare_locked(struct ledger_reader *reader, const char *sql,
                                           uint64_t first, struct td_error *err)
{
    struct db_statement *statement = db_prepare(reader->db, sql);
    if (!statement) {
        reader_error_locked(reader, err);
        return NULL;
    }
    db_bind_int(statement, 1, first > INT64_MAX ? INT64_MAX : (int64_t)first);
    return statement;
}

double reader_number(struct db_statement *row, int column)
{
    return db_is_null(row, column) ? (double)NAN : db_double(row, column);
}

enum td_status ledger_reader_open(const char *path, struct ledger_reader **out,
                                  struct td_error *err)
{
    ASSERT(path != NULL && out != NULL);
    *out = NULL;
    struct ledger_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a ledger reader");
    enum td_status status = database_open_reader(path, &reader->db, err);
    if (status != TD_OK) {
        free(reader);
        return status;
    }
    pthread_mutex_init(&reader->mutex, NULL);
    *out = reader;
    return TD_OK;
}

void ledger_reader_close(struct ledger_reader *reader)
{
    if (reader == NULL)
        return;
    db_close(reader->db);
    pthread_mutex_destroy(&reader->mutex);
    free(reader);
}

void ledger_reader_hurry(struct ledger_reader *reader, uint32_t answer_ms)
{
    db_hurry(reader->db, answer_ms);
}

static struct json *column_value(struct db_statement *row, int i, enum shape shape)
{
    if (db_is_null(row, i))
        return shape == STORED ? NULL : json_new_null();
    struct json *value = NULL;
    switch (shape) {
    case INTEGER:
        return json_new_int(db_int(row, i));
    case NUMBER:
        return json_new_double(db_double(row, i));
    case FLAG:
        return json_new_bool(db_int(row, i) != 0);
    case JSON: /* text that is not JSON is shown as text */
        if (json_parse(db_str(row, i), &value, NULL) == TD_OK)
            return value;
        return json_new_text(db_str(row, i));
    default:
        return json_new_text(db_str(row, i));
    }
}

/* A text that does not open is not there, and the exchange says why. */
static struct json *stored_value(struct db_statement *row, int i, struct json *exchange)
{
    const char *id = json_cstr(json_get(exchange, "id"));
    struct td_error why = {0};
    struct buf text;
    buf_init(&text, SEALED_TEXT_BYTES_MAX);
    struct json *value = NULL;
    if (sealed_text_open(id ? id : "", db_str(row, i), &text, &why) == TD_OK)
        value = json_new_text(buf_view(&text));
    else
        json_put(exchange, "texts_closed", json_new_cstr(why.message));
    buf_deinit(&text);
    return value;
}

/* exchange: to which the row belongs; NULL = it is one. */
static struct json *row_object(struct db_statement *row, const struct column *columns, size_t count,
                               struct json *exchange)
{
    struct json *object = json_new_object();
    for (size_t i = 0; object != NULL && i < count; i++) {
        bool stored = columns[i].shape == STORED || columns[i].shape == COMMENT;
        json_put(object, columns[i].name,
                 stored && !db_is_null(row, (int)i)
                     ? stored_value(row, (int)i, exchange ? exchange : object)
                     : column_value(row, (int)i, columns[i].shape));
        if (strcmp(columns[i].name, "wall_ms") == 0) {
            char iso[25];
            clock_format_iso8601((uint64_t)db_int(row, (int)i), iso);
            json_put(object, "time", json_new_cstr(iso));
        }
    }
    return object;
}

/* Rows of another table that belong to the exchange, shown as its member `name`. */
struct belongings {
    const char *name, *sql;
    const struct column *columns;
    size_t column_count;
};
static const struct belongings belongings[] = {
    {"attempts", attempts_sql, attempt_columns, sizeof attempt_columns / sizeof *attempt_columns},
    {"shadows", shadows_sql, shadow_columns, sizeof shadow_columns / sizeof *shadow_columns},
    {"reactions", reactions_sql, reaction_columns,
     sizeof reaction_columns / sizeof *reaction_columns},
    {"feedback", feedback_sql, feedback_columns,
     sizeof feedback_columns / sizeof *feedback_columns},
};
#define BELONGINGS (sizeof belongings / sizeof *belongings)
#define SHOWN (BELONGINGS - 1) /* of one exchange: without its feedback */

static enum td_status add_belongings(struct ledger_reader *reader, const struct belongings *what,
                                     struct json *exchange, int64_t seq, struct td_error *err)
{
    struct db_statement *statement = reader_prepare_locked(reader, what->sql, (uint64_t)seq, err);
    if (statement == NULL)
        return err ? err->status : TD_IO;
    struct json *rows = json_new_array();
    int code;
    while ((code = db_step(statement)) == DB_ROW && rows != NULL)
        json_push(rows, row_object(statement, what->columns, what->column_count, exchange));
    enum td_status status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(statement);
    json_put(exchange, what->name, rows);
    return status;
}

/* Rows of exchanges, of one tenant's only unless it is NULL (?3). */
static struct db_statement *prepare_rows(struct ledger_reader *reader, const char *tenant,
                                         const char *more_columns, const char *where,
                                         const char *order)
{
    char sql[1024];
    snprintf(sql, sizeof sql, "SELECT " EXCHANGE_COLUMNS "%s FROM exchange WHERE %s%s ORDER BY %s",
             more_columns, where, tenant ? " AND tenant = ?3" : "", order);
    struct db_statement *statement = db_prepare(reader->db, sql);
    if (statement && tenant)
        db_bind_text(statement, 3, str_from(tenant));
    return statement;
}

/* Prepares the search for an id: the exact one, or the first two that begin with it. */
static struct db_statement *prepare_find(struct ledger_reader *reader, const char *tenant,
                                         const char *id)
{
    if (strcmp(id, "last") == 0)
        return prepare_rows(reader, tenant, DETAIL_COLUMNS, "1 = 1",
                            "wall_ms DESC, seq DESC LIMIT 1");
    struct db_statement *statement =
        prepare_rows(reader, tenant, DETAIL_COLUMNS, "id >= ?1 AND id < ?2", "id LIMIT 2");
    if (!statement)
        return NULL;
    /* Ids compare as bytes, so those that begin with the prefix sort before the prefix and the last
     * character that there is. */
    char upper[ID_BYTES_MAX + 5];
    int len = snprintf(upper, sizeof upper, "%s\xf4\x8f\xbf\xbf", id);
    db_bind_text(statement, 1, str_from(id));
    db_bind_text(statement, 2, (struct td_str){upper, (size_t)len});
    return statement;
}

/* The same for the newest exchange of a trace, or of a request id. */
static struct db_statement *prepare_find_named(struct ledger_reader *reader, const char *tenant,
                                               const char *name)
{
    struct db_statement *statement = prepare_rows(
        reader, tenant, DETAIL_COLUMNS, "(trace_id = ?1 OR request_id = ?1)", "seq DESC LIMIT 1");
    if (statement)
        db_bind_text(statement, 1, str_from(name));
    return statement;
}

/* What else happened in the exchange's trace. */
static enum td_status add_same_trace(struct ledger_reader *reader, const char *tenant,
                                     struct json *exchange, int64_t seq, struct td_error *err)
{
    static const char sql[] =
        "SELECT y.id FROM exchange x JOIN exchange y"
        " ON y.trace_id = x.trace_id AND y.seq <> x.seq WHERE x.seq = ?1"
        " AND (CAST(?2 AS TEXT) IS NULL OR y.tenant = ?2) ORDER BY y.seq DESC LIMIT 20";
    struct db_statement *statement = reader_prepare_locked(reader, sql, (uint64_t)seq, err);
    if (statement == NULL)
        return err ? err->status : TD_IO;
    db_bind_borrowed(statement, 2, tenant);
    struct json *ids = json_new_array();
    int code;
    while ((code = db_step(statement)) == DB_ROW && ids != NULL)
        json_push(ids, json_new_text(db_str(statement, 0)));
    enum td_status status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
    db_end(statement);
    json_put(exchange, "same_trace", ids);
    return status;
}

void ledger_name_exchange(char *id)
{
    static const char *const answers[] = {"chatcmpl-", "cmpl-", "msg_", "resp_"};
    const size_t len = strlen(id);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const size_t skip = strlen(answers[i]);
        if (strncmp(id, answers[i], skip) != 0 || len - skip != 24 ||
            strspn(id + skip, "0123456789abcdef") != 24)
            continue;
        memcpy(id, "ex_", 3);
        memmove(id + 3, id + skip, 25);
        return;
    }
}

static enum td_status find_locked(struct ledger_reader *reader, const char *tenant, const char *id,
                                  struct json **out, struct td_error *err)
{
    char name[ID_BYTES_MAX + 1];
    snprintf(name, sizeof name, "%s", id);
    ledger_name_exchange(name);
    struct db_statement *statement = prepare_find(reader, tenant, name);
    int code = statement ? db_step(statement) : DB_FAILED;
    if (code == DB_DONE && strcmp(id, "last") != 0) {
        db_end(statement);
        statement = prepare_find_named(reader, tenant, id);
        code = statement ? db_step(statement) : DB_FAILED;
    }
    if (statement == NULL)
        return reader_error_locked(reader, err);
    enum td_status status = TD_OK;
    if (code == DB_DONE) {
        status = strcmp(id, "last") == 0
                     ? error_set(err, TD_NOT_FOUND, "no exchange in the ledger yet")
                     : error_set(err, TD_NOT_FOUND, "no exchange %s in the ledger", id);
    } else if (code != DB_ROW) {
        status = reader_error_locked(reader, err);
    } else {
        *out = row_object(statement, exchange_columns, DETAIL_COUNT, NULL);
        int64_t seq = db_int(statement, DETAIL_COUNT);
        bool exact = strcmp(name, db_text(statement, 0)) == 0;
        code = exact ? DB_DONE : db_step(statement); /* whether there is another */
        if (*out == NULL)
            status = error_set(err, TD_NO_MEMORY, "no memory for exchange %s", id);
        else if (code == DB_ROW)
            status = error_set(err, TD_INVALID,
                               "several exchanges begin with %s; give more characters", id);
        else if (code != DB_DONE)
            status = reader_error_locked(reader, err);
        for (size_t i = 0; status == TD_OK && i < SHOWN; i++)
            status = add_belongings(reader, &belongings[i], *out, seq, err);
        if (status == TD_OK)
            status = add_same_trace(reader, tenant, *out, seq, err);
    }
    db_end(statement);
    return status;
}

static enum td_status each_locked(struct ledger_reader *reader, uint64_t since_wall_ms,
                                  ledger_exchange_fn *each, void *ctx, struct td_error *err)
{
    struct db_statement *row = prepare_rows(reader, NULL, DETAIL_COLUMNS, "wall_ms >= ?1", "seq");
    enum td_status status = row ? TD_OK : reader_error_locked(reader, err);
    enum db_step code = DB_DONE;
    if (row)
        db_bind_int(row, 1, since_wall_ms > INT64_MAX ? INT64_MAX : (int64_t)since_wall_ms);
    while (status == TD_OK && (code = db_step(row)) == DB_ROW) {
        struct json *exchange = row_object(row, exchange_columns, DETAIL_COUNT, NULL);
        int64_t seq = db_int(row, DETAIL_COUNT);
        for (size_t i = 0; status == TD_OK && i < BELONGINGS; i++)
            status = add_belongings(reader, &belongings[i], exchange, seq, err);
        if (status == TD_OK)
            status = each(ctx, exchange, err);
        json_free(exchange);
    }
    if (status == TD_OK && code == DB_FAILED)
        status = reader_error_locked(reader, err);
    db_end(row);
    return status;
}

enum td_status ledger_reader_each(struct ledger_reader *reader, uint64_t since_wall_ms,
                                  ledger_exchange_fn *each, void *ctx, struct td_error *err)
{
    struct td_error own = {0};
    pthread_mutex_lock(&reader->mutex);
    enum td_status status = db_begin_read(reader->db)
                                ? each_locked(reader, since_wall_ms, each, ctx, &own)
                                : reader_error_locked(reader, &own);
    db_rollback(reader->db);
    pthread_mutex_unlock(&reader->mutex);
    return status == TD_OK ? TD_OK : error_set(err, status, "%s", own.message);
}

enum td_status ledger_reader_find(struct ledger_reader *reader, const char *tenant, const char *id,
                                  struct json **out, struct td_error *err)
{
    ASSERT(reader != NULL && id != NULL && out != NULL);
    *out = NULL;
    size_t len = strlen(id);
    if (len == 0 || len > ID_BYTES_MAX)
        return error_set(err, TD_INVALID, "an exchange id has 1 to %d characters", ID_BYTES_MAX);
    pthread_mutex_lock(&reader->mutex);
    enum td_status status = find_locked(reader, tenant, id, out, err);
    pthread_mutex_unlock(&reader->mutex);
    if (status != TD_OK) {
        json_free(*out);
        *out = NULL;
    }
    return status;
}

static const char wanted_sql[] = "wall_ms >= ?1"
                                 " AND (CAST(?4 AS TEXT) IS NULL OR tier = ?4)"
                                 " AND (CAST(?5 AS TEXT) IS NULL OR route = ?5)"
                                 " AND (CAST(?6 AS TEXT) IS NULL OR data_class = ?6)";

static struct db_statement *prepare_list(struct ledger_reader *reader,
                                         const struct ledger_wanted *wanted)
{
    char where[sizeof wanted_sql + 16];
    snprintf(where, sizeof where, "%s%s", wanted_sql, wanted->degraded ? " AND degraded" : "");
    struct db_statement *statement =
        prepare_rows(reader, wanted->tenant, "", where, "wall_ms DESC, seq DESC LIMIT ?2");
    uint64_t since = wanted->since_wall_ms;
    if (!statement)
        return NULL;
    db_bind_int(statement, 1, since > INT64_MAX ? INT64_MAX : (int64_t)since);
    db_bind_int(statement, 2, wanted->limit > INT32_MAX ? INT32_MAX : (int64_t)wanted->limit);
    db_bind_borrowed(statement, 4, wanted->tier);
    db_bind_borrowed(statement, 5, wanted->route);
    db_bind_borrowed(statement, 6, wanted->data_class);
    return statement;
}

enum td_status ledger_reader_list(struct ledger_reader *reader, const struct ledger_wanted *wanted,
                                  struct json **out, struct td_error *err)
{
    ASSERT(reader != NULL && wanted != NULL && out != NULL);
    *out = NULL;
    struct json *list = json_new_array();
    if (list == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a list of exchanges");
    enum td_status status = TD_IO;
    pthread_mutex_lock(&reader->mutex);
    struct db_statement *statement = prepare_list(reader, wanted);
    if (statement == NULL) {
        reader_error_locked(reader, err);
    } else {
        int code;
        while ((code = db_step(statement)) == DB_ROW)
            json_push(list, row_object(statement, exchange_columns, LIST_COUNT, NULL));
        status = code == DB_DONE ? TD_OK : reader_error_locked(reader, err);
        db_end(statement);
    }
    pthread_mutex_unlock(&reader->mutex);
    if (status == TD_OK)
        *out = list;
    else
        json_free(list);
    return status;
}

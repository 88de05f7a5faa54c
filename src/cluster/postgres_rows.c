/* A statement on PostgreSQL: its values as text, and its rows through a cursor. */
#include "cluster/postgres_internal.h"

#include "base/core/error.h"
#include "base/core/str.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FETCH_ROWS "256"
#define SQL_BYTES_MAX 65536
#define VALUE_BYTES_MAX (64u << 20)

static struct statement *statement_of(struct db_statement *base)
{
    return (struct statement *)base;
}

struct db_statement *postgres_prepare(struct db *base, const char *sql)
{
    struct postgres *db = (struct postgres *)base;
    struct statement *s = calloc(1, sizeof *s);
    struct buf text;
    buf_init(&text, SQL_BYTES_MAX);
    if (s && postgres_sql_write(sql, &s->parameters, &text))
        s->sql = buf_take(&text);
    buf_deinit(&text);
    if (!s || !s->sql) {
        free(s);
        postgres_fail(db, TD_NO_MEMORY, "no memory for a statement");
        return NULL;
    }
    s->base.driver = base->driver;
    s->db = db;
    for (int i = 0; i < PQ_VALUES_MAX; i++)
        buf_init(&s->values[i], VALUE_BYTES_MAX);
    return &s->base;
}

/* --- values --- */

/* NULL for a parameter that the statement does not have. */
static struct buf *place_of(struct statement *s, int index, bool bound)
{
    int of = index >= 1 && index <= PQ_VALUES_MAX ? s->parameters.of[index] : 0;
    if (of == 0)
        return NULL;
    s->bound[of - 1] = bound;
    buf_clear(&s->values[of - 1]);
    return &s->values[of - 1];
}

void postgres_bind_null(struct db_statement *base, int index)
{
    (void)place_of(statement_of(base), index, false);
}

void postgres_bind_int(struct db_statement *base, int index, int64_t value)
{
    struct buf *place = place_of(statement_of(base), index, true);
    if (place)
        buf_printf(place, "%lld", (long long)value);
}

void postgres_bind_double(struct db_statement *base, int index, double value)
{
    struct buf *place = place_of(statement_of(base), index, true);
    if (place)
        buf_printf(place, "%.17g", value);
}

void postgres_bind_text(struct db_statement *base, int index, struct td_str text, bool copy)
{
    (void)copy; /* always */
    struct buf *place = place_of(statement_of(base), index, true);
    if (place)
        postgres_sql_text(text, place);
}

/* False when a value was too large. */
static bool values_of(struct statement *s, const char *values[PQ_VALUES_MAX])
{
    for (int i = 0; i < s->parameters.count; i++) {
        if (s->bound[i] && s->values[i].failed)
            return postgres_fail(s->db, TD_LIMIT, "a value is too large");
        values[i] = !s->bound[i] ? NULL : s->values[i].len ? s->values[i].data : "";
    }
    return true;
}

/* --- running --- */

enum td_status postgres_run(struct db_statement *base, bool must_change)
{
    struct statement *s = statement_of(base);
    const char *values[PQ_VALUES_MAX];
    size_t bytes = 0;
    if (!values_of(s, values))
        return TD_LIMIT;
    for (int i = 0; i < s->parameters.count; i++)
        bytes += values[i] ? strlen(values[i]) + 1 : 0;
    struct item *item = malloc(sizeof *item + bytes);
    if (!item) {
        postgres_fail(s->db, TD_NO_MEMORY, "no memory for a record");
        return TD_NO_MEMORY;
    }
    *item = (struct item){.sql = s->sql, .must_change = must_change, .count = s->parameters.count};
    char *at = item->texts;
    for (int i = 0; i < item->count; i++) {
        size_t len = values[i] ? strlen(values[i]) + 1 : 0;
        item->values[i] = values[i] ? memcpy(at, values[i], len) : NULL;
        at += len;
    }
    postgres_add_item(s->db, item);
    return TD_OK;
}

static bool send_values(struct statement *s, const char *sql, struct pq_rows **rows)
{
    struct pq_statement statement = {.sql = sql, .count = s->parameters.count};
    return values_of(s, statement.values) &&
           postgres_ended(s->db, pq_run(s->db->pq, &statement, s->db->answer_ms, rows));
}

static bool send_plain(struct postgres *db, const char *sql, struct pq_rows **rows)
{
    const struct pq_statement statement = {.sql = sql};
    return postgres_ended(db, pq_run(db->pq, &statement, db->answer_ms, rows));
}

/* Rows that were not asked for in a transaction are read in one of their own, which the last cursor
 * ends. */
static bool open_cursor(struct statement *s)
{
    struct postgres *db = s->db;
    struct buf sql;
    if (db->transaction == NONE)
        db->transaction = FOR_A_CURSOR;
    db->cursors++;
    s->opened = true;
    snprintf(s->cursor, sizeof s->cursor, "c%u", db->cursors_made++);
    if (!postgres_begin_on_server(db))
        return false;
    buf_init(&sql, SQL_BYTES_MAX + 64);
    buf_printf(&sql, "DECLARE %s NO SCROLL CURSOR FOR %s", s->cursor, s->sql);
    bool done = !sql.failed && send_values(s, sql.data, NULL);
    buf_deinit(&sql);
    return done;
}

static bool fetch(struct statement *s)
{
    char sql[64];
    pq_rows_free(s->rows);
    s->rows = NULL;
    s->row = 0;
    snprintf(sql, sizeof sql, "FETCH " FETCH_ROWS " FROM %s", s->cursor);
    if (!s->db->pq || s->db->broken || !send_plain(s->db, sql, &s->rows))
        return false;
    s->last_rows = pq_rows_count(s->rows) < atoi(FETCH_ROWS);
    return true;
}

static enum db_step step_change(struct statement *s)
{
    struct pq_rows *rows = NULL;
    bool done = (s->db->transaction == NONE ? postgres_connected(s->db)
                                            : postgres_begin_on_server(s->db)) &&
                send_values(s, s->sql, &rows);
    s->db->changes = pq_rows_changed(rows);
    pq_rows_free(rows);
    return done ? DB_DONE : DB_FAILED;
}

/* Of a database beside the ledger, whose rows are few. */
static bool read_whole(struct statement *s)
{
    bool ready =
        s->db->transaction == NONE ? postgres_connected(s->db) : postgres_begin_on_server(s->db);
    s->row = 0;
    s->last_rows = true;
    return ready && send_values(s, s->sql, &s->rows);
}

enum db_step postgres_step(struct db_statement *base)
{
    struct statement *s = statement_of(base);
    if (strncmp(s->sql, "SELECT", 6) != 0)
        return step_change(s);
    if (s->db->whole ? !s->rows && !read_whole(s) : !s->opened && (!open_cursor(s) || !fetch(s)))
        return DB_FAILED;
    s->row++;
    if (s->row > pq_rows_count(s->rows) && !s->last_rows) {
        if (!fetch(s))
            return DB_FAILED;
        s->row = 1;
    }
    return s->row <= pq_rows_count(s->rows) ? DB_ROW : DB_DONE;
}

static void close_cursor(struct statement *s)
{
    struct postgres *db = s->db;
    char sql[32];
    db->cursors--;
    bool last = db->transaction == FOR_A_CURSOR && db->cursors == 0;
    if (last)
        db->transaction = NONE;
    snprintf(sql, sizeof sql, "CLOSE %s", s->cursor);
    if (db->pq && db->begun && (last || !db->broken))
        (void)send_plain(db, last ? "ROLLBACK" : sql, NULL);
    if (last)
        db->begun = db->broken = false;
}

void postgres_end(struct db_statement *base)
{
    struct statement *s = statement_of(base);
    if (s->opened)
        close_cursor(s);
    pq_rows_free(s->rows);
    for (int i = 0; i < PQ_VALUES_MAX; i++)
        buf_deinit(&s->values[i]);
    free(s->sql);
    free(s);
}

/* --- columns --- */

struct td_str postgres_str(struct db_statement *base, int column)
{
    struct statement *s = statement_of(base);
    return pq_rows_value(s->rows, s->row - 1, column);
}

bool postgres_is_null(struct db_statement *base, int column)
{
    return postgres_str(base, column).data == NULL;
}

double postgres_number(struct db_statement *base, int column)
{
    struct td_str text = postgres_str(base, column);
    if (!text.data)
        return 0;
    return text.data[0] == 't' ? 1 : strtod(text.data, NULL); /* a flag is t or f */
}

int64_t postgres_integer(struct db_statement *base, int column)
{
    struct td_str text = postgres_str(base, column);
    int64_t value;
    if (str_to_i64(text, &value))
        return value;
    double number = postgres_number(base, column);
    return number >= 0x1p63 ? INT64_MAX : number <= -0x1p63 ? INT64_MIN : (int64_t)number;
}

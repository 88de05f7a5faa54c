/* The row's lock orders the nodes: what one has read it writes before another reads. */
#include "ledger/store/shared_text.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "ledger/database/small_database.h"

#include <stdlib.h>
#include <string.h>

struct shared_text {
    struct db *db;
    char *name;
};

enum td_status shared_text_open(const char *url, const char *name, struct shared_text **out,
                                struct td_error *err)
{
    *out = NULL;
    struct shared_text *text = calloc(1, sizeof *text);
    if (!text || !(text->name = strdup(name))) {
        free(text);
        return error_set(err, TD_NO_MEMORY, "no memory for %s", name);
    }
    enum td_status status = small_database_open(url, "", 0, &text->db, err);
    if (status == TD_OK)
        *out = text;
    else
        shared_text_close(text);
    return status;
}

void shared_text_close(struct shared_text *text)
{
    if (!text)
        return;
    db_close(text->db);
    free(text->name);
    free(text);
}

int64_t shared_text_version(struct shared_text *text)
{
    return small_database_number(
        small_database_prepare(text->db, "SELECT version FROM shared_text WHERE name = ?1", "t",
                               text->name),
        -1);
}

static enum td_status read_row(struct shared_text *text, const char *sql, struct buf *out,
                               int64_t *version, struct td_error *err)
{
    struct db_statement *row = small_database_prepare(text->db, sql, "t", text->name);
    enum db_step code = row ? db_step(row) : DB_FAILED;
    enum td_status status = TD_OK;
    if (code == DB_ROW) {
        *version = db_int(row, 0);
        buf_append_str(out, db_str(row, 1));
        if (out->failed)
            status = error_set(err, TD_NO_MEMORY, "no memory for %s", text->name);
    } else if (code == DB_DONE) {
        status = error_set(err, TD_CORRUPT, "the database has no row for %s", text->name);
    } else {
        status = db_error(text->db, text->name, err);
    }
    db_end(row);
    return status;
}

enum td_status shared_text_read(struct shared_text *text, struct buf *out, int64_t *version,
                                struct td_error *err)
{
    return read_row(text, "SELECT version, text FROM shared_text WHERE name = ?1", out, version,
                    err);
}

enum td_status shared_text_begin(struct shared_text *text, struct buf *out, int64_t *version,
                                 struct td_error *err)
{
    if (!db_begin(text->db))
        return db_error(text->db, text->name, err);
    enum td_status status =
        read_row(text, "SELECT version, text FROM shared_text WHERE name = ?1 FOR UPDATE", out,
                 version, err);
    if (status != TD_OK)
        db_rollback(text->db);
    return status;
}

enum td_status shared_text_end(struct shared_text *text, struct td_str with, int64_t *version,
                               struct td_error *err)
{
    enum td_status status = TD_OK;
    if (!with.data) {
        db_rollback(text->db);
        return TD_OK;
    }
    struct db_statement *statement = small_database_prepare(
        text->db, "UPDATE shared_text SET text = ?2, version = version + 1 WHERE name = ?1", "ts",
        text->name, with);
    if (!statement || db_step(statement) != DB_DONE)
        status = db_error(text->db, text->name, err);
    db_end(statement);
    status = small_database_end(text->db, text->name, status, err);
    *version += status == TD_OK;
    return status;
}

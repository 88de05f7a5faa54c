/* What the files of the twin on PostgreSQL share: a connection, its statements, and what is to be
 * committed. For postgres.c, postgres_commit.c and postgres_rows.c alone. */
#ifndef CLUSTER_POSTGRES_INTERNAL_H
#define CLUSTER_POSTGRES_INTERNAL_H

#include "base/bytes/buf.h"
#include "cluster/postgres_sql.h"
#include "cluster/pq.h"
#include "cluster/waiting.h"
#include "ledger/database/db_driver.h"

#include <stdatomic.h>

/* A command has the time that its question takes; others say less (db_hurry). */
#define POSTGRES_READ_MS 600000

enum transaction { NONE, FOR_A_CURSOR, READING, WRITING };

struct item {
    struct item *next;
    const char *sql;
    bool must_change;
    int count;
    const char *values[PQ_VALUES_MAX];
    char texts[];
};

struct postgres {
    struct db base; /* first */
    char *url;
    bool writes;
    bool whole; /* rows are read at once, without a cursor */
    struct pq *pq;
    double retry_ms;    /* not before */
    uint32_t answer_ms; /* that a statement may take */
    enum transaction transaction;
    bool begun, broken; /* on the server; and of no use any more */
    uint32_t cursors, cursors_made;
    uint64_t changes;
    struct item *first, **last; /* to be committed */
    size_t item_count;
    struct waiting *_Atomic waiting;
    atomic_bool away;
    enum td_status status;
    char message[TD_ERROR_BYTES];
};

struct statement {
    struct db_statement base; /* first */
    struct postgres *db;
    char *sql;
    char cursor[16];
    struct postgres_parameters parameters;
    struct buf values[PQ_VALUES_MAX];
    bool bound[PQ_VALUES_MAX];
    struct pq_rows *rows;
    int row;
    bool opened, last_rows;
};

/* False, with what db_status and db_message say from then on. */
bool postgres_fail(struct postgres *db, enum td_status status, const char *message);
/* The same for the end of a call. A connection that gave no answer is given up. */
bool postgres_ended(struct postgres *db, enum pq_end end);
/* Whether there is a connection. Without one it is tried, once a second. */
bool postgres_connected(struct postgres *db);
/* Whether a transaction is open on the server; opens it. */
bool postgres_begin_on_server(struct postgres *db);

/* --- postgres_commit.c --- */

/* Where statements wait; NULL = nowhere. **borrows** for the life of the process. */
void postgres_set_waiting(const char *path);
/* Keeps a statement for the commit. **takes** the item. */
void postgres_add_item(struct postgres *db, struct item *item);
void postgres_drop_items(struct postgres *db);
bool postgres_commit(struct db *base, size_t *refused);
bool postgres_catch_up(struct db *base);
bool postgres_is_away(struct db *base, uint64_t *waiting);

/* --- postgres_rows.c: the calls of db_driver.h for a statement --- */

struct db_statement *postgres_prepare(struct db *base, const char *sql);
void postgres_end(struct db_statement *base);
void postgres_bind_null(struct db_statement *base, int index);
void postgres_bind_int(struct db_statement *base, int index, int64_t value);
void postgres_bind_double(struct db_statement *base, int index, double value);
void postgres_bind_text(struct db_statement *base, int index, struct td_str text, bool copy);
enum db_step postgres_step(struct db_statement *base);
enum td_status postgres_run(struct db_statement *base, bool must_change);
bool postgres_is_null(struct db_statement *base, int column);
int64_t postgres_integer(struct db_statement *base, int column);
double postgres_number(struct db_statement *base, int column);
struct td_str postgres_str(struct db_statement *base, int column);

#endif

/* PostgreSQL's client library with deadlines: no call waits longer than it is told to, whatever has
 * become of the server. No libpq type leaves pq.c. One thread at a time for each connection. */
#ifndef CLUSTER_PQ_H
#define CLUSTER_PQ_H

#include "tandem/types.h"

struct pq;
struct pq_rows;

/* How a call ended. */
enum pq_end {
    PQ_DONE,
    PQ_REFUSED, /* the server will never accept these values */
    PQ_FAILED,  /* the server said no: the statement, the rights, a conflict */
    PQ_AWAY,    /* no answer: the connection is of no use any more */
};

#define PQ_VALUES_MAX 48
struct pq_statement {
    const char *sql; /* with $1, $2, ... */
    int count;
    const char *values[PQ_VALUES_MAX]; /* as text; NULL is NULL */
};

/* Whether a name is a connection URL that may stand in a configuration: one without a password. */
TD_MUST_CHECK enum td_status pq_check_url(const char *url, struct td_error *err);
/* TD_UNAVAILABLE: nobody answers, or the server is only starting. Anything else: it does not let us
 * in. **returns new** (pq_close). */
TD_MUST_CHECK enum td_status pq_open(const char *url, uint32_t timeout_ms, struct pq **out,
                                     struct td_error *err);
void pq_close(struct pq *pq); /* accepts NULL */
/* False: the server has ended the connection meanwhile. Asks nobody. Between two calls. */
bool pq_is_open(struct pq *pq);
/* What the server, or the library, said last; one line. */
const char *pq_message(const struct pq *pq);

/* One statement. *rows: **returns new** (pq_rows_free); may be NULL. */
enum pq_end pq_run(struct pq *pq, const struct pq_statement *statement, uint32_t timeout_ms,
                   struct pq_rows **rows);
/* Several statements without values, separated by semicolons. */
enum pq_end pq_script(struct pq *pq, const char *sql, uint32_t timeout_ms);
/* All in one transaction and one round trip; what a connection sees again and again is prepared.
 * changes[i]: rows that statement i changed. After PQ_REFUSED or PQ_FAILED *at is the statement
 * that the server did not accept; nothing is done then. */
enum pq_end pq_transaction(struct pq *pq, const struct pq_statement *statements, size_t count,
                           uint32_t timeout_ms, uint64_t *changes, size_t *at);

/* Accept NULL, which has no rows. */
int pq_rows_count(const struct pq_rows *rows);
uint64_t pq_rows_changed(const struct pq_rows *rows);
/* {NULL, 0} for NULL; NUL-terminated. */
struct td_str pq_rows_value(const struct pq_rows *rows, int row, int column);
void pq_rows_free(struct pq_rows *rows);

#endif

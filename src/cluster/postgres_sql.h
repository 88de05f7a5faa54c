/* A statement of the ledger as PostgreSQL wants it. For postgres.c. No state; any thread. */
#ifndef CLUSTER_POSTGRES_SQL_H
#define CLUSTER_POSTGRES_SQL_H

#include "base/bytes/buf.h"
#include "cluster/pq.h"

/* Which of the ledger's parameters is which of the server's: PostgreSQL wants $1, $2, ... without a
 * gap. of[i]: the number of ?i, 0 where the statement has none. */
struct postgres_parameters {
    int count;
    int of[PQ_VALUES_MAX + 1];
};

/* Writes ?1 and ? as $1. False: there are more than PQ_VALUES_MAX, or the buffer has failed. */
TD_MUST_CHECK bool postgres_sql_write(const char *sql, struct postgres_parameters *parameters,
                                      struct buf *out);
/* A text that the server takes: valid UTF-8 without NUL; what is not becomes U+FFFD. */
void postgres_sql_text(struct td_str text, struct buf *out);

#endif

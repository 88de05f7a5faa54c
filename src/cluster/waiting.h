/* Statements that wait on the disk while their database is away: a file of lines, each a JSON array
 * of a statement and its values. One thread; the counts are for any.
 *
 * What is appended is on the disk (fdatasync) when it returns. A line that a crash has cut is
 * dropped at the next opening. What was sent is forgotten when all is sent, so after a crash lines
 * may be sent twice: they must be statements that do no harm then. */
#ifndef CLUSTER_WAITING_H
#define CLUSTER_WAITING_H

#include "base/json/json.h"
#include "tandem/types.h"

struct waiting;

/* Opens or creates the file (0600). **returns new** (waiting_close). */
TD_MUST_CHECK enum td_status waiting_open(const char *path, uint64_t bytes_max,
                                          struct waiting **out, struct td_error *err);
void waiting_close(struct waiting *waiting); /* accepts NULL */

/* Lines, each ended by a line feed. TD_LIMIT: the file is as large as it may be. */
TD_MUST_CHECK enum td_status waiting_append(struct waiting *waiting, struct td_str lines,
                                            size_t count, struct td_error *err);
/* The oldest that were not sent: up to count_max into lines[], json_free is the caller's. *bytes:
 * for waiting_sent. A line that cannot be read is NULL. */
TD_MUST_CHECK enum td_status waiting_read(struct waiting *waiting, struct json **lines,
                                          size_t count_max, size_t *count, uint64_t *bytes,
                                          struct td_error *err);
void waiting_sent(struct waiting *waiting, size_t count, uint64_t bytes);

/* Accept NULL, which holds nothing. */
uint64_t waiting_count(const struct waiting *waiting);
uint64_t waiting_bytes(const struct waiting *waiting);

#endif

/* A connection to Redis or Valkey for scripts that run there as a whole. No hiredis type leaves
 * redis.c. One thread at a time for each connection. */
#ifndef CLUSTER_REDIS_H
#define CLUSTER_REDIS_H

#include "tandem/types.h"

struct redis;

/* redis://HOST[:PORT][/NUMBER], or unix:///PATH. A password stands elsewhere. */
TD_MUST_CHECK enum td_status redis_check_url(const char *url, struct td_error *err);
/* password NULL = none. **returns new** (redis_close). TD_UNAVAILABLE: nobody is there, or nobody
 * that lets us in. */
TD_MUST_CHECK enum td_status redis_open(const char *url, const char *password, uint32_t timeout_ms,
                                        struct redis **out, struct td_error *err);
void redis_close(struct redis *redis); /* accepts NULL */

/* How long an answer may take. */
bool redis_set_timeout(struct redis *redis, uint32_t timeout_ms);
/* Tells the server a script; sha[41] names it from then on. */
TD_MUST_CHECK bool redis_load(struct redis *redis, const char *script, char sha[static 41]);
/* Runs a script with keys and arguments, all texts. Its answer is `count` integers. False: no
 * such answer, and the connection is of no use any more. */
TD_MUST_CHECK bool redis_run(struct redis *redis, const char *sha, size_t key_count,
                             const char *const *arguments, size_t argument_count, int64_t *out,
                             size_t count);
/* What was wrong; one line. */
const char *redis_message(const struct redis *redis);

#endif

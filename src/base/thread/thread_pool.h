/* Threads that help one leader through many small steps, such as those of a forward pass.
 *
 * The work of a step is handed out from a counter of the caller's, and a step ends when the work is
 * done. A helper that has lost its core to another process is waited for only if it has begun. A
 * barrier for all threads made two threads half as fast as one beside a busy process. With this
 * scheme they are at least about as fast as one. One leader at a time. The results must not depend
 * on which thread takes which item. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include "base/machine/cores.h"
#include "tandem/types.h"

struct thread_pool;

/* Takes work until none is left. Runs on the leader and on the helpers that come in time. */
typedef void thread_pool_fn(void *ctx);

/* **returns new** (thread_pool_free), or NULL. thread_count includes the leader; 0 = as many as fit
 * this machine: the fast cores, within affinity and quota (cores.h). If every helper can have a
 * fast core, helpers stay on the fast cores. The leader is the caller's thread; its affinity is not
 * changed. */
struct thread_pool *thread_pool_new(uint32_t thread_count);
struct thread_pool *thread_pool_new_on(const struct cores *cores, uint32_t thread_count);
void thread_pool_free(struct thread_pool *pool);
uint32_t thread_pool_count(const struct thread_pool *pool);

/* From the next step on, only so many threads compute, the leader included, and the other helpers
 * sleep. Any thread. */
void thread_pool_limit(struct thread_pool *pool, uint32_t thread_count);

/* Returns when fn has returned on every thread that ran it; ctx may then be freed. */
void thread_pool_run(struct thread_pool *pool, thread_pool_fn *fn, void *ctx);

#endif

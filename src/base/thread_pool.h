/* Threads that help one leader through many small steps, such as those of a forward pass.
 *
 * The work of a step is handed out from a counter of the caller's, and a step ends when the work is
 * done: a helper that has lost its core to another process is not waited for unless it has begun. A
 * barrier of all threads made two threads half as fast as one beside a busy process; this stays at
 * least about as fast. One leader at a time; the results must not depend on who takes what. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include "base/cores.h"
#include "tandem/types.h"

struct thread_pool;

/* Takes work until none is left, then returns. Runs on the leader and on the helpers that come in
 * time. */
typedef void thread_pool_fn(void *ctx);

/* **returns new** (thread_pool_free), or NULL. thread_count includes the leader; 0 = what fits this
 * machine: the fast cores, within affinity and quota (cores.h). Helpers that all have a fast core
 * stay on those where there are slow ones too; the leader is the caller's thread and left alone. */
struct thread_pool *thread_pool_new(uint32_t thread_count);
struct thread_pool *thread_pool_new_on(const struct cores *cores, uint32_t thread_count);
void thread_pool_free(struct thread_pool *pool);
uint32_t thread_pool_count(const struct thread_pool *pool);

/* Returns when fn has returned on all that ran it; ctx may then go. */
void thread_pool_run(struct thread_pool *pool, thread_pool_fn *fn, void *ctx);

#endif

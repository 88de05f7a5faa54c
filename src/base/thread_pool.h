/* Fork-join pool for the engine's rows: every call runs one function on all threads and waits.
 * Workers spin briefly (a barrier costs a few microseconds between the many small matrices of one
 * token) and then sleep, so that an idle program uses no CPU and a busy neighbour is not fought. */
#ifndef BASE_THREAD_POOL_H
#define BASE_THREAD_POOL_H

#include "tandem/types.h"

struct thread_pool;

/* index in [0, count): the caller itself runs index 0. */
typedef void thread_pool_fn(void *ctx, uint32_t index, uint32_t count);

/* **returns new** (thread_pool_free), or NULL. thread_count includes the caller; 0 = online cores. */
struct thread_pool *thread_pool_new(uint32_t thread_count);
void thread_pool_free(struct thread_pool *pool);
uint32_t thread_pool_count(const struct thread_pool *pool);

/* One caller at a time. */
void thread_pool_run(struct thread_pool *pool, thread_pool_fn *fn, void *ctx);

#endif

/* Threads that help one leader through the many small steps of a forward pass.
 *
 * Unlike base/thread_pool.h, which runs a function on all its threads and waits for all of them, a step here
 * hands out its work from a counter and ends when the work is done: a helper that has lost its core to
 * somebody else is not waited for unless it has begun. Beside a busy process a pool of two threads was half
 * as fast as one thread alone; a team stays at least about as fast.
 * One leader at a time; the results must not depend on who takes what. */
#ifndef ENGINE_TEAM_H
#define ENGINE_TEAM_H

#include "tandem/types.h"

struct team;

/* Takes work until none is left, then returns. Runs on the leader and on the helpers that come in time. */
typedef void team_fn(void *ctx);

/* **returns new** (team_free), or NULL. thread_count includes the leader; 0 = online cores. */
struct team *team_new(uint32_t thread_count);
void team_free(struct team *team);
uint32_t team_count(const struct team *team);

/* Returns when fn has returned on all that ran it; ctx may then go. */
void team_run(struct team *team, team_fn *fn, void *ctx);

#endif

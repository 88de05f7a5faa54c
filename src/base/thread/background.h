/* Runs work that would block an event loop on a few threads, in the order in which it came, and
 * calls back on the loop. Any thread may submit. The callback comes on the loop, and only the loop
 * may cancel. */
#ifndef BASE_BACKGROUND_H
#define BASE_BACKGROUND_H

#include "base/thread/loop.h"

struct background;
struct background_task;

struct background_work {
    void (*run)(void *ctx); /* on a thread of the pool; uses ctx alone */
    /* Then on the loop, exactly once, unless background_cancel was called. */
    void (*done)(void *ctx, void *owner);
    /* Last, on any thread: ctx is no longer used. */
    void (*free_ctx)(void *ctx);
    void *ctx;   /* **takes** it when the call succeeds */
    void *owner; /* passed to `done` */
    struct loop *loop;
};

/* **returns new** (background_free); NULL without memory. capacity: how many tasks may wait. */
struct background *background_new(uint32_t thread_count, uint32_t capacity);
/* Waits for the tasks that run, and drops those that wait. Their loops must have stopped. Accepts
 * NULL. */
void background_free(struct background *background);

/* TD_BUSY when too many tasks wait. *out is valid until `done` returns or background_cancel is
 * called. */
TD_MUST_CHECK enum td_status background_submit(struct background *background,
                                               const struct background_work *work,
                                               struct background_task **out, struct td_error *err);
/* After it returns, `done` is not called any more. A task that already runs goes on to its end
 * without a result. */
void background_cancel(struct background_task *task);

#endif

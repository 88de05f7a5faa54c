/* Work that would hold up an event loop: a few threads run it in the order in which it came, and
 * what comes after runs on the loop again. Any thread may submit; the callback, and cancelling, are
 * the loop's. */
#ifndef BASE_BACKGROUND_H
#define BASE_BACKGROUND_H

#include "base/loop.h"

struct background;
struct background_task;

struct background_work {
    void (*run)(void *ctx); /* on a thread of the background; touches nothing but ctx */
    /* Then on the loop, exactly once unless background_cancel was called. */
    void (*done)(void *ctx, void *owner);
    /* Last: nobody looks at ctx any more. On any thread. */
    void (*free_ctx)(void *ctx);
    void *ctx;   /* **takes**, when the call succeeds */
    void *owner; /* for `done` alone */
    struct loop *loop;
};

/* **returns new** (background_free), NULL without memory. capacity: tasks waiting. */
struct background *background_new(uint32_t thread_count, uint32_t capacity);
/* What still waits is dropped: its loops have stopped. Waits for what runs. Accepts NULL. */
void background_free(struct background *background);

/* TD_BUSY when too many wait. *out is valid until `done` returns or background_cancel is called. */
TD_MUST_CHECK enum td_status background_submit(struct background *background,
                                               const struct background_work *work,
                                               struct background_task **out, struct td_error *err);
/* No `done` after it returns. What runs goes on to its end, unseen. */
void background_cancel(struct background_task *task);

#endif

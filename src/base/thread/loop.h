/* The event loop as the higher layers see it: timers, watched file descriptors, and calls from
 * other threads. It is an interface, which net/client/loop_event.c implements with libevent. So
 * tiers and exchanges do not depend on libevent, and a C program that embeds the library can bring
 * its own loop.
 *
 * All calls except loop_post belong to the loop's own thread. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include "tandem/types.h"

struct loop;
struct loop_timer;
struct loop_watch;

typedef void loop_fn(void *ctx);

struct loop_ops {
    struct loop_timer *(*timer_new)(struct loop *loop, loop_fn *fn, void *ctx);
    void (*timer_start)(struct loop_timer *timer, uint64_t delay_ms);
    void (*timer_stop)(struct loop_timer *timer);
    void (*timer_free)(struct loop_timer *timer);
    struct loop_watch *(*watch_new)(struct loop *loop, int fd, loop_fn *on_readable, void *ctx);
    void (*watch_free)(struct loop_watch *watch);
    bool (*post)(struct loop *loop, loop_fn *fn, void *ctx);
};

/* The first member of an implementation's own struct. */
struct loop {
    const struct loop_ops *ops;
};

/* A one-shot timer, not running at first. **returns new** (loop_timer_free); NULL without memory.
 * Starting a running timer restarts it. */
static inline struct loop_timer *loop_timer_new(struct loop *loop, loop_fn *fn, void *ctx)
{
    return loop->ops->timer_new(loop, fn, ctx);
}
static inline void loop_timer_start(struct loop *loop, struct loop_timer *timer, uint64_t delay_ms)
{
    loop->ops->timer_start(timer, delay_ms);
}
static inline void loop_timer_stop(struct loop *loop, struct loop_timer *timer)
{
    loop->ops->timer_stop(timer);
}
static inline void loop_timer_free(struct loop *loop, struct loop_timer *timer)
{
    if (timer)
        loop->ops->timer_free(timer);
}
/* Calls back whenever fd is readable, until it is freed. The caller keeps the fd. */
static inline struct loop_watch *loop_watch_new(struct loop *loop, int fd, loop_fn *fn, void *ctx)
{
    return loop->ops->watch_new(loop, fd, fn, ctx);
}
static inline void loop_watch_free(struct loop *loop, struct loop_watch *watch)
{
    if (watch)
        loop->ops->watch_free(watch);
}
/* Any thread: runs fn on the loop's thread soon. False when the queue is full or the loop has
 * stopped. */
static inline bool loop_post(struct loop *loop, loop_fn *fn, void *ctx)
{
    return loop->ops->post(loop, fn, ctx);
}

#endif

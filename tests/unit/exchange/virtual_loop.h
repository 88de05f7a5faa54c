/* An event loop whose time stands still until it is run: timers fire in order of their due time,
 * and the clock jumps from one to the next. For tests of what runs on base/thread/loop.h. */
#ifndef TESTS_VIRTUAL_LOOP_H
#define TESTS_VIRTUAL_LOOP_H

#include "base/thread/loop.h"
#include "base/time/clock.h"

#include <poll.h>
#include <stdlib.h>

struct loop_timer {
    struct virtual_loop *loop;
    struct loop_timer *next;
    loop_fn *fn;
    void *ctx;
    bool armed;
    uint64_t due_ms, order;
};

struct loop_watch {
    struct virtual_loop *loop;
    int fd;
    loop_fn *fn;
    void *ctx;
};

struct virtual_loop {
    struct loop loop; /* first */
    struct loop_timer *timers;
    struct loop_watch *watch; /* one at a time, or NULL */
    uint64_t now_ms, order;
    size_t timer_count; /* not yet freed */
    struct clock clock;
};

static struct loop_timer *virtual_timer_new(struct loop *loop, loop_fn *fn, void *ctx)
{
    struct virtual_loop *self = (struct virtual_loop *)loop;
    struct loop_timer *timer = calloc(1, sizeof *timer);
    if (!timer)
        return NULL;
    timer->loop = self;
    timer->fn = fn;
    timer->ctx = ctx;
    timer->next = self->timers;
    self->timers = timer;
    self->timer_count++;
    return timer;
}

static void virtual_timer_start(struct loop_timer *timer, uint64_t delay_ms)
{
    timer->armed = true;
    timer->due_ms = timer->loop->now_ms + delay_ms;
    timer->order = ++timer->loop->order;
}

static void virtual_timer_stop(struct loop_timer *timer)
{
    timer->armed = false;
}

static void virtual_timer_free(struct loop_timer *timer)
{
    struct loop_timer **at = &timer->loop->timers;
    while (*at != timer)
        at = &(*at)->next;
    *at = timer->next;
    timer->loop->timer_count--;
    free(timer);
}

static struct loop_watch *virtual_watch_new(struct loop *loop, int fd, loop_fn *fn, void *ctx)
{
    struct virtual_loop *self = (struct virtual_loop *)loop;
    struct loop_watch *watch = self->watch ? NULL : malloc(sizeof *watch);
    if (!watch)
        return NULL;
    *watch = (struct loop_watch){self, fd, fn, ctx};
    return self->watch = watch;
}

static void virtual_watch_free(struct loop_watch *watch)
{
    watch->loop->watch = NULL;
    free(watch);
}

static inline bool virtual_watch_is_readable(const struct loop_watch *watch)
{
    struct pollfd look = {.fd = watch ? watch->fd : -1, .events = POLLIN};
    return poll(&look, 1, 0) > 0;
}

static bool virtual_post(struct loop *loop, loop_fn *fn, void *ctx)
{
    (void)loop, (void)fn, (void)ctx;
    return false;
}

static const struct loop_ops virtual_loop_ops = {
    virtual_timer_new, virtual_timer_start, virtual_timer_stop, virtual_timer_free,
    virtual_watch_new, virtual_watch_free,  virtual_post,
};

static uint64_t virtual_monotonic_ns(void *ctx)
{
    return ((struct virtual_loop *)ctx)->now_ms * 1000000;
}

static uint64_t virtual_wall_ms(void *ctx)
{
    return ((struct virtual_loop *)ctx)->now_ms + 1700000000000;
}

static inline void virtual_loop_init(struct virtual_loop *self)
{
    *self = (struct virtual_loop){.loop = {&virtual_loop_ops}, .now_ms = 1000};
    self->clock = (struct clock){virtual_monotonic_ns, virtual_wall_ms, self};
}

/* Runs the timer that falls due first, by then at the latest. False: there is none. */
static inline bool virtual_loop_step(struct virtual_loop *self, uint64_t until_ms)
{
    struct loop_timer *first = NULL;
    if (virtual_watch_is_readable(self->watch))
        self->watch->fn(self->watch->ctx);
    for (struct loop_timer *timer = self->timers; timer; timer = timer->next)
        if (timer->armed && timer->due_ms <= until_ms &&
            (!first || timer->due_ms < first->due_ms ||
             (timer->due_ms == first->due_ms && timer->order < first->order)))
            first = timer;
    if (!first)
        return false;
    first->armed = false;
    if (first->due_ms > self->now_ms)
        self->now_ms = first->due_ms;
    first->fn(first->ctx);
    return true;
}

/* Runs the timers that fall due within the next `ms`; the time is that much later afterwards. */
static inline void virtual_loop_run(struct virtual_loop *self, uint64_t ms)
{
    uint64_t until_ms = self->now_ms + ms;
    while (virtual_loop_step(self, until_ms))
        continue;
    self->now_ms = until_ms;
}

#endif

/* The event loop on libevent's core: epoll, timers, and an eventfd that wakes it for posts of other
 * threads.
 *
 * libevent's own locking is off. Only the loop's thread touches the event base. Other threads can
 * only post, and a post goes through our bounded ring under our mutex. So a full ring is an answer
 * to the producer and never a wait; libevent's own activation queue has no such limit.
 *
 * SIGPIPE: libevent writes sockets with writev, which raises SIGPIPE when the peer is gone. A
 * library must not change the signals of the process, so the loop's thread blocks SIGPIPE while the
 * loop runs. */
#include "net/client/loop_event.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/log.h"
#include "net/client/client.h"

#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A loop serves thousands of streams, and a producer posts once per stream at a time. */
#define POSTS_MAX 16384
#define TURN_NS 100000 /* the shortest that Linux gives */

#define RESET_ON_FORK 1

/* The kernel's struct sched_attr in its first version (sched_setattr(2)). */
struct turns {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

struct post {
    loop_fn *fn;
    void *ctx;
};

struct loop_event {
    struct loop loop; /* first */
    struct event_base *base;
    struct event *wake;
    int wake_fd;
    struct client *client;
    bool firing; /* a timer's function is running */

    pthread_mutex_t mutex;
    struct post *posts; /* a ring of POSTS_MAX posts */
    size_t post_first, post_count;
    bool stopped;
};

struct loop_timer {
    struct loop_event *owner;
    struct event *event;
    loop_fn *fn;
    void *ctx;
};

struct loop_watch {
    struct event *event;
    loop_fn *fn;
    void *ctx;
};

static void on_library_log(int severity, const char *message)
{
    if (severity >= EVENT_LOG_WARN)
        log_event(LOG_LEVEL_WARN, "event_library", "message=\"%s\"", message);
}

static void set_library_log(void)
{
    event_set_log_callback(on_library_log);
}

static struct loop_event *from_loop(struct loop *loop);

static void timer_fire(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct loop_timer *timer = ctx;
    struct loop_event *self = timer->owner; /* the function may free the timer */
    self->firing = true;
    timer->fn(timer->ctx);
    self->firing = false;
}

static struct loop_timer *timer_new(struct loop *loop, loop_fn *fn, void *ctx)
{
    struct loop_timer *timer = malloc(sizeof *timer);
    if (timer == NULL)
        return NULL;
    *timer = (struct loop_timer){.owner = from_loop(loop), .fn = fn, .ctx = ctx};
    timer->event = evtimer_new(timer->owner->base, timer_fire, timer);
    if (timer->event == NULL) {
        free(timer);
        return NULL;
    }
    return timer;
}

/* What is to run at once runs in this turn of the loop: a turn asks the kernel for events. What a
 * timer starts waits for the next turn all the same, so that no chain of timers keeps the sockets
 * waiting. */
static void timer_start(struct loop_timer *timer, uint64_t delay_ms)
{
    if (delay_ms == 0 && !timer->owner->firing) {
        event_active(timer->event, EV_TIMEOUT, 1);
        return;
    }
    struct timeval delay = {.tv_sec = (time_t)(delay_ms / 1000),
                            .tv_usec = (suseconds_t)(delay_ms % 1000 * 1000)};
    evtimer_add(timer->event, &delay);
}

static void timer_stop(struct loop_timer *timer)
{
    evtimer_del(timer->event);
}

static void timer_free(struct loop_timer *timer)
{
    event_free(timer->event);
    free(timer);
}

static void watch_fire(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct loop_watch *watch = ctx;
    watch->fn(watch->ctx);
}

static struct loop_watch *watch_new(struct loop *loop, int fd, loop_fn *on_readable, void *ctx)
{
    struct loop_watch *watch = malloc(sizeof *watch);
    if (watch == NULL)
        return NULL;
    *watch = (struct loop_watch){.fn = on_readable, .ctx = ctx};
    watch->event = event_new(from_loop(loop)->base, fd, EV_READ | EV_PERSIST, watch_fire, watch);
    if (watch->event == NULL || event_add(watch->event, NULL) != 0) {
        if (watch->event)
            event_free(watch->event);
        free(watch);
        return NULL;
    }
    return watch;
}

static void watch_free(struct loop_watch *watch)
{
    event_free(watch->event);
    free(watch);
}

/* The counter of the eventfd grows by ones and cannot overflow in practice, so the write
 * succeeds. */
static void wake_up(struct loop_event *self)
{
    uint64_t one = 1;
    ssize_t written = write(self->wake_fd, &one, sizeof one);
    (void)written;
}

static bool post(struct loop *loop, loop_fn *fn, void *ctx)
{
    struct loop_event *self = from_loop(loop);
    pthread_mutex_lock(&self->mutex);
    bool accepted = !self->stopped && self->post_count < POSTS_MAX;
    bool was_empty = self->post_count == 0;
    if (accepted) {
        self->posts[(self->post_first + self->post_count) % POSTS_MAX] = (struct post){fn, ctx};
        self->post_count++;
        if (was_empty)
            wake_up(self);
    }
    pthread_mutex_unlock(&self->mutex);
    return accepted;
}

static const struct loop_ops loop_event_ops = {
    .timer_new = timer_new,
    .timer_start = timer_start,
    .timer_stop = timer_stop,
    .timer_free = timer_free,
    .watch_new = watch_new,
    .watch_free = watch_free,
    .post = post,
};

static struct loop_event *from_loop(struct loop *loop)
{
    ASSERT(loop->ops == &loop_event_ops);
    return (struct loop_event *)loop;
}

/* Runs the posts that are there now. Posts that they add wait for the next turn, so that the
 * sockets are served in between. Once the loop is stopped, all are run: no new ones come, and what
 * was accepted must run. */
static void run_posts(struct loop_event *self)
{
    pthread_mutex_lock(&self->mutex);
    size_t due = self->post_count;
    while (due > 0 || (self->stopped && self->post_count > 0)) {
        due -= due > 0;
        struct post next = self->posts[self->post_first];
        self->post_first = (self->post_first + 1) % POSTS_MAX;
        self->post_count--;
        pthread_mutex_unlock(&self->mutex);
        next.fn(next.ctx);
        pthread_mutex_lock(&self->mutex);
    }
    /* Posted while the ring was not empty, so nobody woke us. */
    if (self->post_count > 0)
        wake_up(self);
    bool stopped = self->stopped;
    pthread_mutex_unlock(&self->mutex);
    if (stopped)
        event_base_loopbreak(self->base);
}

static void on_wake(evutil_socket_t fd, short what, void *ctx)
{
    (void)what;
    uint64_t count;
    ssize_t got = read(fd, &count, sizeof count);
    (void)got; /* non-blocking; a wake-up with no count is harmless */
    run_posts(ctx);
}

enum td_status loop_event_new(struct loop **out, struct td_error *err)
{
    ASSERT(out != NULL);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_library_log);

    struct loop_event *self = calloc(1, sizeof *self);
    if (self == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for an event loop");
    self->loop.ops = &loop_event_ops;
    pthread_mutex_init(&self->mutex, NULL);
    self->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (self->wake_fd < 0) {
        enum td_status status = error_set(err, TD_IO, "eventfd: %s", strerror(errno));
        loop_event_free(&self->loop);
        return status;
    }
    self->posts = calloc(POSTS_MAX, sizeof *self->posts);
    self->base = event_base_new();
    if (self->base)
        self->wake = event_new(self->base, self->wake_fd, EV_READ | EV_PERSIST, on_wake, self);
    if (self->posts == NULL || self->wake == NULL || event_add(self->wake, NULL) != 0) {
        loop_event_free(&self->loop);
        return error_set(err, TD_NO_MEMORY, "no memory for an event loop");
    }
    *out = &self->loop;
    return TD_OK;
}

void loop_event_free(struct loop *loop)
{
    if (loop == NULL)
        return;
    struct loop_event *self = from_loop(loop);
    client_free(self->client);
    if (self->wake)
        event_free(self->wake);
    if (self->base)
        event_base_free(self->base);
    if (self->wake_fd >= 0)
        close(self->wake_fd);
    free(self->posts);
    pthread_mutex_destroy(&self->mutex);
    free(self);
}

/* Blocks SIGPIPE for this thread; true if it was not blocked before. */
static bool pipe_signal_block(void)
{
    sigset_t pipe_only, before;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    return sigismember(&before, SIGPIPE) == 0;
}

/* Removes a SIGPIPE that our writes raised, so that unblocking does not deliver it. */
static void pipe_signal_unblock(void)
{
    sigset_t pipe_only;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    while (sigtimedwait(&pipe_only, NULL, &(struct timespec){0}) == SIGPIPE)
        continue;
    pthread_sigmask(SIG_UNBLOCK, &pipe_only, NULL);
}

/* A loop does little at a time, and everybody waits for it, so it asks for short turns, which come
 * sooner. On processors that engines keep busy, Linux otherwise lets a woken thread wait for tens
 * of milliseconds. Threads that it starts do not inherit that. Kernels before 6.12 ignore it. */
static void prefer_short_turns(void)
{
    struct turns wanted = {0};
    if (syscall(SYS_sched_getattr, 0, &wanted, sizeof wanted, 0) != 0 ||
        wanted.policy != SCHED_OTHER)
        return;
    wanted.flags |= RESET_ON_FORK;
    wanted.runtime_ns = TURN_NS;
    (void)syscall(SYS_sched_setattr, 0, &wanted, 0);
}

void loop_event_run(struct loop *loop)
{
    struct loop_event *self = from_loop(loop);
    prefer_short_turns();
    bool unblock = pipe_signal_block();
    event_base_loop(self->base, EVLOOP_NO_EXIT_ON_EMPTY);
    if (unblock)
        pipe_signal_unblock();
}

void loop_event_stop(struct loop *loop)
{
    struct loop_event *self = from_loop(loop);
    pthread_mutex_lock(&self->mutex);
    self->stopped = true;
    wake_up(self);
    pthread_mutex_unlock(&self->mutex);
}

void loop_event_restart(struct loop *loop)
{
    struct loop_event *self = from_loop(loop);
    pthread_mutex_lock(&self->mutex);
    self->stopped = false;
    pthread_mutex_unlock(&self->mutex);
}

struct event_base *loop_event_base(struct loop *loop)
{
    return from_loop(loop)->base;
}

struct client **loop_event_client(struct loop *loop)
{
    return &from_loop(loop)->client;
}

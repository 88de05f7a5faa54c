/* The loop: posts from many threads, timers, watches, stopping. */
#include "net/client/loop_event.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define THREADS 4
#define POSTS_PER_THREAD 20000

static struct loop *loop;
static int ran; /* on the loop's thread only */
static atomic_int refused;

static void *run_loop(void *ctx)
{
    loop_event_run(ctx);
    return NULL;
}

static void count(void *ctx)
{
    (void)ctx;
    ran++;
}

static void *post_many(void *ctx)
{
    (void)ctx;
    for (int i = 0; i < POSTS_PER_THREAD; i++)
        while (!loop_post(loop, count, NULL)) {
            refused++;
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        }
    return NULL;
}

static void test_every_post_of_many_threads_runs_once(void)
{
    pthread_t runner, threads[THREADS];
    ran = 0;
    REQUIRE(loop_event_new(&loop, NULL) == TD_OK);
    pthread_create(&runner, NULL, run_loop, loop);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, post_many, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    loop_event_stop(loop); /* right after the last post, which must run, too */
    pthread_join(runner, NULL);
    CHECK(ran == THREADS * POSTS_PER_THREAD);
    CHECK(!loop_post(loop, count, NULL)); /* stopped */
    loop_event_free(loop);
}

static void test_a_full_queue_is_an_answer(void)
{
    ran = 0;
    int accepted = 0;
    REQUIRE(loop_event_new(&loop, NULL) == TD_OK);
    while (accepted < 1000000 && loop_post(loop, count, NULL))
        accepted++;
    CHECK(accepted >= 4096 && accepted < 1000000);
    loop_event_stop(loop);
    loop_event_run(loop);
    CHECK(ran == accepted);
    loop_event_free(loop);
}

static void post_again(void *ctx)
{
    int *left = ctx;
    if (--*left > 0)
        CHECK(loop_post(loop, post_again, ctx));
    else
        loop_event_stop(loop);
}

static void test_a_post_may_post(void)
{
    int left = 1000;
    REQUIRE(loop_event_new(&loop, NULL) == TD_OK);
    CHECK(loop_post(loop, post_again, &left));
    loop_event_run(loop);
    CHECK(left == 0);
    loop_event_free(loop);
}

struct timed {
    struct loop_timer *timer;
    int fired;
};

static void on_timer(void *ctx)
{
    struct timed *timed = ctx;
    timed->fired++;
}

static void on_stop(void *ctx)
{
    (void)ctx;
    loop_event_stop(loop);
}

static void test_timers_fire_once_restart_and_stop(void)
{
    REQUIRE(loop_event_new(&loop, NULL) == TD_OK);
    struct timed once = {0}, restarted = {0}, stopped = {0}, never = {0};
    struct timed *all[] = {&once, &restarted, &stopped, &never};
    for (int i = 0; i < 4; i++)
        all[i]->timer = loop_timer_new(loop, on_timer, all[i]);
    struct loop_timer *end = loop_timer_new(loop, on_stop, NULL);
    loop_timer_start(loop, once.timer, 10);
    loop_timer_start(loop, restarted.timer, 10);
    loop_timer_start(loop, restarted.timer, 60000);
    loop_timer_start(loop, stopped.timer, 10);
    loop_timer_stop(loop, stopped.timer);
    loop_timer_start(loop, end, 60);
    loop_event_run(loop);
    CHECK(once.fired == 1 && restarted.fired == 0 && stopped.fired == 0 && never.fired == 0);
    for (int i = 0; i < 4; i++)
        loop_timer_free(loop, all[i]->timer); /* one of them still running */
    loop_timer_free(loop, end);
    loop_timer_free(loop, NULL);
    loop_event_free(loop);
}

static int pipe_fds[2];
static struct loop_watch *watch;
static int bytes_read;

static void on_readable(void *ctx)
{
    (void)ctx;
    char byte;
    if (read(pipe_fds[0], &byte, 1) == 1 && ++bytes_read == 3) {
        loop_watch_free(loop, watch); /* from inside its own callback */
        loop_event_stop(loop);
    }
}

static void test_a_watch_fires_until_freed_and_leaves_the_fd(void)
{
    REQUIRE(loop_event_new(&loop, NULL) == TD_OK);
    REQUIRE(pipe(pipe_fds) == 0);
    bytes_read = 0;
    watch = loop_watch_new(loop, pipe_fds[0], on_readable, NULL);
    CHECK(write(pipe_fds[1], "abcd", 4) == 4);
    loop_event_run(loop);
    CHECK(bytes_read == 3);
    char rest;
    CHECK(read(pipe_fds[0], &rest, 1) == 1 && rest == 'd');
    close(pipe_fds[0]);
    close(pipe_fds[1]);
    loop_event_free(loop);
}

static void raise_pipe(void *ctx)
{
    int *fds = ctx;
    CHECK(write(fds[1], "x", 1) < 0);
    loop_event_stop(loop);
}

static void test_writing_to_a_closed_peer_does_not_end_the_process(void)
{
    int fds[2];
    REQUIRE(loop_event_new(&loop, NULL) == TD_OK);
    REQUIRE(pipe(fds) == 0);
    close(fds[0]);
    CHECK(loop_post(loop, raise_pipe, fds));
    loop_event_run(loop);
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
    close(fds[1]);
    loop_event_free(loop);
}

int main(void)
{
    RUN(test_every_post_of_many_threads_runs_once);
    RUN(test_a_full_queue_is_an_answer);
    RUN(test_a_post_may_post);
    RUN(test_timers_fire_once_restart_and_stop);
    RUN(test_a_watch_fires_until_freed_and_leaves_the_fd);
    RUN(test_writing_to_a_closed_peer_does_not_end_the_process);
    return test_finish();
}

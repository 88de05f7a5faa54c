/* A bare event loop for tests: posts only, run by the test's own thread, with a queue that can be
 * made small, to see what a full one does. */
#ifndef TESTS_TEST_LOOP_H
#define TESTS_TEST_LOOP_H

#include "base/thread/loop.h"

#include <pthread.h>
#include <time.h>

#define TEST_LOOP_POSTS 256

struct test_loop {
    struct loop loop; /* first */
    pthread_mutex_t mutex;
    pthread_cond_t posted;
    size_t capacity, head, count;
    size_t refused;
    struct {
        loop_fn *fn;
        void *ctx;
    } posts[TEST_LOOP_POSTS];
};

static inline bool test_loop_post(struct loop *loop, loop_fn *fn, void *ctx)
{
    struct test_loop *self = (struct test_loop *)loop;
    pthread_mutex_lock(&self->mutex);
    bool fits = self->count < self->capacity;
    if (fits) {
        size_t at = (self->head + self->count++) % TEST_LOOP_POSTS;
        self->posts[at].fn = fn;
        self->posts[at].ctx = ctx;
        pthread_cond_signal(&self->posted);
    } else {
        self->refused++;
    }
    pthread_mutex_unlock(&self->mutex);
    return fits;
}

static const struct loop_ops test_loop_ops = {.post = test_loop_post};

static inline void test_loop_init(struct test_loop *self)
{
    *self = (struct test_loop){.loop = {&test_loop_ops}, .capacity = TEST_LOOP_POSTS};
    pthread_mutex_init(&self->mutex, NULL);
    pthread_cond_init(&self->posted, NULL);
}

static inline void test_loop_set_capacity(struct test_loop *self, size_t capacity)
{
    pthread_mutex_lock(&self->mutex);
    self->capacity = capacity;
    pthread_mutex_unlock(&self->mutex);
}

static inline size_t test_loop_refused(struct test_loop *self)
{
    pthread_mutex_lock(&self->mutex);
    size_t refused = self->refused;
    pthread_mutex_unlock(&self->mutex);
    return refused;
}

/* Runs one post; false when none came within timeout_ms. */
static inline bool test_loop_run_one(struct test_loop *self, long timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += timeout_ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&self->mutex);
    int rc = 0;
    while (self->count == 0 && rc == 0)
        rc = pthread_cond_timedwait(&self->posted, &self->mutex, &until);
    bool got = self->count > 0;
    loop_fn *fn = NULL;
    void *ctx = NULL;
    if (got) {
        fn = self->posts[self->head].fn;
        ctx = self->posts[self->head].ctx;
        self->head = (self->head + 1) % TEST_LOOP_POSTS;
        self->count--;
    }
    pthread_mutex_unlock(&self->mutex);
    if (got)
        fn(ctx);
    return got;
}

static inline void test_loop_deinit(struct test_loop *self)
{
    while (test_loop_run_one(self, 0))
        ;
    pthread_mutex_destroy(&self->mutex);
    pthread_cond_destroy(&self->posted);
}

#endif

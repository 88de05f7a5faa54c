/* Fork-join: every index runs once per call, memory is visible after it, sleepers wake (TSan too). */
#include "base/thread_pool.h"
#include "test.h"

#include <unistd.h>

struct work {
    uint32_t runs[64];
    uint32_t count_seen;
};

static void record(void *ctx, uint32_t index, uint32_t count)
{
    struct work *work = ctx;
    work->runs[index]++;
    if (index == 0)
        work->count_seen = count;
}

static void run_many(uint32_t threads, uint32_t rounds, bool with_sleeps)
{
    struct thread_pool *pool = thread_pool_new(threads);
    REQUIRE(pool != NULL);
    uint32_t count = thread_pool_count(pool);
    CHECK(count == threads);
    struct work work = {0};
    for (uint32_t round = 1; round <= rounds; round++) {
        thread_pool_run(pool, record, &work);
        for (uint32_t i = 0; i < count; i++)
            CHECK(work.runs[i] == round);
        if (with_sleeps)
            usleep(500); /* long enough for the workers to fall asleep */
    }
    CHECK(work.count_seen == count);
    thread_pool_free(pool);
}

static void test_one_thread_runs_the_caller_only(void)
{
    run_many(1, 100, false);
}

static void test_every_index_runs_once_a_call(void)
{
    run_many(2, 20000, false);
    run_many(5, 2000, false);
}

static void test_sleeping_workers_wake(void)
{
    run_many(3, 200, true);
}

static void test_zero_means_the_online_cores(void)
{
    struct thread_pool *pool = thread_pool_new(0);
    CHECK(thread_pool_count(pool) >= 1);
    thread_pool_free(pool);
    thread_pool_free(NULL);
}

int main(void)
{
    RUN(test_one_thread_runs_the_caller_only);
    RUN(test_every_index_runs_once_a_call);
    RUN(test_sleeping_workers_wake);
    RUN(test_zero_means_the_online_cores);
    return test_finish();
}

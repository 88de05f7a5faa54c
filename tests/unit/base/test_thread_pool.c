/* The pool does every item of every step once, with any number of threads and steps. */
#include "base/thread/thread_pool.h"

#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define ITEMS 64

struct work {
    atomic_uint next;
    unsigned char done[ITEMS]; /* each is written by the thread that took it */
    unsigned slow;             /* item that sleeps, or ITEMS */
};

static void take_items(void *ctx)
{
    struct work *work = ctx;
    for (unsigned i; (i = atomic_fetch_add(&work->next, 1)) < ITEMS;) {
        if (i == work->slow)
            usleep(2000);
        work->done[i]++;
    }
}

/* The work is on this stack and gone after the call, so a late helper must not touch it. */
static void run_step(struct thread_pool *pool, unsigned slow)
{
    struct work work = {.slow = slow};
    thread_pool_run(pool, take_items, &work);
    for (unsigned i = 0; i < ITEMS; i++)
        CHECK(work.done[i] == 1);
    memset(&work, 0xff, sizeof work);
}

static void test_every_item_is_done_once_in_every_step(void)
{
    for (uint32_t threads = 1; threads <= 8; threads += threads < 3 ? 1 : 5) {
        struct thread_pool *pool = thread_pool_new(threads);
        REQUIRE(pool != NULL);
        CHECK(thread_pool_count(pool) == threads);
        for (int step = 0; step < 5000; step++)
            run_step(pool, ITEMS);
        thread_pool_free(pool);
    }
}

static void test_steps_wait_for_helpers_that_have_begun(void)
{
    struct thread_pool *pool = thread_pool_new(3);
    REQUIRE(pool != NULL);
    for (unsigned step = 0; step < 40; step++)
        run_step(pool, step % ITEMS);
    thread_pool_free(pool);
}

/* Items of a slow core take ten times as long as those of a fast one. */
struct unequal {
    atomic_uint next;
    pthread_t fast;
    atomic_uint by_fast, by_slow;
};

static void take_unequally(void *ctx)
{
    struct unequal *work = ctx;
    const bool fast = pthread_equal(pthread_self(), work->fast);
    while (atomic_fetch_add(&work->next, 1) < ITEMS) {
        usleep(fast ? 2000 : 200000); /* far apart: a busy machine adds some to both */
        atomic_fetch_add(fast ? &work->by_fast : &work->by_slow, 1);
    }
}

static void test_a_slow_core_takes_fewer_items(void)
{
    struct unequal work = {.fast = pthread_self()};
    struct thread_pool *pool = thread_pool_new(2);
    REQUIRE(pool != NULL);
    thread_pool_run(pool, take_unequally, &work);
    CHECK(work.by_fast + work.by_slow == ITEMS);
    CHECK(work.by_slow < work.by_fast / 2); /* in equal parts it would be as many */
    thread_pool_free(pool);
}

static void test_helpers_wake_up_after_a_pause(void)
{
    struct thread_pool *pool = thread_pool_new(2);
    REQUIRE(pool != NULL);
    for (unsigned step = 0; step < 30; step++) {
        usleep(1000); /* longer than helpers spin */
        run_step(pool, 0);
    }
    thread_pool_free(pool);
}

static void test_pools_come_and_go(void)
{
    for (int i = 0; i < 200; i++) {
        struct thread_pool *pool = thread_pool_new(4);
        REQUIRE(pool != NULL);
        if (i % 2)
            run_step(pool, ITEMS);
        thread_pool_free(pool);
    }
    thread_pool_free(NULL);
    struct thread_pool *pool = thread_pool_new(0); /* as many as fit the machine */
    REQUIRE(pool != NULL && thread_pool_count(pool) >= 1);
    run_step(pool, ITEMS);
    thread_pool_free(pool);
}

static void test_more_threads_than_cores_do_every_item_once(void)
{
    struct cores cores = {.usable = 1, .fast = 1};
    CPU_SET(0, &cores.fast_set);
    struct thread_pool *pool = thread_pool_new_on(&cores, 5);
    REQUIRE(pool != NULL);
    CHECK(thread_pool_count(pool) == 5);
    for (unsigned step = 0; step < 300; step++)
        run_step(pool, step % 10 ? ITEMS : 0);
    thread_pool_free(pool);
}

static void test_the_default_count_is_that_of_the_fast_cores_within_the_quota(void)
{
    struct cores cores = {.usable = 8, .fast = 4};
    struct thread_pool *pool = thread_pool_new_on(&cores, 0);
    REQUIRE(pool != NULL);
    CHECK(thread_pool_count(pool) == 4);
    run_step(pool, ITEMS);
    thread_pool_free(pool);
    cores.quota = 2.5;
    pool = thread_pool_new_on(&cores, 0);
    REQUIRE(pool != NULL);
    CHECK(thread_pool_count(pool) == 2);
    thread_pool_free(pool);
}

struct places {
    pthread_t leader;
    int fast;
    atomic_uint arrived, elsewhere;
};

/* Leader and helper wait for each other, so a helper certainly came. */
static void see_affinity(void *ctx)
{
    struct places *places = ctx;
    cpu_set_t mask;
    bool read = sched_getaffinity(0, sizeof mask, &mask) == 0;
    bool as_asked = read && CPU_COUNT(&mask) == 1 && CPU_ISSET(places->fast, &mask);
    if (!pthread_equal(pthread_self(), places->leader) && !as_asked)
        atomic_fetch_add(&places->elsewhere, 1);
    atomic_fetch_add(&places->arrived, 1);
    for (int i = 0; i < 2000 && atomic_load(&places->arrived) < 2; i++)
        usleep(1000);
}

/* In this made-up machine the last core of this process is the fast one. */
static void test_helpers_stay_on_the_fast_cores_of_a_mixed_machine(void)
{
    struct cores cores;
    cores_read("", NULL, &cores);
    struct places places = {.leader = pthread_self()};
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &cores.fast_set))
            places.fast = cpu;
    CPU_ZERO(&cores.fast_set);
    CPU_SET(places.fast, &cores.fast_set);
    cores.usable = 4;
    cores.fast = 2;
    cpu_set_t before, after;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    struct thread_pool *pool = thread_pool_new_on(&cores, 2);
    REQUIRE(pool != NULL && thread_pool_count(pool) == 2);
    thread_pool_run(pool, see_affinity, &places);
    CHECK(atomic_load(&places.arrived) == 2 && atomic_load(&places.elsewhere) == 0);
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
    thread_pool_free(pool);
}

struct crowd {
    pthread_t leader;
    int core; /* the leader's */
    atomic_uint arrived;
    bool stay; /* the helper goes to the leader's core; if not, it reports whether it may */
    bool may_be_there;
};

static void share_or_leave(void *ctx)
{
    struct crowd *crowd = ctx;
    cpu_set_t mask;
    if (!pthread_equal(pthread_self(), crowd->leader)) {
        CPU_ZERO(&mask);
        CPU_SET(crowd->core, &mask);
        bool read = (!crowd->stay || sched_setaffinity(0, sizeof mask, &mask) == 0) &&
                    sched_getaffinity(0, sizeof mask, &mask) == 0;
        crowd->may_be_there = read ? CPU_ISSET(crowd->core, &mask) : !crowd->stay;
    }
    atomic_fetch_add(&crowd->arrived, 1);
    for (int i = 0; i < 2000 && atomic_load(&crowd->arrived) < 2; i++)
        usleep(1000);
}

static void test_a_helper_on_the_core_of_the_leader_leaves_it(void)
{
    cpu_set_t before, one;
    REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
    if (CPU_COUNT(&before) < 2)
        return; /* there is no other core */
    struct thread_pool *pool = thread_pool_new(2);
    REQUIRE(pool != NULL && thread_pool_count(pool) == 2);
    struct crowd crowd = {.leader = pthread_self()};
    while (!CPU_ISSET(crowd.core, &before))
        crowd.core++;
    CPU_ZERO(&one);
    CPU_SET(crowd.core, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    crowd.stay = true;
    thread_pool_run(pool, share_or_leave, &crowd);
    CHECK(atomic_load(&crowd.arrived) == 2 && crowd.may_be_there);
    crowd.stay = false;
    atomic_store(&crowd.arrived, 0);
    thread_pool_run(pool, share_or_leave, &crowd);
    CHECK(atomic_load(&crowd.arrived) == 2 && !crowd.may_be_there);
    CHECK(sched_setaffinity(0, sizeof before, &before) == 0);
    thread_pool_free(pool);
}

/* The 16 bits of the step number wrap. */
struct visit {
    atomic_uint inside, most, items;
};

static void note_visit(void *ctx)
{
    struct visit *visit = ctx;
    unsigned inside = atomic_fetch_add(&visit->inside, 1) + 1;
    for (unsigned most = atomic_load(&visit->most);
         most < inside && !atomic_compare_exchange_weak(&visit->most, &most, inside);)
        ;
    while (atomic_fetch_add(&visit->items, 1) < ITEMS)
        usleep(200);
    atomic_fetch_sub(&visit->inside, 1);
}

static unsigned visit_of(struct thread_pool *pool)
{
    struct visit visit = {0};
    for (int step = 0; step < 20; step++) {
        atomic_store(&visit.items, 0);
        thread_pool_run(pool, note_visit, &visit);
    }
    return atomic_load(&visit.most);
}

static void test_only_so_many_threads_compute_as_are_allowed(void)
{
    struct thread_pool *pool = thread_pool_new(4);
    REQUIRE(pool != NULL);
    CHECK(visit_of(pool) > 1);
    thread_pool_limit(pool, 2);
    usleep(50000); /* helpers that look for the next step see the limit then */
    (void)visit_of(pool);
    CHECK(visit_of(pool) <= 2);
    thread_pool_limit(pool, 1);
    (void)visit_of(pool);
    CHECK(visit_of(pool) == 1);
    for (int step = 0; step < 100; step++)
        run_step(pool, ITEMS);
    thread_pool_limit(pool, 4);
    usleep(50000);
    CHECK(visit_of(pool) > 1);
    thread_pool_limit(pool, 1);
    thread_pool_free(pool); /* while helpers rest */
}

static void test_step_numbers_wrap(void)
{
    struct thread_pool *pool = thread_pool_new(2);
    REQUIRE(pool != NULL);
    for (int step = 0; step < 140000; step++) {
        struct work work = {.slow = ITEMS};
        atomic_store(&work.next, ITEMS - 1);
        thread_pool_run(pool, take_items, &work);
        CHECK(work.done[ITEMS - 1] == 1);
    }
    thread_pool_free(pool);
}

int main(void)
{
    RUN(test_every_item_is_done_once_in_every_step);
    RUN(test_steps_wait_for_helpers_that_have_begun);
    RUN(test_a_slow_core_takes_fewer_items);
    RUN(test_helpers_wake_up_after_a_pause);
    RUN(test_pools_come_and_go);
    RUN(test_more_threads_than_cores_do_every_item_once);
    RUN(test_the_default_count_is_that_of_the_fast_cores_within_the_quota);
    RUN(test_helpers_stay_on_the_fast_cores_of_a_mixed_machine);
    RUN(test_a_helper_on_the_core_of_the_leader_leaves_it);
    RUN(test_only_so_many_threads_compute_as_are_allowed);
    RUN(test_step_numbers_wrap);
    return test_finish();
}

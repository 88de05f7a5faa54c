#include "base/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* How long a thread spins before it sleeps. The gap between two matrices of one token is a few
 * microseconds, a sleep and wake-up cost about 50: spinning longer than that only heats the machine and,
 * when a foreign thread wants the core, blocks the very thread that is waited for. */
#define SPIN_NS 30000
/* Looks at the clock only every so often; a pause instruction is about 40 to 140 cycles. */
#define SPINS_PER_CLOCK_LOOK 16

struct thread_pool {
    uint32_t thread_count;               /* caller included */
    pthread_t *threads;                  /* [thread_count - 1] */
    _Alignas(64) atomic_uint generation; /* a new value starts the workers */
    _Alignas(64) atomic_uint pending;    /* workers that have not finished this generation */
    _Alignas(64) atomic_uint sleepers;   /* workers in futex wait on generation */
    atomic_bool caller_sleeps;
    atomic_bool stop;
    thread_pool_fn *fn;
    void *ctx;
};

struct worker_start {
    struct thread_pool *pool;
    uint32_t index;
};

static void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void futex_wait(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake_all(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
}

/* Spins until *word != value; false when the spinning time is over. */
static bool spin_while_equal(atomic_uint *word, unsigned value)
{
    uint64_t until = 0;
    for (unsigned i = 1; atomic_load_explicit(word, memory_order_acquire) == value; i++) {
        cpu_relax();
        if (i % SPINS_PER_CLOCK_LOOK == 0) {
            uint64_t now = now_ns();
            if (until == 0)
                until = now + SPIN_NS;
            else if (now > until)
                return false;
        }
    }
    return true;
}

static void wait_for_generation(struct thread_pool *pool, unsigned seen)
{
    if (spin_while_equal(&pool->generation, seen))
        return;
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->generation) == seen)
        futex_wait(&pool->generation, seen);
    atomic_fetch_sub(&pool->sleepers, 1);
}

static void *worker_main(void *arg)
{
    struct worker_start *start = arg;
    struct thread_pool *pool = start->pool;
    uint32_t index = start->index;
    free(start);
    for (unsigned seen = 0;; seen++) {
        wait_for_generation(pool, seen);
        if (atomic_load_explicit(&pool->stop, memory_order_acquire))
            return NULL;
        pool->fn(pool->ctx, index, pool->thread_count);
        if (atomic_fetch_sub(&pool->pending, 1) == 1 && atomic_load(&pool->caller_sleeps))
            futex_wake_all(&pool->pending);
    }
}

static uint32_t online_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 256 ? 256 : (uint32_t)cores;
}

static void start_generation(struct thread_pool *pool)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers))
        futex_wake_all(&pool->generation);
}

struct thread_pool *thread_pool_new(uint32_t thread_count)
{
    struct thread_pool *pool = aligned_alloc(64, (sizeof *pool + 63) / 64 * 64);
    if (pool == NULL)
        return NULL;
    *pool = (struct thread_pool){.thread_count = 1};
    if (thread_count == 0)
        thread_count = online_cores();
    pool->threads = calloc(thread_count, sizeof *pool->threads);
    if (pool->threads == NULL) {
        free(pool);
        return NULL;
    }
    for (uint32_t i = 1; i < thread_count; i++) {
        struct worker_start *start = malloc(sizeof *start);
        if (start == NULL)
            break; /* fewer threads still compute the same */
        *start = (struct worker_start){pool, i};
        if (pthread_create(&pool->threads[i - 1], NULL, worker_main, start) != 0) {
            free(start);
            break;
        }
        pool->thread_count = i + 1; /* read by workers only after the first generation starts */
    }
    return pool;
}

void thread_pool_free(struct thread_pool *pool)
{
    if (pool == NULL)
        return;
    atomic_store_explicit(&pool->stop, true, memory_order_release);
    start_generation(pool);
    for (uint32_t i = 0; i + 1 < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    free(pool->threads);
    free(pool);
}

uint32_t thread_pool_count(const struct thread_pool *pool)
{
    return pool->thread_count;
}

void thread_pool_run(struct thread_pool *pool, thread_pool_fn *fn, void *ctx)
{
    uint32_t count = pool->thread_count;
    if (count == 1) {
        fn(ctx, 0, 1);
        return;
    }
    pool->fn = fn;
    pool->ctx = ctx;
    atomic_store(&pool->pending, count - 1);
    start_generation(pool);
    fn(ctx, 0, count);
    unsigned left;
    while ((left = atomic_load_explicit(&pool->pending, memory_order_acquire)) != 0) {
        if (spin_while_equal(&pool->pending, left))
            continue;
        atomic_store(&pool->caller_sleeps, true);
        while ((left = atomic_load(&pool->pending)) != 0)
            futex_wait(&pool->pending, left);
        atomic_store(&pool->caller_sleeps, false);
    }
}

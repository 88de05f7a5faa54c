/* The gate is one word. A helper joins an open step by counting itself in with compare-and-swap.
 * The leader closes the step and waits until the count is zero again. A helper that did not get in
 * waits for the next step. Waiting is a short spin, because steps follow each other within
 * microseconds, and then a futex on the gate. With more threads than cores nobody spins: the
 * spinning thread would hold the core that the awaited thread needs.
 *
 * A helper must do no harm beside a busy process of another program. So it offers its core while it
 * holds no work, and it does not compete with the leader for the leader's core. */
#include "base/thread/thread_pool.h"

#include "base/core/assertion.h"
#include "base/time/clock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define GATE_JOINED 0x7fffu      /* helpers inside */
#define GATE_OPEN 0x8000u        /* helpers may join */
#define GATE_GENERATION_SHIFT 16 /* number of the step; it wraps, which matters to sleepers only */

/* Sleeping and waking cost about 50 us; the serial parts between two steps take below 10 us. */
#define SPIN_NS 30000
#define SPINS_PER_CLOCK_LOOK 16

/* Below the shortest time slice (700 us on the machines measured). The call returns at once when no
 * other thread wants the core. */
#define OFFER_NS 500000

#define THREADS_MAX 256 /* far below what the gate can count */

struct thread_pool {
    uint32_t thread_count; /* leader included */
    uint64_t spin_ns;
    pthread_t *threads; /* [thread_count - 1] */
    thread_pool_fn *fn; /* of the open step */
    void *ctx;
    cpu_set_t places;       /* where helpers may run */
    atomic_int leader_core; /* where the leader began the step */
    _Alignas(64) atomic_uint gate;
    _Alignas(64) atomic_uint sleepers; /* helpers that sleep on the futex */
    atomic_bool leader_sleeps;
    atomic_bool stop;
    atomic_uint helpers; /* that have begun: each takes its number */
    atomic_uint limit;   /* helpers of this number and above rest; a futex of its own */
};

static void cpu_relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void gate_sleep(struct thread_pool *pool, unsigned value)
{
    syscall(SYS_futex, &pool->gate, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

/* Wakes all, because leader and helpers sleep on the same word. */
static void gate_wake(struct thread_pool *pool)
{
    syscall(SYS_futex, &pool->gate, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
}

static bool is_news(unsigned gate, unsigned seen)
{
    return (gate & GATE_OPEN) && gate >> GATE_GENERATION_SHIFT != seen;
}

static bool is_empty(unsigned gate, unsigned seen)
{
    (void)seen;
    return (gate & GATE_JOINED) == 0;
}

/* Spins until the gate is as `wanted`; false when the time for spinning is over. */
static bool spin_until(struct thread_pool *pool, bool (*wanted)(unsigned, unsigned), unsigned seen)
{
    uint64_t until = 0;
    for (unsigned i = 1; !wanted(atomic_load_explicit(&pool->gate, memory_order_acquire), seen);
         i++) {
        cpu_relax();
        if (i % SPINS_PER_CLOCK_LOOK == 0) {
            uint64_t now = clock_monotonic_ns(NULL);
            if (until == 0)
                until = now + pool->spin_ns;
            else if (now > until)
                return false;
        }
    }
    return true;
}

/* Waits for a step that this helper has not seen, or for the end. */
static void wait_for_news(struct thread_pool *pool, unsigned seen)
{
    if (spin_until(pool, is_news, seen))
        return;
    atomic_fetch_add(&pool->sleepers, 1);
    for (unsigned gate;
         !is_news(gate = atomic_load(&pool->gate), seen) && !atomic_load(&pool->stop);)
        gate_sleep(pool, gate);
    atomic_fetch_sub(&pool->sleepers, 1);
}

/* Counts this helper in, unless the step has closed meanwhile. */
static bool join_step(struct thread_pool *pool, unsigned *seen)
{
    unsigned gate = atomic_load(&pool->gate);
    while (is_news(gate, *seen))
        if (atomic_compare_exchange_weak(&pool->gate, &gate, gate + 1)) {
            *seen = gate >> GATE_GENERATION_SHIFT;
            return true;
        }
    return false;
}

/* When other cores are busy, waking places a helper on the leader's core, where it can only take
 * turns with the leader. So it moves to the other cores. It may come back here after the leader has
 * moved. */
static void leave_leader_core(const struct thread_pool *pool)
{
    int core = atomic_load_explicit(&pool->leader_core, memory_order_relaxed);
    if (core < 0 || core >= CPU_SETSIZE || core != sched_getcpu())
        return;
    cpu_set_t others = pool->places;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) > 0)
        (void)sched_setaffinity(0, sizeof others, &others);
}

/* Offers the core to other threads between two steps, where this helper holds no work. A helper
 * that never does is interrupted at the end of its time slice, most likely in the middle of a step,
 * and the leader then waits for some milliseconds. */
static void offer_core(uint64_t *offered_ns)
{
    if (clock_monotonic_ns(NULL) - *offered_ns < OFFER_NS)
        return;
    (void)sched_yield();
    *offered_ns = clock_monotonic_ns(NULL);
}

/* Sleeps while fewer threads are to compute. */
static void rest_above_limit(struct thread_pool *pool, unsigned number)
{
    for (unsigned limit;
         number >= (limit = atomic_load(&pool->limit)) && !atomic_load(&pool->stop);)
        syscall(SYS_futex, &pool->limit, FUTEX_WAIT_PRIVATE, limit, NULL, NULL, 0);
}

static void set_limit(struct thread_pool *pool, unsigned helper_count)
{
    if (atomic_exchange(&pool->limit, helper_count) != helper_count)
        syscall(SYS_futex, &pool->limit, FUTEX_WAKE_PRIVATE, 0x7fffffff, NULL, NULL, 0);
}

static void *helper_main(void *arg)
{
    struct thread_pool *pool = arg;
    unsigned seen = 0, number = atomic_fetch_add(&pool->helpers, 1);
    uint64_t offered_ns = clock_monotonic_ns(NULL);
    while (!atomic_load(&pool->stop)) {
        if (number >= atomic_load_explicit(&pool->limit, memory_order_relaxed))
            rest_above_limit(pool, number);
        offer_core(&offered_ns);
        wait_for_news(pool, seen);
        leave_leader_core(pool);
        if (!join_step(pool, &seen))
            continue;
        pool->fn(pool->ctx);
        unsigned before = atomic_fetch_sub(&pool->gate, 1);
        bool last = (before & GATE_JOINED) == 1 && !(before & GATE_OPEN);
        if (last && atomic_load(&pool->leader_sleeps))
            gate_wake(pool);
    }
    return NULL;
}

/* Starts up to thread_count - 1 helpers; with fewer, the results are the same. */
static void start_helpers(struct thread_pool *pool, const struct cores *cores,
                          uint32_t thread_count)
{
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return;
    bool all_fast = cores->fast < cores->usable && thread_count <= cores->fast;
    if (sched_getaffinity(0, sizeof pool->places, &pool->places) != 0)
        CPU_ZERO(&pool->places);
    if (all_fast) { /* if the mask is refused, helpers run where they may */
        (void)pthread_attr_setaffinity_np(&attributes, sizeof cores->fast_set, &cores->fast_set);
        pool->places = cores->fast_set;
    }
    while (pool->thread_count < thread_count) {
        pthread_t *thread = &pool->threads[pool->thread_count - 1];
        if (pthread_create(thread, &attributes, helper_main, pool) != 0 &&
            (!all_fast || pthread_create(thread, NULL, helper_main, pool) != 0))
            break;
        pool->thread_count++;
    }
    pthread_attr_destroy(&attributes);
}

struct thread_pool *thread_pool_new_on(const struct cores *cores, uint32_t thread_count)
{
    struct thread_pool *pool = aligned_alloc(64, (sizeof *pool + 63) / 64 * 64);
    if (pool == NULL)
        return NULL;
    *pool = (struct thread_pool){.thread_count = 1, .limit = THREADS_MAX};
    if (thread_count == 0)
        thread_count = cores_thread_count(cores);
    thread_count = thread_count > THREADS_MAX ? THREADS_MAX : thread_count;
    pool->spin_ns = thread_count <= cores->usable ? SPIN_NS : 0;
    pool->threads = calloc(thread_count, sizeof *pool->threads);
    if (pool->threads == NULL) {
        free(pool);
        return NULL;
    }
    start_helpers(pool, cores, thread_count);
    return pool;
}

struct thread_pool *thread_pool_new(uint32_t thread_count)
{
    struct cores cores;
    cores_read("", NULL, &cores);
    return thread_pool_new_on(&cores, thread_count);
}

void thread_pool_free(struct thread_pool *pool)
{
    if (pool == NULL)
        return;
    atomic_store(&pool->stop, true);
    atomic_fetch_add(&pool->gate, 1u << GATE_GENERATION_SHIFT); /* so that no helper falls asleep */
    gate_wake(pool);
    set_limit(pool, UINT32_MAX);
    for (uint32_t i = 0; i + 1 < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    free(pool->threads);
    free(pool);
}

uint32_t thread_pool_count(const struct thread_pool *pool)
{
    return pool->thread_count;
}

void thread_pool_limit(struct thread_pool *pool, uint32_t thread_count)
{
    ASSERT(thread_count > 0);
    set_limit(pool, thread_count - 1);
}

void thread_pool_run(struct thread_pool *pool, thread_pool_fn *fn, void *ctx)
{
    ASSERT(fn != NULL);
    if (pool->thread_count == 1) {
        fn(ctx);
        return;
    }
    pool->fn = fn;
    pool->ctx = ctx;
    atomic_store_explicit(&pool->leader_core, sched_getcpu(), memory_order_relaxed);
    unsigned generation = (atomic_load(&pool->gate) >> GATE_GENERATION_SHIFT) + 1;
    atomic_store(&pool->gate, generation << GATE_GENERATION_SHIFT | GATE_OPEN);
    if (atomic_load(&pool->sleepers))
        gate_wake(pool);
    fn(ctx);
    unsigned gate = atomic_fetch_and(&pool->gate, ~GATE_OPEN);
    if ((gate & GATE_JOINED) == 0 || spin_until(pool, is_empty, 0))
        return;
    atomic_store(&pool->leader_sleeps, true);
    while ((gate = atomic_load(&pool->gate)) & GATE_JOINED)
        gate_sleep(pool, gate);
    atomic_store(&pool->leader_sleeps, false);
}

/* While entries wait, they are counted each second: another process or node may end them. Whoever
 * asks has them counted at once, four times a second at most. An empty queue is not looked at
 * between requests. */
#include "ledger/store/queue_keeper.h"

#include "base/core/error.h"
#include "base/thread/periodic.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "ledger/store/queue_store.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT_MS 250
#define WAITING_MS 1000
#define SWEEP_MS 60000

struct watched {
    char queue[QUEUED_NAME_BYTES];
    uint32_t keep_s, waiting;
};

struct queue_keeper {
    struct queue_store *store;
    struct periodic thread; /* its lock is of all below; never held while the database is asked */
    struct watched *watched;
    size_t count;
    bool asked;
    bool failed; /* as the log has it; the thread's */
};

static struct watched *find_locked(const struct queue_keeper *keeper, const char *queue)
{
    for (size_t i = 0; i < keeper->count; i++)
        if (strcmp(keeper->watched[i].queue, queue) == 0)
            return &keeper->watched[i];
    return NULL;
}

static uint32_t keep_of(void *ctx, const char *queue)
{
    struct queue_keeper *keeper = ctx;
    pthread_mutex_lock(&keeper->thread.lock);
    const struct watched *watched = find_locked(keeper, queue);
    uint32_t keep_s = watched ? watched->keep_s : QUEUE_KEEP_S;
    pthread_mutex_unlock(&keeper->thread.lock);
    return keep_s;
}

static void sweep(struct queue_keeper *keeper)
{
    struct td_error err = {0};
    enum td_status status = queue_store_sweep(keeper->store, keep_of, keeper, &err);
    bool failed = status != TD_OK && status != TD_BUSY && status != TD_UNAVAILABLE;
    if (failed && !keeper->failed)
        log_event(LOG_LEVEL_WARN, "queue_not_pruned", "reason=\"%s\"", err.message);
    keeper->failed = failed;
}

/* Rows are only added, but they move when one is. True while any entry waits. */
static bool count_all(struct queue_keeper *keeper)
{
    bool any = false;
    pthread_mutex_lock(&keeper->thread.lock);
    for (size_t i = 0; i < keeper->count && !keeper->thread.stop; i++) {
        struct queue_count count;
        char queue[QUEUED_NAME_BYTES];
        memcpy(queue, keeper->watched[i].queue, sizeof queue);
        pthread_mutex_unlock(&keeper->thread.lock);
        queue_store_count(keeper->store, queue, &count);
        pthread_mutex_lock(&keeper->thread.lock);
        keeper->watched[i].waiting = (uint32_t)count.waiting;
        any = any || count.waiting > 0;
    }
    pthread_mutex_unlock(&keeper->thread.lock);
    return any;
}

/* Until `ms` are over or somebody asks. True when it is to end. */
static bool wait_for_asking(struct queue_keeper *keeper, uint32_t ms)
{
    const struct timespec until = clock_deadline(ms);
    int code = 0;
    pthread_mutex_lock(&keeper->thread.lock);
    while (!keeper->thread.stop && !keeper->asked && code == 0)
        code = pthread_cond_timedwait(&keeper->thread.wake, &keeper->thread.lock, &until);
    bool stop = keeper->thread.stop;
    keeper->asked = false;
    pthread_mutex_unlock(&keeper->thread.lock);
    return stop;
}

static void *run(void *ctx)
{
    struct queue_keeper *keeper = ctx;
    double swept_ms = -SWEEP_MS;
    bool any = false;
    do {
        double now_ms = clock_monotonic_ms(NULL);
        if (now_ms - swept_ms >= SWEEP_MS) {
            sweep(keeper);
            swept_ms = now_ms;
        }
        any = count_all(keeper);
    } while (!periodic_pause(&keeper->thread, COUNT_MS) &&
             !wait_for_asking(keeper, any ? WAITING_MS - COUNT_MS : SWEEP_MS));
    return NULL;
}

void queue_keeper_stop(struct queue_keeper *keeper)
{
    if (!keeper)
        return;
    periodic_end(&keeper->thread);
    free(keeper->watched);
    free(keeper);
}

enum td_status queue_keeper_start(struct queue_store *store, struct queue_keeper **out,
                                  struct td_error *err)
{
    struct queue_keeper *keeper = calloc(1, sizeof *keeper);
    *out = NULL;
    if (!keeper)
        return error_set(err, TD_NO_MEMORY, "no memory to keep queues");
    keeper->store = store;
    periodic_init(&keeper->thread);
    if (!periodic_start(&keeper->thread, run, keeper)) {
        queue_keeper_stop(keeper);
        return error_set(err, TD_NO_MEMORY, "no thread to keep queues");
    }
    *out = keeper;
    return TD_OK;
}

static struct watched *add_locked(struct queue_keeper *keeper, const char *queue)
{
    struct watched *grown = realloc(keeper->watched, (keeper->count + 1) * sizeof *keeper->watched);
    if (!grown)
        return NULL;
    keeper->watched = grown;
    grown[keeper->count] = (struct watched){.queue = ""};
    snprintf(grown[keeper->count].queue, QUEUED_NAME_BYTES, "%s", queue);
    return &grown[keeper->count++];
}

enum td_status queue_keeper_watch(struct queue_keeper *keeper, const char *queue, uint32_t keep_s,
                                  struct td_error *err)
{
    pthread_mutex_lock(&keeper->thread.lock);
    struct watched *watched = find_locked(keeper, queue);
    if (!watched)
        watched = add_locked(keeper, queue);
    if (watched)
        watched->keep_s = keep_s;
    pthread_mutex_unlock(&keeper->thread.lock);
    queue_keeper_ask(keeper);
    return watched ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory to keep a queue");
}

void queue_keeper_ask(struct queue_keeper *keeper)
{
    pthread_mutex_lock(&keeper->thread.lock);
    keeper->asked = true;
    pthread_cond_signal(&keeper->thread.wake);
    pthread_mutex_unlock(&keeper->thread.lock);
}

uint32_t queue_keeper_waiting(struct queue_keeper *keeper, const char *queue)
{
    pthread_mutex_lock(&keeper->thread.lock);
    const struct watched *watched = find_locked(keeper, queue);
    uint32_t waiting = watched ? watched->waiting : 0;
    pthread_mutex_unlock(&keeper->thread.lock);
    queue_keeper_ask(keeper);
    return waiting;
}

/* While entries wait, they are counted each second: another process or node may end them. Whoever
 * asks has them counted at once, four times a second at most. An empty queue is not looked at
 * between requests. */
#include "ledger/store/queue_keeper.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
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
    pthread_t thread;
    pthread_mutex_t lock; /* of all below; never held while the database is asked */
    pthread_cond_t wake;
    struct watched *watched;
    size_t count;
    bool stop, asked;
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
    pthread_mutex_lock(&keeper->lock);
    const struct watched *watched = find_locked(keeper, queue);
    uint32_t keep_s = watched ? watched->keep_s : QUEUE_KEEP_S;
    pthread_mutex_unlock(&keeper->lock);
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
    pthread_mutex_lock(&keeper->lock);
    for (size_t i = 0; i < keeper->count && !keeper->stop; i++) {
        struct queue_count count;
        char queue[QUEUED_NAME_BYTES];
        memcpy(queue, keeper->watched[i].queue, sizeof queue);
        pthread_mutex_unlock(&keeper->lock);
        queue_store_count(keeper->store, queue, &count);
        pthread_mutex_lock(&keeper->lock);
        keeper->watched[i].waiting = (uint32_t)count.waiting;
        any = any || count.waiting > 0;
    }
    pthread_mutex_unlock(&keeper->lock);
    return any;
}

/* Until `ms` are over or, if `early`, somebody asks. True when it is to end. */
static bool wait_for(struct queue_keeper *keeper, uint32_t ms, bool early)
{
    const struct timespec until = clock_deadline(ms);
    int code = 0;
    pthread_mutex_lock(&keeper->lock);
    while (!keeper->stop && !(early && keeper->asked) && code == 0)
        code = pthread_cond_timedwait(&keeper->wake, &keeper->lock, &until);
    bool stop = keeper->stop;
    if (early)
        keeper->asked = false;
    pthread_mutex_unlock(&keeper->lock);
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
    } while (!wait_for(keeper, COUNT_MS, false) &&
             !wait_for(keeper, any ? WAITING_MS - COUNT_MS : SWEEP_MS, true));
    return NULL;
}

static void keeper_free(struct queue_keeper *keeper)
{
    pthread_mutex_destroy(&keeper->lock);
    pthread_cond_destroy(&keeper->wake);
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
    pthread_mutex_init(&keeper->lock, NULL);
    clock_cond_init(&keeper->wake);
    if (pthread_create(&keeper->thread, NULL, run, keeper) != 0) {
        keeper_free(keeper);
        return error_set(err, TD_NO_MEMORY, "no thread to keep queues");
    }
    *out = keeper;
    return TD_OK;
}

void queue_keeper_stop(struct queue_keeper *keeper)
{
    if (!keeper)
        return;
    pthread_mutex_lock(&keeper->lock);
    keeper->stop = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    keeper_free(keeper);
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
    pthread_mutex_lock(&keeper->lock);
    struct watched *watched = find_locked(keeper, queue);
    if (!watched)
        watched = add_locked(keeper, queue);
    if (watched)
        watched->keep_s = keep_s;
    pthread_mutex_unlock(&keeper->lock);
    queue_keeper_ask(keeper);
    return watched ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory to keep a queue");
}

void queue_keeper_ask(struct queue_keeper *keeper)
{
    pthread_mutex_lock(&keeper->lock);
    keeper->asked = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->lock);
}

uint32_t queue_keeper_waiting(struct queue_keeper *keeper, const char *queue)
{
    pthread_mutex_lock(&keeper->lock);
    const struct watched *watched = find_locked(keeper, queue);
    uint32_t waiting = watched ? watched->waiting : 0;
    pthread_mutex_unlock(&keeper->lock);
    queue_keeper_ask(keeper);
    return waiting;
}

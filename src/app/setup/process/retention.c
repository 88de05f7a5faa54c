/* Looks once a minute. What is to go goes some hundred rows at a time with pauses between them, so
 * that records of answers come in between, and a ledger that was never pruned gets small in the
 * background. A database that is away is tried again a minute later; the ledger's own thread has
 * told of it. */
#include "app/setup/process/retention.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "ledger/prune.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS 86400000ull
#define FIRST_MS 1000
#define LOOK_MS 60000
#define PAUSE_MS 50
#define ROWS 500

struct retention {
    char *path;
    uint64_t keep_ms;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop, failed; /* failed: as the log has it */
};

/* True when it is to end. */
static bool pause_for(struct retention *retention, uint32_t ms)
{
    const struct timespec until = clock_deadline(ms);
    int code = 0;
    pthread_mutex_lock(&retention->lock);
    while (!retention->stop && code == 0)
        code = pthread_cond_timedwait(&retention->wake, &retention->lock, &until);
    bool stop = retention->stop;
    pthread_mutex_unlock(&retention->lock);
    return stop;
}

static enum td_status remove_old(struct retention *retention, uint64_t *sum, struct td_error *err)
{
    struct ledger_pruner *pruner;
    uint64_t now_ms = clock_wall_ms(NULL), count = ROWS;
    enum td_status status = ledger_pruner_open(retention->path, &pruner, err);
    while (status == TD_OK && count == ROWS && now_ms > retention->keep_ms) {
        status = ledger_prune(pruner, now_ms - retention->keep_ms, ROWS, &count, err);
        *sum += count;
        if (count == ROWS && pause_for(retention, PAUSE_MS))
            break;
    }
    if (status == TD_OK)
        ledger_pruner_close(pruner);
    return status;
}

static void *run(void *ctx)
{
    struct retention *retention = ctx;
    uint32_t wait_ms = FIRST_MS;
    while (!pause_for(retention, wait_ms)) {
        struct td_error err = {0};
        uint64_t sum = 0;
        enum td_status status = remove_old(retention, &sum, &err);
        bool failed = status != TD_OK && status != TD_BUSY && status != TD_NOT_FOUND &&
                      status != TD_UNAVAILABLE;
        if (sum > 0)
            log_event(LOG_LEVEL_INFO, "ledger_pruned", "exchanges=%llu", (unsigned long long)sum);
        if (failed && !retention->failed)
            log_event(LOG_LEVEL_WARN, "ledger_not_pruned", "reason=\"%s\"", err.message);
        retention->failed = failed;
        wait_ms = LOOK_MS;
    }
    return NULL;
}

static void retention_free(struct retention *retention)
{
    pthread_mutex_destroy(&retention->lock);
    pthread_cond_destroy(&retention->wake);
    free(retention->path);
    free(retention);
}

enum td_status retention_start(const struct config *config, struct retention **out,
                               struct td_error *err)
{
    *out = NULL;
    if (!config->ledger.enabled || config->ledger.keep_days == 0)
        return TD_OK;
    struct retention *retention = calloc(1, sizeof *retention);
    if (!retention)
        return error_set(err, TD_NO_MEMORY, "no memory to remove old records");
    retention->keep_ms = config->ledger.keep_days * DAY_MS;
    pthread_mutex_init(&retention->lock, NULL);
    clock_cond_init(&retention->wake);
    retention->path = strdup(config->ledger.path);
    if (!retention->path || pthread_create(&retention->thread, NULL, run, retention) != 0) {
        retention_free(retention);
        return error_set(err, TD_NO_MEMORY, "no thread to remove old records");
    }
    *out = retention;
    return TD_OK;
}

void retention_stop(struct retention *retention)
{
    if (!retention)
        return;
    pthread_mutex_lock(&retention->lock);
    retention->stop = true;
    pthread_cond_signal(&retention->wake);
    pthread_mutex_unlock(&retention->lock);
    pthread_join(retention->thread, NULL);
    retention_free(retention);
}

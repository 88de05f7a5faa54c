/* Looks once a minute. A ledger that was never pruned gets small in the background. A database that
 * is away is tried again a minute later; the ledger's own thread has told of it. */
#include "app/setup/process/retention.h"

#include "base/core/error.h"
#include "base/thread/periodic.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "ledger/record/prune.h"

#include <stdlib.h>
#include <string.h>

#define DAY_MS 86400000ull
#define MB 1000000u
#define FIRST_MS 1000
#define LOOK_MS 60000

struct retention {
    char *path;
    struct retention_keep keep;
    uint64_t marks[LEDGER_CLASSES + 1];
    struct periodic thread;
    bool failed; /* as the log has it */
};

/* True when it is to end. */
static bool pause_for(void *ctx, uint32_t ms)
{
    struct retention *retention = ctx;
    return periodic_pause(&retention->thread, ms);
}

static enum td_status remove_old(struct retention *retention, struct ledger_pruned *sum,
                                 struct td_error *err)
{
    struct ledger_pruner *pruner;
    struct ledger_keep keep;
    retention_keep_now(&retention->keep, &keep);
    memcpy(keep.marks, retention->marks, sizeof keep.marks);
    enum td_status status = ledger_pruner_open(retention->path, &pruner, err);
    if (status != TD_OK)
        return status;
    status = ledger_prune(pruner, &keep, pause_for, retention, sum, err);
    memcpy(retention->marks, keep.marks, sizeof keep.marks);
    ledger_pruner_close(pruner);
    return status;
}

static void *run(void *ctx)
{
    struct retention *retention = ctx;
    uint32_t wait_ms = FIRST_MS;
    while (!pause_for(retention, wait_ms)) {
        struct td_error err = {0};
        struct ledger_pruned sum = {0};
        enum td_status status = remove_old(retention, &sum, &err);
        bool failed = status != TD_OK && status != TD_BUSY && status != TD_NOT_FOUND &&
                      status != TD_UNAVAILABLE;
        if (sum.exchanges > 0)
            log_event(LOG_LEVEL_INFO, "ledger_pruned", "exchanges=%llu bytes=%llu",
                      (unsigned long long)sum.exchanges, (unsigned long long)sum.bytes);
        if (failed && !retention->failed)
            log_event(LOG_LEVEL_WARN, "ledger_not_pruned", "reason=\"%s\"", err.message);
        retention->failed = failed;
        wait_ms = LOOK_MS;
    }
    return NULL;
}

void retention_stop(struct retention *retention)
{
    if (!retention)
        return;
    periodic_end(&retention->thread);
    free(retention->path);
    free(retention);
}

bool retention_keep_read(const struct config *config, struct retention_keep *out)
{
    const uint32_t *days = config->ledger.keep_class_days;
    out->days = config->ledger.keep_days;
    out->bytes_max = (uint64_t)config->ledger.keep_mb * MB;
    bool ends = out->days > 0 || out->bytes_max > 0;
    out->by_class = false;
    for (int i = 0; i < LEDGER_CLASSES; i++) {
        out->class_days[i] = days[i] == 0 ? out->days : days[i] == UINT32_MAX ? 0 : days[i];
        out->by_class = out->by_class || days[i] != 0;
        ends = ends || out->class_days[i] > 0;
    }
    return ends;
}

static uint64_t days_ago(uint64_t now_ms, uint64_t days)
{
    return days > 0 && now_ms > days * DAY_MS ? now_ms - days * DAY_MS : 0;
}

void retention_keep_now(const struct retention_keep *keep, struct ledger_keep *out)
{
    uint64_t now_ms = clock_wall_ms(NULL);
    *out = (struct ledger_keep){.before_wall_ms = days_ago(now_ms, keep->days),
                                .by_class = keep->by_class,
                                .bytes_max = keep->bytes_max};
    for (int i = 0; i < LEDGER_CLASSES; i++)
        out->class_before_wall_ms[i] = days_ago(now_ms, keep->class_days[i]);
}

enum td_status retention_start(const struct config *config, struct retention **out,
                               struct td_error *err)
{
    *out = NULL;
    struct retention_keep keep;
    if (!config->ledger.enabled || !retention_keep_read(config, &keep))
        return TD_OK;
    struct retention *retention = calloc(1, sizeof *retention);
    if (!retention)
        return error_set(err, TD_NO_MEMORY, "no memory to remove old records");
    retention->keep = keep;
    periodic_init(&retention->thread);
    retention->path = strdup(config->ledger.path);
    if (!retention->path || !periodic_start(&retention->thread, run, retention)) {
        retention_stop(retention);
        return error_set(err, TD_NO_MEMORY, "no thread to remove old records");
    }
    *out = retention;
    return TD_OK;
}

/* A look takes some dozens of small files, so it is done here every two seconds and never by a
 * request. What follows from it is set at the engines, which heed it between two passes.
 *
 * Short memory is answered in an order that costs little first: prompts that are cached for later,
 * then fewer pages for answers at a time and models that rest unused, and at last the planner sends
 * new requests elsewhere (router/plan/plan.c). */
#include "app/setup/process/device_keeper.h"

#include "base/core/error.h"
#include "base/thread/periodic.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "device/device.h"
#include "engine/session/scheduler.h"

#include <math.h>
#include <stdlib.h>

/* Cached prompts are given back at most so often: some come with every answer. */
#define FORGET_S 10.0
#define SHORT_PAGE_SHARE 0.5

struct device_keeper {
    struct runtime *runtime;
    struct periodic thread;
    double forgot_s;
    enum device_level told;
    enum device_cause cause;
};

static void add_work(struct scheduler *scheduler, struct device_work *work)
{
    struct scheduler_load load = scheduler_get_load(scheduler);
    struct scheduler_forecast forecast;
    work->busy_s += (double)load.pass_us / 1e6;
    work->tokens += (double)load.completion_tokens;
    if (work->threads > 0)
        return;
    scheduler_forecast(scheduler, TD_PRIORITY_INTERACTIVE, 0, 0, &forecast);
    work->token_ms = load.completion_tokens ? forecast.token_ms : 0;
    work->threads = load.thread_count;
}

/* The first scheduler is the main model's, which is kept. */
static void ease(struct device_keeper *keeper, const struct exchange_services *services,
                 const struct device_state *state)
{
    double now_s = clock_monotonic_ms(NULL) / 1000;
    bool forgets = state->memory_level >= DEVICE_WARM && now_s - keeper->forgot_s >= FORGET_S;
    for (size_t i = 0; i < services->scheduler_count; i++) {
        const struct scheduler_ease eased = {
            .thread_share = state->thread_share,
            .exit_share =
                state->cause == DEVICE_CAUSE_MEMORY ? 1 : device_level_exits(state->level),
            .page_share = state->memory_level >= DEVICE_HOT ? SHORT_PAGE_SHARE : 1,
            .sleep = i > 0 && state->memory_level >= DEVICE_HOT};
        scheduler_set_ease(services->schedulers[i], &eased);
        if (forgets)
            scheduler_forget(services->schedulers[i], NULL);
    }
    keeper->forgot_s = forgets ? now_s : keeper->forgot_s;
}

static void tell(struct device_keeper *keeper, const struct device_state *state)
{
    if (state->level == keeper->told && state->cause == keeper->cause)
        return;
    keeper->told = state->level;
    keeper->cause = state->cause;
    log_event(LOG_LEVEL_INFO, "device_level", "level=%s cause=%s reason=\"%s\"",
              device_level_names[state->level], device_cause_names[state->cause], state->why);
}

static void look(struct device_keeper *keeper)
{
    struct exchange_services *services = runtime_acquire(keeper->runtime);
    struct device_work work = {.busy_s = 0};
    struct device_state state;
    for (size_t i = 0; services->device && i < services->scheduler_count; i++)
        add_work(services->schedulers[i], &work);
    if (services->device) {
        device_sample(services->device, &work);
        device_read(services->device, &state);
        ease(keeper, services, &state);
        tell(keeper, &state);
    }
    runtime_release(keeper->runtime, services);
}

static void *run(void *ctx)
{
    struct device_keeper *keeper = ctx;
    do
        look(keeper);
    while (!periodic_pause(&keeper->thread, DEVICE_SAMPLE_MS));
    return NULL;
}

void device_keeper_stop(struct device_keeper *keeper)
{
    if (!keeper)
        return;
    periodic_end(&keeper->thread);
    free(keeper);
}

enum td_status device_keeper_start(struct runtime *runtime, struct device_keeper **out,
                                   struct td_error *err)
{
    *out = NULL;
    struct device_keeper *keeper = calloc(1, sizeof *keeper);
    if (!keeper)
        return error_set(err, TD_NO_MEMORY, "no memory to look at the device");
    keeper->runtime = runtime;
    keeper->forgot_s = -(double)INFINITY;
    periodic_init(&keeper->thread);
    if (!periodic_start(&keeper->thread, run, keeper)) {
        device_keeper_stop(keeper);
        return error_set(err, TD_NO_MEMORY, "no thread to look at the device");
    }
    *out = keeper;
    return TD_OK;
}

/* The life of the scheduler and its thread. The thread takes jobs from the queue
 * (scheduler_admit.c) and runs forward passes over all that have a slot (scheduler_pass.c) until it
 * is told to stop. It sleeps when nothing is due. Everything else owns no lock: what other threads
 * may read is atomic, and jobs come through a bounded queue. */
#include "engine/session/scheduler_internal.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <stdlib.h>

/* After this time a post is tried again, if the loop's queue was full. */
#define POST_RETRY_MS 5
static void end_waiting(struct scheduler *scheduler, enum td_status status,
                        const struct td_error *err)
{
    const struct td_generate_result nothing = {0};
    for (uint32_t i = 0; i < scheduler->waiting_count; i++) {
        job_end(scheduler->waiting[i], status, &nothing, err);
        if (!job_post(scheduler->waiting[i]))
            log_event(LOG_LEVEL_WARN, "job_end_not_delivered", "waiting=%u", i);
        scheduler_forget_job(scheduler, scheduler->waiting[i]);
    }
    scheduler->waiting_count = 0;
}

static void end_everything(struct scheduler *scheduler)
{
    struct td_error err = {0};
    enum td_status status = error_set(&err, TD_CANCELLED, "the engine is shutting down");
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct slot *slot = &scheduler->slots[i];
        if (slot->state == SLOT_RUNNING)
            scheduler_end_slot(scheduler, slot, status, &err);
        if (slot->state == SLOT_ENDING) /* its loop takes no posts any more */
            scheduler_forget_job(scheduler, slot->job);
        slot->state = SLOT_FREE;
    }
    scheduler_collect(scheduler);
    end_waiting(scheduler, status, &err);
}

static void forget_texts(struct scheduler *scheduler, unsigned what,
                         const struct prefix_scope *scope)
{
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct sequence *sequence = &scheduler->slots[i].sequence;
        if (scheduler->slots[i].job != NULL)
            continue;
        sequence_truncate(sequence, 0);
        explicit_bzero(sequence->ids, sequence->context_size * sizeof *sequence->ids);
    }
    bool kept_too = what & (FORGET_ALL | FORGET_SCOPE);
    const struct prefix_scope *of = what & FORGET_ALL ? NULL : scope;
    if (kept_too)
        prefix_forget(scheduler->prefixes, of);
    else
        kv_pool_wipe_free(scheduler->kv_pool);
    if (scheduler->draft)
        scheduler_draft_forget(scheduler->draft, kept_too, of);
    atomic_store(&scheduler->pages_used, scheduler->kv_pool->used_count);
}

/* What is due, and of whom. */
static unsigned take_forget(struct scheduler *scheduler, struct prefix_scope *scope)
{
    unsigned what = atomic_exchange(&scheduler->forget, 0);
    if (what & FORGET_SCOPE) {
        *scope = scheduler->forget_scope;
        atomic_store(&scheduler->forget_claimed, false);
    }
    return what;
}

/* --- sleep --- */

static bool has_jobs(const struct scheduler *scheduler)
{
    return atomic_load(&scheduler->jobs) > 0 || atomic_load(&scheduler->spares) > 0;
}

static bool is_asleep(const struct scheduler *scheduler)
{
    return scheduler->workspace == NULL;
}

static void fall_asleep(struct scheduler *scheduler)
{
    scheduler_close_memory(scheduler);
    scheduler_drop_weights(scheduler);
    log_event(LOG_LEVEL_INFO, "model_unloaded", "model=\"%s\"", scheduler->model->name);
}

/* Jobs that came meanwhile wait. When the memory cannot be had, they end with the reason. */
static void wake_up(struct scheduler *scheduler)
{
    struct td_error err = {0};
    double begin = clock_monotonic_ms(NULL);
    enum td_status status = scheduler_open_memory(scheduler, &err);
    if (status == TD_OK) {
        scheduler_read_weights(scheduler);
        double load_ms = clock_monotonic_ms(NULL) - begin;
        atomic_store(&scheduler->load_ms, (uint32_t)load_ms + 1);
        atomic_fetch_add(&scheduler->loads, 1);
        log_event(LOG_LEVEL_INFO, "model_loaded", "model=\"%s\" ms=%.0f", scheduler->model->name,
                  load_ms);
        return;
    }
    scheduler_close_memory(scheduler);
    log_event(LOG_LEVEL_WARN, "model_not_loaded", "model=\"%s\" reason=\"%s\"",
              scheduler->model->name, err.message);
    scheduler_collect(scheduler);
    end_waiting(scheduler, status, &err);
}

/* How long to wait for the next job before the memory is given back. */
static uint32_t wait_ms(const struct scheduler *scheduler)
{
    if (scheduler->post_failed)
        return POST_RETRY_MS;
    bool early = atomic_load(&scheduler->sleep_early);
    bool sleeps =
        (scheduler->options.idle_ms || early) && !is_asleep(scheduler) && !has_jobs(scheduler);
    return !sleeps ? UINT32_MAX : early ? 0 : scheduler->options.idle_ms;
}

static void rest(struct scheduler *scheduler)
{
    uint32_t wait = wait_ms(scheduler);
    double begin = clock_monotonic_ms(NULL);
    wake_wait(scheduler->wake, wait);
    bool idle = !scheduler->post_failed && wait != UINT32_MAX && !has_jobs(scheduler) &&
                clock_monotonic_ms(NULL) - begin + POST_RETRY_MS >= wait;
    if (idle)
        fall_asleep(scheduler);
}

static void *scheduler_main(void *arg)
{
    struct scheduler *scheduler = arg;
    if (!is_asleep(scheduler)) /* else the first passes tell */
        scheduler_warm_up(scheduler);
    while (!atomic_load(&scheduler->stop)) {
        scheduler->post_failed = false;
        if (is_asleep(scheduler) && has_jobs(scheduler))
            wake_up(scheduler);
        struct prefix_scope scope;
        unsigned forget = take_forget(scheduler, &scope);
        if (is_asleep(scheduler)) {
            rest(scheduler);
            continue;
        }
        if (forget)
            forget_texts(scheduler, forget, &scope);
        scheduler_admit(scheduler);
        if (!scheduler_pass(scheduler) && !atomic_load(&scheduler->forget))
            rest(scheduler);
    }
    end_everything(scheduler);
    return NULL;
}

/* --- from outside --- */

static enum td_status start(struct scheduler *scheduler, const struct scheduler_options *options,
                            struct td_error *err)
{
    scheduler->slot_count = options->slot_count;
    atomic_store(&scheduler->page_share, 1);
    atomic_store(&scheduler->exit_share, 1);
    backlog_init(scheduler);
    scheduler->jobs_max = options->slot_count + options->queue_capacity;
    scheduler->slots = calloc(scheduler->slot_count, sizeof *scheduler->slots);
    scheduler->places_max = scheduler->jobs_max + 2 * options->slot_count;
    scheduler->waiting = calloc(scheduler->places_max, sizeof *scheduler->waiting);
    scheduler->waiting_plans = calloc(scheduler->places_max, sizeof *scheduler->waiting_plans);
    scheduler->submitted = queue_new(scheduler->places_max);
    scheduler->wake = wake_new();
    scheduler->threads = thread_pool_new(options->thread_count);
    if (scheduler->slots == NULL || scheduler->waiting == NULL ||
        scheduler->waiting_plans == NULL || scheduler->submitted == NULL ||
        scheduler->wake == NULL || scheduler->threads == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a scheduler of %u slots",
                         options->slot_count);
    enum td_status status =
        sequence_context(scheduler->model, options->context_tokens, &scheduler->context_size, err);
    if (status == TD_OK)
        status = scheduler_open_memory(scheduler, err);
    if (status != TD_OK)
        return status;
    if (options->idle_ms) /* now that it is known to fit */
        scheduler_close_memory(scheduler);
    if (pthread_create(&scheduler->thread, NULL, scheduler_main, scheduler) != 0)
        return error_set(err, TD_NO_MEMORY, "cannot start the scheduler's thread");
    scheduler->thread_started = true;
    return TD_OK;
}

enum td_status scheduler_new(const struct scheduler_options *options, struct scheduler **out,
                             struct td_error *err)
{
    ASSERT(options->model != NULL && out != NULL);
    *out = NULL;
    if (options->slot_count == 0 || options->slot_count > SLOTS_MAX ||
        options->queue_capacity > 65536)
        return error_set(err, TD_INVALID, "%u slots and a queue of %u: 1 to %d and at most 65536",
                         options->slot_count, options->queue_capacity, SLOTS_MAX);
    if ((options->speculation == TD_SPECULATION_DRAFT) != (options->draft != NULL))
        return error_set(err, TD_INVALID,
                         "draft speculation needs a draft model, and nothing else may have one");
    if (options->exit_threshold > 0 && options->model->info.exit_count == 0)
        return error_set(err, TD_INVALID, "exit_threshold: %s has no early exits",
                         options->model->name);
    if (options->exit_threshold > 0 && options->speculation != TD_SPECULATION_NONE)
        return error_set(err, TD_INVALID, "exit_threshold and speculation exclude each other");
    struct scheduler *scheduler = calloc(1, sizeof *scheduler);
    if (scheduler == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a scheduler");
    scheduler->exit_threshold = options->exit_threshold;
    scheduler->keep_nothing = options->keep_nothing;
    scheduler->options = *options;
    scheduler->model = options->model;
    scheduler->speculation = options->speculation;
    scheduler->draft_tokens = options->draft_tokens;
    enum td_status status = start(scheduler, options, err);
    if (status != TD_OK) {
        scheduler_free(scheduler);
        return status;
    }
    *out = scheduler;
    return TD_OK;
}

void scheduler_free(struct scheduler *scheduler)
{
    if (scheduler == NULL)
        return;
    if (scheduler->thread_started) {
        atomic_store(&scheduler->stop, true);
        wake_signal(scheduler->wake);
        pthread_join(scheduler->thread, NULL);
    }
    scheduler_close_memory(scheduler);
    thread_pool_free(scheduler->threads);
    queue_free(scheduler->submitted);
    wake_release(scheduler->wake);
    free(scheduler->waiting);
    free(scheduler->waiting_plans);
    free(scheduler->slots);
    free(scheduler);
}

/* Takes a place for a job; false if there is none. */
static bool reserve_place(struct scheduler *scheduler, const struct job_request *request)
{
    bool spare = request->priority == TD_PRIORITY_SPARE;
    atomic_uint *count = spare ? &scheduler->spares : &scheduler->jobs;
    uint32_t max = spare ? scheduler->slot_count : scheduler->jobs_max, jobs = atomic_load(count);
    if (!spare && request->owner) /* somebody else may have to give up a place */
        max += scheduler->slot_count;
    do {
        if (jobs >= max)
            return false;
    } while (!atomic_compare_exchange_weak(count, &jobs, jobs + 1));
    return true;
}

enum td_status scheduler_submit(struct scheduler *scheduler, const struct job_request *request,
                                struct job **out, struct td_error *err)
{
    ASSERT(request->ids != NULL || request->id_count == 0);
    *out = NULL;
    if (request->id_count > scheduler->context_size)
        return error_set(err, TD_LIMIT,
                         "the prompt has %zu tokens, the local model's context holds %u",
                         request->id_count, scheduler->context_size);
    bool spare = request->priority == TD_PRIORITY_SPARE;
    if (!reserve_place(scheduler, request))
        return error_set(err, TD_BUSY,
                         "%u requests are running or waiting, there is no room for more",
                         scheduler->jobs_max);
    struct job *job;
    enum td_status status = job_new(request, scheduler->wake, &job, err);
    if (status != TD_OK) {
        atomic_fetch_sub(spare ? &scheduler->spares : &scheduler->jobs, 1);
        return status;
    }
    job->request.options.speculation = scheduler->speculation;
    job->request.options.draft_tokens = scheduler->draft_tokens;
    job->request.options.draft = NULL;
    job->request.options.exit_threshold =
        scheduler->exit_threshold * (float)atomic_load(&scheduler->exit_share);
    job->request.keep_nothing |= scheduler->keep_nothing;
    backlog_enter(scheduler, job);
    *out = job; /* before the push: after it, callbacks may run */
    if (!queue_push(scheduler->submitted, job)) {
        *out = NULL;
        job_release(job);
        scheduler_forget_job(scheduler, job);
        return error_set(err, TD_BUSY, "the queue of %u requests is full", scheduler->jobs_max);
    }
    wake_signal(scheduler->wake);
    return TD_OK;
}

bool scheduler_keeps_nothing(const struct scheduler *scheduler)
{
    return scheduler->keep_nothing;
}

/* Of two scopes at once everything goes: that is more than was asked, and soon computed again. */
void scheduler_forget(struct scheduler *scheduler, const struct prefix_scope *scope)
{
    bool mine = scope && !atomic_exchange(&scheduler->forget_claimed, true);
    if (mine)
        scheduler->forget_scope = *scope;
    atomic_fetch_or(&scheduler->forget, mine ? FORGET_SCOPE : FORGET_ALL);
    wake_signal(scheduler->wake);
}

struct scheduler_load scheduler_get_load(struct scheduler *scheduler)
{
    struct scheduler_load load = {.running = atomic_load(&scheduler->running),
                                  .pages_used = atomic_load(&scheduler->pages_used),
                                  .page_count = atomic_load(&scheduler->page_count),
                                  .load_ms = atomic_load(&scheduler->load_ms),
                                  .loads = atomic_load(&scheduler->loads),
                                  .memory_bytes = atomic_load(&scheduler->memory_bytes),
                                  .page_tokens = KV_PAGE_TOKENS,
                                  .prompt_tokens = atomic_load(&scheduler->prompt_tokens),
                                  .cached_tokens = atomic_load(&scheduler->cached_tokens),
                                  .completion_tokens = atomic_load(&scheduler->completion_tokens),
                                  .passes = atomic_load(&scheduler->passes),
                                  .rows = atomic_load(&scheduler->rows),
                                  .pass_us = atomic_load(&scheduler->pass_us),
                                  .thread_count = thread_pool_count(scheduler->threads),
                                  .drafted_tokens = atomic_load(&scheduler->drafted_tokens),
                                  .accepted_tokens = atomic_load(&scheduler->accepted_tokens)};
    load.loaded = load.page_count > 0;
    uint32_t jobs = atomic_load(&scheduler->jobs) + atomic_load(&scheduler->spares);
    load.waiting = jobs > load.running ? jobs - load.running : 0;
    return load;
}

void scheduler_set_ease(struct scheduler *scheduler, const struct scheduler_ease *ease)
{
    uint32_t all = thread_pool_count(scheduler->threads);
    double share = ease->thread_share;
    /* Half of two is one, three quarters of two are both. */
    uint32_t some = share < 1 ? (uint32_t)(all * share + 0.5) : all;
    thread_pool_limit(scheduler->threads, some > 0 ? some : 1);
    atomic_store(&scheduler->page_share, ease->page_share);
    atomic_store(&scheduler->exit_share, ease->exit_share);
    if (atomic_exchange(&scheduler->sleep_early, ease->sleep) != ease->sleep && ease->sleep)
        wake_signal(scheduler->wake);
}

/* The engine's scheduler thread. Slots take turns: a turn is one prefill chunk or one token, so a
 * long prompt costs the running streams one chunk's time a token and no more. What was rejected:
 * batching the tokens of several slots into one pass (more throughput; comes with the batched
 * kernels, and needs no change here but in run_turn).
 *
 * A new job goes to the free slot whose cache shares the longest prefix with its prompt (the next
 * turn of a conversation finds all but its last message there), else to the one that was idle
 * longest. */
#include "engine/scheduler.h"

#include "base/error.h"
#include "base/log.h"
#include "base/queue.h"
#include "engine/forward.h"
#include "engine/job.h"
#include "engine/memory.h"

#include <stdlib.h>

/* How soon a post is tried again when the loop's queue was full. */
#define POST_RETRY_MS 5

enum slot_state {
    SLOT_FREE,
    SLOT_RUNNING,
    SLOT_ENDING /* ended, but its loop has not taken the post */
};

struct slot {
    struct sequence sequence;
    enum slot_state state;
    struct job *job;
    struct generation generation;
    uint64_t used_last; /* number of the admission that used it last */
};

struct scheduler {
    const struct td_model *model;
    struct thread_pool *threads;
    struct kv_pool *kv_pool;
    struct workspace *workspace;
    struct slot *slots;
    uint32_t slot_count;
    uint32_t jobs_max; /* running and waiting */
    uint32_t context_size;
    struct queue *submitted; /* from any thread */
    struct wake *wake;
    pthread_t thread;
    bool thread_started;
    atomic_bool stop;
    atomic_uint jobs, running; /* jobs: running and waiting */
    _Atomic uint64_t prompt_tokens, completion_tokens;

    /* The scheduler thread's own. */
    struct job **waiting; /* [jobs_max], first come first */
    uint32_t waiting_count;
    uint32_t turn; /* slot whose turn it is */
    uint64_t admissions;
    bool post_failed;
};

/* --- the thread --- */

static void forget_job(struct scheduler *scheduler, struct job *job)
{
    atomic_fetch_sub(&scheduler->jobs, 1);
    job_release(job);
}

/* Takes new jobs off the queue and drops waiting ones that were cancelled. */
static void collect_jobs(struct scheduler *scheduler)
{
    struct job *job;
    while (scheduler->waiting_count < scheduler->jobs_max &&
           (job = queue_pop(scheduler->submitted)))
        scheduler->waiting[scheduler->waiting_count++] = job;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < scheduler->waiting_count; i++) {
        job = scheduler->waiting[i];
        if (atomic_load(&job->cancelled))
            forget_job(scheduler, job);
        else
            scheduler->waiting[kept++] = job;
    }
    scheduler->waiting_count = kept;
}

static struct slot *choose_slot(struct scheduler *scheduler, const struct job *job,
                                uint32_t *prefix)
{
    struct slot *best = NULL;
    *prefix = 0;
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct slot *slot = &scheduler->slots[i];
        if (slot->state != SLOT_FREE)
            continue;
        uint32_t common =
            sequence_common_prefix(&slot->sequence, job->request.ids, job->request.id_count);
        if (best == NULL || common > *prefix ||
            (common == *prefix && slot->used_last < best->used_last)) {
            best = slot;
            *prefix = common;
        }
    }
    return best;
}

/* Gives the slot back, unless the loop would not take the last post yet. */
static void leave_slot(struct scheduler *scheduler, struct slot *slot)
{
    slot->state = SLOT_ENDING;
    if (!job_post(slot->job)) {
        scheduler->post_failed = true;
        return;
    }
    forget_job(scheduler, slot->job);
    atomic_fetch_sub(&scheduler->running, 1);
    slot->job = NULL;
    slot->state = SLOT_FREE;
}

static void end_turns(struct scheduler *scheduler, struct slot *slot, enum td_status status,
                      const struct td_error *err)
{
    struct td_generate_result result = slot->generation.result;
    result.prompt_tokens = (uint32_t)slot->job->request.id_count;
    job_end(slot->job, status, &result, err);
    generation_deinit(&slot->generation);
    leave_slot(scheduler, slot);
}

static void admit(struct scheduler *scheduler, struct slot *slot, struct job *job, uint32_t prefix)
{
    /* The last token runs again in any case: its logits are not kept. */
    size_t count = job->request.id_count;
    if (prefix == count)
        prefix--;
    slot->state = SLOT_RUNNING;
    slot->job = job;
    slot->used_last = ++scheduler->admissions;
    sequence_truncate(&slot->sequence, prefix);
    atomic_fetch_add(&scheduler->running, 1);
    atomic_fetch_add(&scheduler->prompt_tokens, count);
    struct td_error err = {0};
    enum td_status status =
        generation_init(&slot->generation, &slot->sequence, job->request.ids + prefix,
                        count - prefix, &job->request.options, &err);
    if (status != TD_OK)
        end_turns(scheduler, slot, status, &err);
}

static void admit_waiting(struct scheduler *scheduler)
{
    uint32_t taken = 0;
    for (; taken < scheduler->waiting_count; taken++) {
        uint32_t prefix;
        struct slot *slot = choose_slot(scheduler, scheduler->waiting[taken], &prefix);
        if (slot == NULL)
            break;
        admit(scheduler, slot, scheduler->waiting[taken], prefix);
    }
    for (uint32_t i = taken; i < scheduler->waiting_count; i++)
        scheduler->waiting[i - taken] = scheduler->waiting[i];
    scheduler->waiting_count -= taken;
}

/* What is due of one generation, through the model. */
static enum td_status run_step(struct scheduler *scheduler, struct slot *slot,
                               struct generation_event *event, struct td_error *err)
{
    struct workspace *workspace = scheduler->workspace;
    struct generation_due due = generation_due(&slot->generation, workspace->row_max);
    struct segment segment = {.sequence = &slot->sequence,
                              .ids = due.ids,
                              .count = due.count,
                              .logit_rows = due.logit_rows,
                              .cancel = &slot->job->cancelled};
    enum td_status status =
        forward_run(workspace, &segment, due.count ? 1 : 0, workspace->logits, err);
    if (status == TD_OK)
        status = generation_take(&slot->generation, &due, workspace->logits, workspace->candidates,
                                 event, err);
    return status;
}

/* One step, and at the end the steps that cost nothing. */
static void run_turn(struct scheduler *scheduler, struct slot *slot)
{
    struct td_error err = {0};
    struct generation *generation = &slot->generation;
    enum td_status status;
    struct generation_event event;
    do {
        status = run_step(scheduler, slot, &event, &err);
        if (status != TD_OK || event.kind == GENERATION_DONE) {
            end_turns(scheduler, slot, status, &err);
            return;
        }
        if (event.kind == GENERATION_TOKEN)
            atomic_fetch_add(&scheduler->completion_tokens, 1);
        if (event.kind != GENERATION_PREFILL)
            status = job_add_event(slot->job, &event, &err);
        if (status != TD_OK) {
            end_turns(scheduler, slot, status, &err);
            return;
        }
    } while (generation->ended);
    if (!job_post(slot->job))
        scheduler->post_failed = true;
}

/* True when the slot did some work. */
static bool serve_slot(struct scheduler *scheduler, struct slot *slot)
{
    if (slot->state == SLOT_FREE)
        return false;
    if (slot->state == SLOT_ENDING) {
        leave_slot(scheduler, slot);
        return false;
    }
    if (atomic_load(&slot->job->cancelled)) {
        struct td_error err = {.status = TD_CANCELLED};
        end_turns(scheduler, slot, TD_CANCELLED, &err);
        return true;
    }
    if (!job_has_room(slot->job)) {
        if (!job_post(slot->job))
            scheduler->post_failed = true;
        return false;
    }
    run_turn(scheduler, slot);
    return true;
}

static void end_everything(struct scheduler *scheduler)
{
    struct td_error err = {0};
    const struct td_generate_result nothing = {0};
    enum td_status status = error_set(&err, TD_CANCELLED, "the engine is shutting down");
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct slot *slot = &scheduler->slots[i];
        if (slot->state == SLOT_RUNNING)
            end_turns(scheduler, slot, status, &err);
        if (slot->state == SLOT_ENDING) /* its loop takes no posts: nobody is left to tell */
            forget_job(scheduler, slot->job);
        slot->state = SLOT_FREE;
    }
    collect_jobs(scheduler);
    for (uint32_t i = 0; i < scheduler->waiting_count; i++) {
        job_end(scheduler->waiting[i], status, &nothing, &err);
        if (!job_post(scheduler->waiting[i]))
            log_event(LOG_LEVEL_WARN, "job_end_not_delivered", "waiting=%u", i);
        forget_job(scheduler, scheduler->waiting[i]);
    }
}

static void *scheduler_main(void *arg)
{
    struct scheduler *scheduler = arg;
    while (!atomic_load(&scheduler->stop)) {
        scheduler->post_failed = false;
        bool worked = false;
        for (uint32_t i = 0; i < scheduler->slot_count && !atomic_load(&scheduler->stop); i++) {
            collect_jobs(scheduler);
            admit_waiting(scheduler);
            struct slot *slot = &scheduler->slots[scheduler->turn];
            scheduler->turn = (scheduler->turn + 1) % scheduler->slot_count;
            worked |= serve_slot(scheduler, slot);
        }
        if (!worked)
            wake_wait(scheduler->wake, scheduler->post_failed ? POST_RETRY_MS : UINT32_MAX);
    }
    end_everything(scheduler);
    return NULL;
}

/* --- from outside --- */

static enum td_status open_slots(struct scheduler *scheduler,
                                 const struct scheduler_options *options, struct td_error *err)
{
    const struct td_model *model = options->model;
    const struct workspace_options workspace = {.logit_row_max = 1};
    uint32_t slots = options->slot_count, context = 0;
    enum td_status status = sequence_context(model, options->context_tokens, &context, err);
    if (status != TD_OK)
        return status;
    scheduler->context_size = context;
    struct memory_need need = {.cache_tokens = (uint64_t)slots * context,
                               .cache_bytes = kv_pool_bytes(model, TD_KV_F16, context, slots),
                               .work_bytes = workspace_bytes(model, &workspace)};
    status = memory_check(model, &need, 0, err);
    if (status == TD_OK)
        status = kv_pool_new(model, TD_KV_F16, context, slots, &scheduler->kv_pool, err);
    for (uint32_t i = 0; status == TD_OK && i < slots; i++)
        status = sequence_init(&scheduler->slots[i].sequence, scheduler->kv_pool, context, err);
    if (status == TD_OK)
        status = workspace_new(model, &workspace, scheduler->threads, &scheduler->workspace, err);
    if (status == TD_OK)
        scheduler->workspace->stop = &scheduler->stop;
    return status;
}

static enum td_status start(struct scheduler *scheduler, const struct scheduler_options *options,
                            struct td_error *err)
{
    scheduler->slot_count = options->slot_count;
    scheduler->jobs_max = options->slot_count + options->queue_capacity;
    scheduler->slots = calloc(scheduler->slot_count, sizeof *scheduler->slots);
    scheduler->waiting = calloc(scheduler->jobs_max, sizeof *scheduler->waiting);
    scheduler->submitted = queue_new(scheduler->jobs_max);
    scheduler->wake = wake_new();
    scheduler->threads = thread_pool_new(options->thread_count);
    if (scheduler->slots == NULL || scheduler->waiting == NULL || scheduler->submitted == NULL ||
        scheduler->wake == NULL || scheduler->threads == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a scheduler of %u slots",
                         options->slot_count);
    enum td_status status = open_slots(scheduler, options, err);
    if (status != TD_OK)
        return status;
    if (pthread_create(&scheduler->thread, NULL, scheduler_main, scheduler) != 0)
        return error_set(err, TD_NO_MEMORY, "cannot start the scheduler's thread");
    scheduler->thread_started = true;
    return TD_OK;
}

enum td_status scheduler_new(const struct scheduler_options *options, struct scheduler **out,
                             struct td_error *err)
{
    *out = NULL;
    if (options->slot_count == 0 || options->slot_count > 256 || options->queue_capacity > 65536)
        return error_set(err, TD_INVALID, "%u slots and a queue of %u: 1 to 256 and at most 65536",
                         options->slot_count, options->queue_capacity);
    struct scheduler *scheduler = calloc(1, sizeof *scheduler);
    if (scheduler == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a scheduler");
    scheduler->model = options->model;
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
    for (uint32_t i = 0; scheduler->slots && i < scheduler->slot_count; i++)
        sequence_deinit(&scheduler->slots[i].sequence);
    kv_pool_free(scheduler->kv_pool);
    workspace_free(scheduler->workspace);
    thread_pool_free(scheduler->threads);
    queue_free(scheduler->submitted);
    wake_release(scheduler->wake);
    free(scheduler->waiting);
    free(scheduler->slots);
    free(scheduler);
}

/* Counts a job in, unless all places are taken. */
static bool reserve_place(struct scheduler *scheduler)
{
    uint32_t jobs = atomic_load(&scheduler->jobs);
    do {
        if (jobs >= scheduler->jobs_max)
            return false;
    } while (!atomic_compare_exchange_weak(&scheduler->jobs, &jobs, jobs + 1));
    return true;
}

enum td_status scheduler_submit(struct scheduler *scheduler, const struct job_request *request,
                                struct job **out, struct td_error *err)
{
    *out = NULL;
    if (request->id_count > scheduler->context_size)
        return error_set(err, TD_LIMIT,
                         "the prompt has %zu tokens, the local model's context holds %u",
                         request->id_count, scheduler->context_size);
    if (!reserve_place(scheduler))
        return error_set(err, TD_BUSY,
                         "%u requests are running or waiting, there is no room for more",
                         scheduler->jobs_max);
    struct job *job;
    enum td_status status = job_new(request, scheduler->wake, &job, err);
    if (status != TD_OK) {
        atomic_fetch_sub(&scheduler->jobs, 1);
        return status;
    }
    *out = job; /* before the push: from then on its callbacks may run */
    if (!queue_push(scheduler->submitted, job)) {
        *out = NULL;
        job_release(job);
        forget_job(scheduler, job);
        return error_set(err, TD_BUSY, "the queue of %u requests is full", scheduler->jobs_max);
    }
    wake_signal(scheduler->wake);
    return TD_OK;
}

struct scheduler_load scheduler_get_load(struct scheduler *scheduler)
{
    struct scheduler_load load = {.running = atomic_load(&scheduler->running),
                                  .prompt_tokens = atomic_load(&scheduler->prompt_tokens),
                                  .completion_tokens = atomic_load(&scheduler->completion_tokens)};
    uint32_t jobs = atomic_load(&scheduler->jobs);
    load.waiting = jobs > load.running ? jobs - load.running : 0;
    return load;
}

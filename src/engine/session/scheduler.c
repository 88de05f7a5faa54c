/* The life of the scheduler and its thread. The thread takes jobs from the queue
 * (scheduler_admit.c) and runs forward passes over all that have a slot (scheduler_pass.c) until it
 * is told to stop. It sleeps when nothing is due. Everything else owns no lock: what other threads
 * may read is atomic, and jobs come through a bounded queue. */
#include "engine/session/scheduler_internal.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/model/memory.h"

#include <stdlib.h>

/* After this time a post is tried again, if the loop's queue was full. */
#define POST_RETRY_MS 5
/* Rows of prompts in a pass, beside those of the streams. They are enough to make reading the
 * weights cheap. More would make a new job wait longer. */
#define PROMPT_ROWS_MAX 128

static void end_everything(struct scheduler *scheduler)
{
    struct td_error err = {0};
    const struct td_generate_result nothing = {0};
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
    for (uint32_t i = 0; i < scheduler->waiting_count; i++) {
        job_end(scheduler->waiting[i], status, &nothing, &err);
        if (!job_post(scheduler->waiting[i]))
            log_event(LOG_LEVEL_WARN, "job_end_not_delivered", "waiting=%u", i);
        scheduler_forget_job(scheduler, scheduler->waiting[i]);
    }
}

static void forget_texts(struct scheduler *scheduler, unsigned what)
{
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct sequence *sequence = &scheduler->slots[i].sequence;
        if (scheduler->slots[i].job != NULL)
            continue;
        sequence_truncate(sequence, 0);
        explicit_bzero(sequence->ids, sequence->context_size * sizeof *sequence->ids);
    }
    if (what & FORGET_ALL)
        prefix_forget(scheduler->prefixes);
    else
        kv_pool_wipe_free(scheduler->kv_pool);
    if (scheduler->draft)
        scheduler_draft_forget(scheduler->draft, what & FORGET_ALL);
}

static void *scheduler_main(void *arg)
{
    struct scheduler *scheduler = arg;
    scheduler_warm_up(scheduler);
    while (!atomic_load(&scheduler->stop)) {
        scheduler->post_failed = false;
        unsigned forget = atomic_exchange(&scheduler->forget, 0);
        if (forget)
            forget_texts(scheduler, forget);
        scheduler_admit(scheduler);
        if (!scheduler_pass(scheduler) && !atomic_load(&scheduler->forget))
            wake_wait(scheduler->wake, scheduler->post_failed ? POST_RETRY_MS : UINT32_MAX);
    }
    end_everything(scheduler);
    return NULL;
}

/* --- from outside --- */

/* Pages of the cache: as many as the options ask for. Otherwise enough for all contexts, or as many
 * as fit into half of the memory that weights and working memory leave, but at least one context.
 * Only used pages cost memory, and a job that finds none waits (scheduler_admit.c). */
static enum td_status count_pages(const struct scheduler *scheduler,
                                  const struct scheduler_options *options, uint64_t work_bytes,
                                  uint64_t *out, struct td_error *err)
{
    const struct td_model *model = scheduler->model;
    uint32_t cache_tokens = options->cache_tokens;
    uint32_t context = scheduler->context_size, least = kv_pages_of(context);
    if (cache_tokens != 0 && cache_tokens < context)
        return error_set(err, TD_INVALID,
                         "a KV cache of %u tokens is smaller than one context of %u", cache_tokens,
                         context);
    *out = cache_tokens ? kv_pages_of(cache_tokens) : (uint64_t)scheduler->slot_count * least;
    if (cache_tokens == 0) {
        uint64_t ram = memory_ram_bytes(), fixed = gguf_file_bytes(model->gguf) + work_bytes;
        uint64_t page_bytes = kv_pool_bytes(model, options->kv_type, 1);
        uint64_t affordable = ram > fixed && page_bytes ? (ram - fixed) / 2 / page_bytes : 0;
        affordable = affordable < least ? least : affordable;
        *out = *out < affordable ? *out : affordable;
    }
    if (*out >= KV_NO_PAGE)
        return error_set(err, TD_INVALID,
                         "%u slots of %u tokens need more pages than a cache can have",
                         scheduler->slot_count, context);
    return TD_OK;
}

static enum td_status open_cache(struct scheduler *scheduler,
                                 const struct scheduler_options *options, uint64_t work_bytes,
                                 struct td_error *err)
{
    uint64_t pages = 0;
    enum td_status status = count_pages(scheduler, options, work_bytes, &pages, err);
    if (status != TD_OK)
        return status;
    struct memory_need need = {.cache_tokens = pages * KV_PAGE_TOKENS,
                               .cache_bytes =
                                   kv_pool_bytes(scheduler->model, options->kv_type, pages),
                               .work_bytes = work_bytes};
    status = memory_check(scheduler->model, &need, 0, err);
    if (status == TD_OK)
        status = kv_pool_new(scheduler->model, options->kv_type, (uint32_t)pages,
                             &scheduler->kv_pool, err);
    if (status == TD_OK && (scheduler->prefixes = prefix_index_new(scheduler->kv_pool)) == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for an index of %llu pages",
                           (unsigned long long)pages);
    for (uint32_t i = 0; status == TD_OK && i < scheduler->slot_count; i++)
        status = sequence_init(&scheduler->slots[i].sequence, scheduler->kv_pool,
                               scheduler->context_size, err);
    return status;
}

static enum td_status open_draft(struct scheduler *scheduler,
                                 const struct scheduler_options *options, struct td_error *err)
{
    if (options->draft == NULL)
        return TD_OK;
    const struct scheduler_draft_options draft = {.model = options->model,
                                                  .draft = options->draft,
                                                  .slot_count = scheduler->slot_count,
                                                  .context_size = scheduler->context_size,
                                                  .kv_type = options->kv_type,
                                                  .threads = scheduler->threads,
                                                  .stop = &scheduler->stop};
    enum td_status status = scheduler_draft_new(&draft, &scheduler->draft, err);
    if (status != TD_OK)
        error_prefix(err, "draft model");
    return status;
}

static enum td_status open_memory(struct scheduler *scheduler,
                                  const struct scheduler_options *options, struct td_error *err)
{
    const struct td_model *model = options->model;
    uint32_t rows = PROMPT_ROWS_MAX + options->slot_count;
    /* Streams with speculation want logits of all their rows. */
    const struct workspace_options workspace = {.row_max = rows, .logit_row_max = rows};
    uint64_t work_bytes = workspace_bytes(model, &workspace, thread_pool_count(scheduler->threads));
    enum td_status status =
        sequence_context(model, options->context_tokens, &scheduler->context_size, err);
    if (status == TD_OK)
        status = open_draft(scheduler, options, err);
    if (status == TD_OK && scheduler->draft) /* counts as working memory beside the cache */
        work_bytes += scheduler_draft_bytes(scheduler->draft);
    if (status == TD_OK)
        status = open_cache(scheduler, options, work_bytes, err);
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
    backlog_init(scheduler);
    scheduler->jobs_max = options->slot_count + options->queue_capacity;
    scheduler->slots = calloc(scheduler->slot_count, sizeof *scheduler->slots);
    scheduler->places_max = scheduler->jobs_max + options->slot_count;
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
    enum td_status status = open_memory(scheduler, options, err);
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
    for (uint32_t i = 0; scheduler->slots && i < scheduler->slot_count; i++)
        sequence_deinit(&scheduler->slots[i].sequence);
    prefix_index_free(scheduler->prefixes);
    kv_pool_free(scheduler->kv_pool);
    scheduler_draft_free(scheduler->draft);
    workspace_free(scheduler->workspace);
    thread_pool_free(scheduler->threads);
    queue_free(scheduler->submitted);
    wake_release(scheduler->wake);
    free(scheduler->waiting);
    free(scheduler->waiting_plans);
    free(scheduler->slots);
    free(scheduler);
}

/* Takes a place for a job; false if there is none. */
static bool reserve_place(struct scheduler *scheduler, bool spare)
{
    atomic_uint *count = spare ? &scheduler->spares : &scheduler->jobs;
    uint32_t max = spare ? scheduler->slot_count : scheduler->jobs_max, jobs = atomic_load(count);
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
    if (!reserve_place(scheduler, spare))
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
    job->request.options.exit_threshold = scheduler->exit_threshold;
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

void scheduler_forget(struct scheduler *scheduler)
{
    atomic_fetch_or(&scheduler->forget, FORGET_ALL);
    wake_signal(scheduler->wake);
}

struct scheduler_load scheduler_get_load(struct scheduler *scheduler)
{
    struct scheduler_load load = {.running = atomic_load(&scheduler->running),
                                  .pages_used = atomic_load(&scheduler->pages_used),
                                  .page_count = scheduler->kv_pool->page_count,
                                  .page_tokens = KV_PAGE_TOKENS,
                                  .prompt_tokens = atomic_load(&scheduler->prompt_tokens),
                                  .cached_tokens = atomic_load(&scheduler->cached_tokens),
                                  .completion_tokens = atomic_load(&scheduler->completion_tokens),
                                  .passes = atomic_load(&scheduler->passes),
                                  .rows = atomic_load(&scheduler->rows),
                                  .drafted_tokens = atomic_load(&scheduler->drafted_tokens),
                                  .accepted_tokens = atomic_load(&scheduler->accepted_tokens)};
    uint32_t jobs = atomic_load(&scheduler->jobs) + atomic_load(&scheduler->spares);
    load.waiting = jobs > load.running ? jobs - load.running : 0;
    return load;
}

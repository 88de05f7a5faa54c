/* From the queue to a slot. A job is admitted when a slot is free and the pages that it may need
 * (prompt and longest answer) are not promised to other jobs. So a running job never fails for lack
 * of memory and is never preempted; only spare work is. No job overtakes one that waits for pages,
 * so large jobs get their turn.
 *
 * Pages of ended answers stay in the prefix index. They are promised to nobody: the least recently
 * used ones go when pages are needed. */
#include "engine/session/scheduler_internal.h"

#include "base/core/error.h"
#include "base/time/log.h"

#include <string.h>

/* How many pages a job may need at most. */
static uint32_t pages_needed(const struct scheduler *scheduler, const struct job_request *request)
{
    uint64_t tokens = scheduler->context_size, page = KV_PAGE_TOKENS;
    uint32_t answer = request->options.tokens_max;
    if (answer && request->id_count + (uint64_t)answer < tokens)
        tokens = request->id_count + answer;
    return (uint32_t)((tokens + page - 1) / page);
}

/* --- owners --- */

/* The account of the job's owner; one that came when the table was full shares the last one. */
static struct fair_owner *owner_of(struct scheduler *scheduler, const struct job *job)
{
    struct fair_owner *owner = fair_find(&scheduler->fair, job->request.owner);
    return owner ? owner : &scheduler->fair.owners[FAIR_OWNERS_MAX - 1];
}

static void join(struct scheduler *scheduler, struct job *job)
{
    struct fair_owner *owner = fair_join(&scheduler->fair, job->request.owner, job->request.weight);
    job->joined = true;
    owner->jobs++;
    owner->waiting++;
}

/* What the job may come to cost: its prompt, and an answer as those of late. */
static void charge(struct scheduler *scheduler, struct job *job)
{
    struct fair_owner *owner = owner_of(scheduler, job);
    double mean = atomic_load(&scheduler->backlog.answer_mean);
    double answer = job->request.options.tokens_max;
    if (mean > 0 && (mean < answer || answer <= 0))
        answer = mean;
    job->charged = (double)job->request.id_count + answer;
    fair_serve(&scheduler->fair, owner, job->charged);
    owner->waiting--;
}

void scheduler_settle(struct scheduler *scheduler, struct job *job,
                      const struct td_generate_result *result)
{
    double used = (double)result->prompt_tokens - result->cached_tokens + result->completion_tokens;
    if (job->joined && job->charged > 0)
        fair_correct(owner_of(scheduler, job), used - job->charged);
}

static void leave(struct scheduler *scheduler, struct job *job)
{
    struct fair_owner *owner = owner_of(scheduler, job);
    owner->jobs--;
    owner->waiting -= !(job->charged > 0);
    job->joined = false;
}

void scheduler_forget_job(struct scheduler *scheduler, struct job *job)
{
    bool spare = job->request.priority == TD_PRIORITY_SPARE;
    if (job->joined)
        leave(scheduler, job);
    backlog_leave(scheduler, job);
    atomic_fetch_sub(spare ? &scheduler->spares : &scheduler->jobs, 1);
    job_release(job);
}

static void remove_waiting(struct scheduler *scheduler, uint32_t index)
{
    size_t after = --scheduler->waiting_count - index;
    memmove(&scheduler->waiting[index], &scheduler->waiting[index + 1],
            after * sizeof *scheduler->waiting);
    memmove(&scheduler->waiting_plans[index], &scheduler->waiting_plans[index + 1],
            after * sizeof *scheduler->waiting_plans);
}

/* A job that leaves the queue without a slot: it ends as if there had been no place for it. */
static void refuse(struct scheduler *scheduler, uint32_t index, const char *why)
{
    struct td_error err = {0};
    const struct td_generate_result nothing = {0};
    struct job *job = scheduler->waiting[index];
    enum td_status status = error_set(&err, TD_BUSY, "%s", why);
    job_end(job, status, &nothing, &err);
    if (!job_post(job)) /* the loop is full: the owner's own deadline ends the job */
        log_event(LOG_LEVEL_DEBUG, "job_end_not_delivered", "waiting=%u", index);
    remove_waiting(scheduler, index);
    scheduler_forget_job(scheduler, job);
}

/* More jobs have come than may wait: the owner who has most of them waiting, by its weight, loses
 * its youngest. False when nobody waits. */
static bool give_up_place(struct scheduler *scheduler)
{
    const struct fair_owner *most = NULL;
    for (uint32_t i = 0; i < scheduler->fair.count; i++) {
        const struct fair_owner *owner = &scheduler->fair.owners[i];
        if (owner->waiting > 0 &&
            (!most || owner->waiting / owner->weight > most->waiting / most->weight))
            most = owner;
    }
    for (uint32_t i = scheduler->waiting_count; most && i-- > 0;) {
        const struct job *job = scheduler->waiting[i];
        if (job->request.priority == TD_PRIORITY_SPARE || owner_of(scheduler, job) != most)
            continue;
        refuse(scheduler, i, "others wait as well, and there is no room for more requests");
        return true;
    }
    return false;
}

void scheduler_collect(struct scheduler *scheduler)
{
    struct job *job;
    while (scheduler->waiting_count < scheduler->places_max &&
           (job = queue_pop(scheduler->submitted))) {
        uint32_t at = scheduler->waiting_count++;
        scheduler->waiting[at] = job;
        scheduler->waiting_plans[at] = (struct plan_waiting){.priority = job->request.priority};
        join(scheduler, job);
    }
    for (uint32_t i = scheduler->waiting_count; i-- > 0;) {
        job = scheduler->waiting[i];
        if (!atomic_load(&job->cancelled))
            continue;
        remove_waiting(scheduler, i);
        scheduler_forget_job(scheduler, job);
    }
    while (atomic_load(&scheduler->jobs) > scheduler->jobs_max && give_up_place(scheduler))
        ;
}

/* Batch work leaves slots and pages free for interactive jobs, unless too few are free for one. */
static bool batch_fits(const struct scheduler *scheduler, uint32_t page_need)
{
    uint32_t slots = 0, pages = 0;
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        const struct slot *slot = &scheduler->slots[i];
        if (slot->state == SLOT_FREE || slot->job->request.priority != TD_PRIORITY_BATCH)
            continue;
        slots++;
        pages += slot->page_need;
    }
    return slots == 0 || (slots < plan_batch_share(scheduler->slot_count) &&
                          pages + page_need <= plan_batch_share(scheduler->kv_pool->page_count));
}

/* Ends the youngest spare job, because other work needs its place. False when there is none. */
static bool end_spare(struct scheduler *scheduler)
{
    struct slot *youngest = NULL;
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct slot *slot = &scheduler->slots[i];
        if (slot->state == SLOT_RUNNING && slot->job->request.priority == TD_PRIORITY_SPARE &&
            (youngest == NULL || slot->order > youngest->order))
            youngest = slot;
    }
    if (youngest == NULL)
        return false;
    struct td_error err = {0};
    enum td_status status = error_set(&err, TD_BUSY, "its place was needed for other work");
    scheduler_end_slot(scheduler, youngest, status, &err);
    return true;
}

/* Fewer pages are promised while the machine is short of memory; one job alone has them all. */
static bool has_pages_for(const struct scheduler *scheduler, uint32_t page_need)
{
    uint32_t pages = scheduler->kv_pool->page_count;
    if (scheduler->page_need > 0)
        pages = (uint32_t)(pages * atomic_load(&scheduler->page_share));
    return scheduler->page_need <= pages && page_need <= pages - scheduler->page_need;
}

static struct slot *free_slot(struct scheduler *scheduler)
{
    for (uint32_t i = 0; i < scheduler->slot_count; i++)
        if (scheduler->slots[i].state == SLOT_FREE)
            return &scheduler->slots[i];
    return NULL;
}

static void start_job(struct scheduler *scheduler, struct slot *slot, struct job *job)
{
    slot->state = SLOT_RUNNING;
    slot->job = job;
    slot->begun = false;
    slot->order = ++scheduler->admissions;
    slot->served_last = scheduler->pass;
    slot->page_need = pages_needed(scheduler, &job->request);
    scheduler->page_need += slot->page_need;
    sequence_set_adapters(&slot->sequence, job->request.adapters);
    atomic_fetch_add(&scheduler->running, 1);
    backlog_run(scheduler, job);
    atomic_fetch_add(&scheduler->prompt_tokens, job->request.id_count);
    if (scheduler->draft)
        job->request.options.draft =
            scheduler_draft_begin(scheduler->draft, slot_number(scheduler, slot), &job->cancelled);
    struct td_error err = {0};
    enum td_status status = generation_init(&slot->generation, &slot->sequence, job->request.ids,
                                            job->request.id_count, &job->request.options, &err);
    if (status != TD_OK)
        scheduler_end_slot(scheduler, slot, status, &err);
    else if (job->label_scores)
        generation_score_labels(&slot->generation, &job->walk);
    else
        generation_score_prompt(&slot->generation, job->prompt_scores, job->request.prompt_only);
    if (status == TD_OK)
        sampler_set_dry(&slot->generation.sampler, &job->request.dry);
    if (status == TD_OK && slot->generation.filter && job->request.marked)
        token_filter_mark(slot->generation.filter, &job->request.marks);
}

void scheduler_admit(struct scheduler *scheduler)
{
    scheduler_collect(scheduler);
    while (scheduler->waiting_count) {
        for (uint32_t i = 0; i < scheduler->waiting_count; i++)
            scheduler->waiting_plans[i].turn = owner_of(scheduler, scheduler->waiting[i])->served;
        uint32_t next = plan_next(scheduler->waiting_plans, scheduler->waiting_count);
        struct job *job = scheduler->waiting[next];
        uint32_t page_need = pages_needed(scheduler, &job->request);
        bool spare = job->request.priority == TD_PRIORITY_SPARE;
        if (!spare && !plan_is_urgent(&scheduler->waiting_plans[next]) &&
            !batch_fits(scheduler, page_need))
            return;
        bool has_pages = has_pages_for(scheduler, page_need);
        struct slot *slot = has_pages ? free_slot(scheduler) : NULL;
        if (slot == NULL && spare) {
            refuse(scheduler, next, "there is no place to spare"); /* such work never waits */
            continue;
        }
        if (slot == NULL && end_spare(scheduler))
            continue;
        if (slot == NULL)
            return;
        plan_note_overtaken(scheduler->waiting_plans, next);
        remove_waiting(scheduler, next);
        charge(scheduler, job);
        start_job(scheduler, slot, job);
    }
}

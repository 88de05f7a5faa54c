/* Forward passes over all running generations. The due tokens of the streams and a part of the
 * prompts (batch_plan.h) go through the layers together, so that the weights are read once for all
 * of them. The answer of a generation does not depend on the others (forward.h).
 *
 * A cancelled job runs until the end of the pass (a few milliseconds) if there are others in it;
 * then its slot is free. When all jobs of a pass are cancelled, the pass ends between two
 * layers. */
#include "engine/session/scheduler_internal.h"

#include "base/core/error.h"
#include "base/time/clock.h"

#define CANCELLED_BY_ITS_OWNER "cancelled"

/* Frees the slot of an ended job, unless the loop's queue is full for its last post. */
static void leave_slot(struct scheduler *scheduler, struct slot *slot)
{
    slot->state = SLOT_ENDING;
    if (!job_post(slot->job)) {
        scheduler->post_failed = true;
        return;
    }
    scheduler->page_need -= slot->page_need;
    slot->page_need = 0;
    if (slot->job->request.keep_nothing)
        atomic_fetch_or(&scheduler->forget, FORGET_UNUSED);
    scheduler_forget_job(scheduler, slot->job);
    atomic_fetch_sub(&scheduler->running, 1);
    slot->job = NULL;
    slot->state = SLOT_FREE;
}

void scheduler_end_slot(struct scheduler *scheduler, struct slot *slot, enum td_status status,
                        const struct td_error *err)
{
    job_end(slot->job, status, &slot->generation.result, err);
    atomic_fetch_add(&scheduler->drafted_tokens, slot->generation.result.drafted_tokens);
    atomic_fetch_add(&scheduler->accepted_tokens, slot->generation.result.accepted_tokens);
    backlog_stop(scheduler, slot->job, &slot->generation.result);
    scheduler_settle(scheduler, slot->job, &slot->generation.result);
    generation_deinit(&slot->generation);
    const struct prefix_scope *scope =
        slot->job->request.keep_nothing ? NULL : &slot->job->request.scope;
    if (scheduler->draft)
        scheduler_draft_end(scheduler->draft, slot_number(scheduler, slot), scope);
    if (scope)
        prefix_publish(scheduler->prefixes, &slot->sequence, scope, true);
    sequence_truncate(&slot->sequence, 0);
    sequence_leave_adapters(&slot->sequence); /* the job owns them */
    leave_slot(scheduler, slot);
}

static void post(struct scheduler *scheduler, struct slot *slot)
{
    if (!job_post(slot->job))
        scheduler->post_failed = true;
}

/* Whether the slot may be in the next pass. Ends a cancelled job first. */
static bool is_ready(struct scheduler *scheduler, struct slot *slot)
{
    if (slot->state == SLOT_ENDING)
        leave_slot(scheduler, slot);
    if (slot->state != SLOT_RUNNING)
        return false;
    if (atomic_load(&slot->job->cancelled)) {
        struct td_error err = {0};
        enum td_status status = error_set(&err, TD_CANCELLED, CANCELLED_BY_ITS_OWNER);
        scheduler_end_slot(scheduler, slot, status, &err);
        return false;
    }
    if (job_has_room(slot->job))
        return true;
    post(scheduler, slot); /* its loop is slow: the job waits until the loop has taken a batch */
    return false;
}

/* A prompt that has not begun takes over the pages that other jobs have computed: all except the
 * last token, whose logits are needed. This is tried before each pass, because a job before it in
 * the queue may begin with the same text. */
static void take_over(struct scheduler *scheduler, struct slot *slot)
{
    const struct job_request *request = &slot->job->request;
    struct sequence *sequence = &slot->sequence;
    size_t most = request->id_count - 1;
    uint32_t had = sequence->length;
    /* Cached positions have no logits, so a prompt that is scored runs as a whole. */
    if (slot->begun || slot->generation.prompt_scores ||
        prefix_find(scheduler->prefixes, sequence, &request->scope, request->ids, most) <= had)
        return;
    sequence_truncate(sequence, 0);
    uint32_t got =
        prefix_attach(scheduler->prefixes, sequence, &request->scope, request->ids, most);
    generation_skip(&slot->generation, got - had);
    atomic_fetch_add(&scheduler->cached_tokens, got - had);
}

/* Guesses before the pass. The number of streams decides how many tokens are guessed. */
static void prepare_guesses(struct scheduler *scheduler, struct slot *slot, uint32_t streams)
{
    slot->generation.speculation.streams = streams;
    if (scheduler->draft)
        scheduler_draft_prepare(scheduler->draft, slot_number(scheduler, slot), &slot->generation,
                                &slot->job->request.scope, streams);
}

/* How many jobs move: spare ones stand still beside others. */
static uint32_t count_moving(const struct scheduler *scheduler)
{
    uint32_t others = 0, running = atomic_load(&scheduler->running);
    for (uint32_t i = 0; i < scheduler->slot_count; i++)
        others += scheduler->slots[i].state == SLOT_RUNNING &&
                  scheduler->slots[i].job->request.priority != TD_PRIORITY_SPARE;
    return others ? others : running;
}

static struct plan make_plan(struct scheduler *scheduler)
{
    uint32_t moving = count_moving(scheduler);
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct slot *slot = &scheduler->slots[i];
        struct plan_entry *entry = &scheduler->entries[i];
        *entry = (struct plan_entry){0};
        if (!is_ready(scheduler, slot))
            continue;
        take_over(scheduler, slot);
        prepare_guesses(scheduler, slot, moving);
        *entry = (struct plan_entry){
            .priority = slot->job->request.priority,
            .streams = slot->generation.result.completion_tokens > 0,
            .due = generation_due(&slot->generation, UINT32_MAX).count,
            .order = slot->order,
            .served_last = slot->served_last,
        };
    }
    bool panels = scheduler->model->kernels->panel_forms != 0;
    struct plan_limits limits = {.row_max = scheduler->workspace->row_max,
                                 .row_unit = panels ? KERNELS_PANEL_TOKENS : 1};
    return plan_batch(scheduler->entries, scheduler->slot_count, limits, &scheduler->pace);
}

/* Fills the segments of the jobs to which the plan has given rows. */
static uint32_t fill_segments(struct scheduler *scheduler)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < scheduler->slot_count; i++) {
        struct slot *slot = &scheduler->slots[i];
        if (scheduler->entries[i].rows == 0)
            continue;
        slot->due = generation_due(&slot->generation, scheduler->entries[i].rows);
        slot->served_last = scheduler->pass;
        slot->begun = true;
        scheduler->segments[count] = generation_segment(&slot->generation, &slot->due);
        scheduler->segments[count].cancel = &slot->job->cancelled;
        scheduler->segment_slots[count++] = slot;
    }
    return count;
}

/* Gives a slot's generation its logits and passes on the events, including those that need no
 * pass. */
static void take(struct scheduler *scheduler, struct slot *slot, float *logits)
{
    struct td_error err = {0};
    struct generation *generation = &slot->generation;
    do {
        struct generation_event event;
        enum td_status status = generation_take(generation, &slot->due, logits,
                                                scheduler->workspace->candidates, &event, &err);
        if (status == TD_OK && event.kind == GENERATION_PREFILL)
            return;
        if (status == TD_OK && event.kind == GENERATION_TOKEN)
            atomic_fetch_add(&scheduler->completion_tokens, 1);
        if (status == TD_OK)
            backlog_prompt_done(scheduler, slot->job);
        bool done = status == TD_OK && event.kind == GENERATION_DONE;
        if (status == TD_OK && !done)
            status = job_add_event(slot->job, &event, &err);
        if (status != TD_OK || done) {
            scheduler_end_slot(scheduler, slot, status, &err);
            return;
        }
        slot->due = (struct generation_due){0};
    } while (generation_has_event(generation));
    post(scheduler, slot);
}

static void take_all(struct scheduler *scheduler, uint32_t count)
{
    float *logits = scheduler->workspace->logits;
    for (uint32_t i = 0; i < count; i++) {
        struct slot *slot = scheduler->segment_slots[i];
        take(scheduler, slot, logits);
        logits += (size_t)scheduler->segments[i].logit_rows * scheduler->model->vocab_count;
    }
}

/* The pass was refused because of one job. Runs each job alone, so that only that one fails. */
static void run_one_by_one(struct scheduler *scheduler, uint32_t count)
{
    struct workspace *workspace = scheduler->workspace;
    for (uint32_t i = 0; i < count; i++) {
        struct td_error err = {0};
        enum td_status status =
            forward_run(workspace, &scheduler->segments[i], 1, workspace->logits, &err);
        if (status == TD_OK)
            take(scheduler, scheduler->segment_slots[i], workspace->logits);
        else if (status != TD_CANCELLED)
            scheduler_end_slot(scheduler, scheduler->segment_slots[i], status, &err);
    }
}

bool scheduler_pass(struct scheduler *scheduler)
{
    scheduler->pass++;
    struct plan plan = make_plan(scheduler);
    uint32_t count = fill_segments(scheduler);
    if (count == 0)
        return false;
    double begin_ms = clock_monotonic_ms(NULL);
    struct td_error err = {0};
    enum td_status status = forward_run(scheduler->workspace, scheduler->segments, count,
                                        scheduler->workspace->logits, &err);
    if (status == TD_OK) {
        for (uint32_t i = 0; i < count; i++) {
            const struct job_request *request = &scheduler->segment_slots[i]->job->request;
            if (!request->keep_nothing)
                prefix_publish(scheduler->prefixes, scheduler->segments[i].sequence,
                               &request->scope, false);
        }
        take_all(scheduler, count);
        double pass_ms = clock_monotonic_ms(NULL) - begin_ms;
        pace_note(&scheduler->pace, plan.stream_rows, plan.prompt_rows, pass_ms);
        atomic_fetch_add(&scheduler->pass_us, (uint64_t)(pass_ms * 1000));
        backlog_note_pace(scheduler);
        atomic_fetch_add(&scheduler->passes, 1);
        atomic_fetch_add(&scheduler->rows, plan.stream_rows + plan.prompt_rows);
    } else if (status != TD_CANCELLED) { /* cancelled jobs end before the next pass */
        run_one_by_one(scheduler, count);
    }
    atomic_store(&scheduler->pages_used, scheduler->kv_pool->used_count);
    return true;
}

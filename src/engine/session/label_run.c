/* Labels of one token need only the prompt, so they are one job. With longer ones, a first job
 * reads the prompt and scores the first label. Its pages then are the beginning of some further
 * jobs, which the scheduler runs side by side: each pass over the weights serves a token or more of
 * each. Where nothing computed may be kept, one job does everything, because others could not use
 * its prompt.
 *
 * Rejected: a job for each label. It would run shared beginnings again, and a hundred labels would
 * fill the queue. */
#include "engine/session/label_run.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/adapter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Jobs beside each other after the first, and the tokens of labels from which on they pay. */
#define PARTS_MAX 4
#define PART_TOKENS_MIN 8

struct part {
    struct label_run *run;
    struct job *job; /* NULL = not begun, or ended */
    size_t begin, end;
};

struct label_run {
    struct scheduler *scheduler;
    struct job_request request;
    struct label_plan *labels;
    void (*on_done)(void *ctx, enum td_status status, const struct label_result *result,
                    const struct td_error *err);
    void *ctx;
    int32_t *ids;
    double *scores; /* [labels] */
    struct label_result result;
    struct part parts[1 + PARTS_MAX];
    uint32_t part_count, begun, running;
};

static void run_free(struct label_run *run)
{
    adapter_set_release(run->request.adapters);
    label_plan_release(run->labels);
    free(run->ids);
    free(run->scores);
    free(run);
}

static void cancel_parts(struct label_run *run)
{
    for (uint32_t i = 0; i < run->begun; i++)
        if (run->parts[i].job)
            job_cancel(run->parts[i].job);
}

static void finish(struct label_run *run, enum td_status status, const struct td_error *err)
{
    run->on_done(run->ctx, status, status == TD_OK ? &run->result : NULL, err);
    run_free(run);
}

/* Begins the next jobs: the first alone, then the others. TD_OK also when the queue is full but a
 * job runs, after which it is tried again. */
static enum td_status begin_parts(struct label_run *run, struct td_error *err)
{
    uint32_t most = run->begun == 0 ? 1 : run->part_count;
    while (run->begun < most) {
        struct part *part = &run->parts[run->begun];
        run->request.ctx = part;
        run->request.label_begin = part->begin;
        run->request.label_end = part->end;
        struct td_error cause = {0};
        enum td_status status = scheduler_submit(run->scheduler, &run->request, &part->job, &cause);
        if (status == TD_BUSY && run->running > 0)
            return TD_OK;
        if (status != TD_OK) {
            *err = cause;
            return status;
        }
        run->begun++;
        run->running++;
    }
    return TD_OK;
}

static void on_token(void *ctx, const struct td_token *token, struct td_str text)
{
    (void)ctx;
    (void)token;
    (void)text;
}

/* A job's scores are those of its own labels; the others are zero. */
static void take_part(struct label_run *run, const struct part *part,
                      const struct td_generate_result *result)
{
    double not_mine;
    const double *scores = job_label_scores(part->job, &not_mine);
    for (size_t i = 0; i < label_plan_count(run->labels); i++)
        run->scores[i] += scores[i];
    if (part != &run->parts[0])
        return;
    run->result.not_mine = not_mine;
    run->result.cached_tokens = result->cached_tokens;
    run->result.waited_ms = job_waited_ms(part->job);
}

static void on_done(void *ctx, enum td_status status, const struct td_generate_result *result,
                    const struct td_error *err)
{
    struct part *part = ctx;
    struct label_run *run = part->run;
    struct td_error cause = *err;
    if (status == TD_OK)
        take_part(run, part, result);
    part->job = NULL;
    run->running--;
    if (status == TD_OK)
        status = begin_parts(run, &cause);
    if (status == TD_OK && (run->running > 0 || run->begun < run->part_count))
        return;
    cancel_parts(run);
    finish(run, status, &cause);
}

/* Cuts the plan's order into parts of about as many tokens each. */
static void cut_parts(struct label_run *run)
{
    size_t count = label_plan_count(run->labels);
    uint64_t all = label_plan_work(run->labels, count), first = label_plan_work(run->labels, 1);
    uint64_t parts = (all - first) / PART_TOKENS_MIN;
    bool shares = !run->request.keep_nothing && !scheduler_keeps_nothing(run->scheduler);
    parts = parts < PARTS_MAX ? parts : PARTS_MAX;
    run->result.label_tokens = all;
    run->parts[0] = (struct part){.run = run, .end = count};
    run->part_count = 1;
    if (!shares || parts < 2)
        return;
    run->parts[0].end = 1;
    for (size_t begin = 1, end = begin; begin < count; begin = end) {
        bool last = run->part_count == parts;
        uint64_t until = first + (all - first) * run->part_count / parts;
        while (end < count && (last || end == begin || label_plan_work(run->labels, end) < until))
            end++;
        run->parts[run->part_count++] = (struct part){.run = run, .begin = begin, .end = end};
    }
}

static enum td_status run_new(struct scheduler *scheduler, const struct label_request *request,
                              struct label_run **out, struct td_error *err)
{
    const struct job_request *job = request->job;
    struct label_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a classification");
    run->scheduler = scheduler;
    run->request =
        (struct job_request){.id_count = job->id_count,
                             .priority = job->priority,
                             .options = {.tokens_max = label_plan_depth(request->labels) + 1,
                                         .sampling = td_sampling_default()},
                             .adapters = adapter_set_retain(job->adapters),
                             .scope = job->scope,
                             .owner = job->owner,
                             .weight = job->weight,
                             .keep_nothing = job->keep_nothing,
                             .labels = request->labels,
                             .loop = job->loop,
                             .on_token = on_token,
                             .on_done = on_done};
    run->labels = label_plan_retain(request->labels);
    run->on_done = request->on_done;
    run->ctx = request->ctx;
    run->ids = malloc((job->id_count + 1) * sizeof *run->ids);
    run->scores = calloc(label_plan_count(run->labels), sizeof *run->scores);
    if (run->ids == NULL || run->scores == NULL) {
        run_free(run);
        return error_set(err, TD_NO_MEMORY, "no memory for a prompt of %zu tokens", job->id_count);
    }
    memcpy(run->ids, job->ids, job->id_count * sizeof *run->ids);
    run->request.ids = run->ids;
    run->result = (struct label_result){
        .scores = run->scores, .not_mine = NAN, .prompt_tokens = (uint32_t)job->id_count};
    *out = run;
    return TD_OK;
}

enum td_status label_run_start(struct scheduler *scheduler, const struct label_request *request,
                               struct label_run **out, struct td_error *err)
{
    ASSERT(request->job != NULL && request->labels != NULL && request->on_done != NULL);
    *out = NULL;
    struct label_run *run = NULL;
    enum td_status status = run_new(scheduler, request, &run, err);
    if (status != TD_OK)
        return status;
    cut_parts(run);
    status = begin_parts(run, err);
    if (status == TD_OK)
        *out = run;
    else
        run_free(run);
    return status;
}

void label_run_cancel(struct label_run *run)
{
    cancel_parts(run);
    run_free(run);
}

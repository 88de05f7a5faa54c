/* Passes the events of a generation from the scheduler's thread to the loop of its owner. The two
 * batches and the flags are guarded by one mutex, which is held only to copy an event or to swap
 * the batches, never during a callback. A post to the loop is sent only if none is under way, so a
 * fast generation fills a batch instead of flooding the loop. */
#include "engine/session/job.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "engine/grammar/grammar.h"
#include "engine/model/adapter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Text of one batch. 32 tokens have less than a kilobyte, unless a vocabulary is malicious. */
#define BATCH_TEXT_BYTES_MAX ((size_t)64 << 20)

/* --- wake --- */

struct wake *wake_new(void)
{
    struct wake *wake = calloc(1, sizeof *wake);
    if (wake == NULL)
        return NULL;
    atomic_init(&wake->references, 1);
    pthread_mutex_init(&wake->mutex, NULL);
    clock_cond_init(&wake->condition);
    return wake;
}

static struct wake *wake_retain(struct wake *wake)
{
    ASSERT(wake->references > 0);
    atomic_fetch_add(&wake->references, 1);
    return wake;
}

void wake_release(struct wake *wake)
{
    if (wake == NULL || atomic_fetch_sub(&wake->references, 1) != 1)
        return;
    pthread_cond_destroy(&wake->condition);
    pthread_mutex_destroy(&wake->mutex);
    free(wake);
}

void wake_signal(struct wake *wake)
{
    pthread_mutex_lock(&wake->mutex);
    wake->signalled = true;
    pthread_cond_signal(&wake->condition);
    pthread_mutex_unlock(&wake->mutex);
}

void wake_wait(struct wake *wake, uint32_t timeout_ms)
{
    struct timespec until = clock_deadline(timeout_ms);
    pthread_mutex_lock(&wake->mutex);
    int rc = 0;
    while (!wake->signalled && rc != ETIMEDOUT) {
        if (timeout_ms == UINT32_MAX)
            pthread_cond_wait(&wake->condition, &wake->mutex);
        else
            rc = pthread_cond_timedwait(&wake->condition, &wake->mutex, &until);
    }
    wake->signalled = false;
    pthread_mutex_unlock(&wake->mutex);
}

/* --- life --- */

static struct job_batch *batch_new(void)
{
    struct job_batch *batch = calloc(1, sizeof *batch);
    if (batch)
        buf_init(&batch->text, BATCH_TEXT_BYTES_MAX);
    return batch;
}

static void batch_free(struct job_batch *batch)
{
    if (batch == NULL)
        return;
    buf_deinit(&batch->text);
    free(batch);
}

static void job_free(struct job *job)
{
    batch_free(job->filling);
    batch_free(job->draining);
    free(job->ids);
    free(job->stop_bytes);
    free(job->biases);
    free(job->prompt_scores);
    free(job->label_scores);
    label_plan_release(job->request.labels);
    td_grammar_free(job->request.options.grammar);
    adapter_set_release(job->request.adapters);
    wake_release(job->wake);
    pthread_mutex_destroy(&job->mutex);
    free(job);
}

void job_release(struct job *job)
{
    ASSERT(job == NULL || job->references > 0);
    if (atomic_fetch_sub(&job->references, 1) == 1)
        job_free(job);
}

/* Makes room for the scores; false without memory. */
static bool copy_labels(struct job *job, const struct job_request *request)
{
    if (request->labels == NULL)
        return true;
    job->label_scores = calloc(label_plan_count(request->labels), sizeof *job->label_scores);
    if (job->label_scores == NULL)
        return false;
    label_walk_init(&job->walk, request->labels, request->label_begin, request->label_end,
                    job->label_scores);
    return true;
}

/* Copies ids, stop strings and biases, retains grammar, adapters and labels; false without
 * memory. */
static bool copy_request(struct job *job, const struct job_request *request)
{
    size_t stop_bytes = 0, used = 0;
    const struct td_generate_options *options = &request->options;
    for (size_t i = 0; i < options->stop_count; i++)
        stop_bytes += options->stops[i].len;
    job->ids = malloc(request->id_count * sizeof *job->ids);
    job->stop_bytes = malloc(stop_bytes + 1);
    size_t bias_count = options->sampling.bias_count;
    job->biases = calloc(bias_count + 1, sizeof *job->biases);
    if (request->score_prompt)
        job->prompt_scores = calloc(request->id_count, sizeof *job->prompt_scores);
    if (job->ids == NULL || job->stop_bytes == NULL || job->biases == NULL ||
        (request->score_prompt && job->prompt_scores == NULL) || !copy_labels(job, request))
        return false;
    if (bias_count)
        memcpy(job->biases, options->sampling.biases, bias_count * sizeof *job->biases);
    memcpy(job->ids, request->ids, request->id_count * sizeof *job->ids);
    for (size_t i = 0; i < options->stop_count; i++) {
        struct td_str stop = options->stops[i];
        if (stop.len)
            memcpy(job->stop_bytes + used, stop.data, stop.len);
        job->stops[i] = (struct td_str){job->stop_bytes + used, stop.len};
        used += stop.len;
    }
    job->request = *request;
    job->request.ids = job->ids;
    job->request.options.stops = job->stops;
    job->request.options.sampling.biases = job->biases;
    grammar_retain(job->request.options.grammar);
    adapter_set_retain(job->request.adapters);
    label_plan_retain(job->request.labels);
    return true;
}

enum td_status job_new(const struct job_request *request, struct wake *wake, struct job **out,
                       struct td_error *err)
{
    ASSERT(request->loop != NULL && request->on_token != NULL && request->on_done != NULL);
    *out = NULL;
    if (request->id_count == 0)
        return error_set(err, TD_INVALID, "the prompt has no tokens");
    if (request->options.context_shift)
        return error_set(err, TD_UNSUPPORTED, "context_shift is not supported in the scheduler");
    if (request->options.stop_count > TD_STOPS_MAX)
        return error_set(err, TD_INVALID, "%zu stop strings, at most %d",
                         request->options.stop_count, TD_STOPS_MAX);
    if (request->options.sampling.bias_count > TD_LOGIT_BIASES_MAX)
        return error_set(err, TD_INVALID, "%zu logit biases, at most %d",
                         request->options.sampling.bias_count, TD_LOGIT_BIASES_MAX);
    struct job *job = calloc(1, sizeof *job);
    if (job == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a job");
    atomic_init(&job->references, 2);
    pthread_mutex_init(&job->mutex, NULL);
    job->wake = wake_retain(wake);
    job->filling = batch_new();
    job->draining = batch_new();
    if (job->filling == NULL || job->draining == NULL || !copy_request(job, request)) {
        job_free(job);
        return error_set(err, TD_NO_MEMORY, "no memory for a job of %zu tokens", request->id_count);
    }
    *out = job;
    return TD_OK;
}

/* --- the scheduler's side --- */

bool job_has_room(struct job *job)
{
    pthread_mutex_lock(&job->mutex);
    /* The tokens of a pass, and the held text that may follow the last one. */
    uint32_t guesses = job->request.options.speculation ? SPECULATION_TOKENS_MAX : 0;
    bool room = job->filling->count + guesses + 2 <= JOB_EVENTS_MAX;
    job->stalled = !room;
    pthread_mutex_unlock(&job->mutex);
    return room;
}

enum td_status job_add_event(struct job *job, const struct generation_event *event,
                             struct td_error *err)
{
    pthread_mutex_lock(&job->mutex);
    struct job_batch *batch = job->filling;
    struct job_event *out = &batch->events[batch->count];
    out->has_token = event->kind == GENERATION_TOKEN;
    out->id = event->token.id;
    out->piece = event->token.piece;
    out->stats = event->token.stats;
    out->top_count = (uint8_t)event->token.top_count;
    if (out->top_count)
        memcpy(out->top, event->token.top, event->token.top_count * sizeof *out->top);
    out->text_begin = batch->text.len;
    out->text_len = event->text.len;
    buf_append_str(&batch->text, event->text);
    batch->count++;
    job->post_wanted = true;
    bool failed = batch->text.failed;
    pthread_mutex_unlock(&job->mutex);
    return failed ? error_set(err, TD_NO_MEMORY, "no memory for the generated text") : TD_OK;
}

void job_end(struct job *job, enum td_status status, const struct td_generate_result *result,
             const struct td_error *err)
{
    pthread_mutex_lock(&job->mutex);
    job->ended = true;
    job->status = status;
    job->result = *result;
    job->err = *err;
    job->post_wanted = true;
    pthread_mutex_unlock(&job->mutex);
}

/* --- the loop's side --- */

const struct prompt_score *job_prompt_scores(const struct job *job)
{
    return job->prompt_scores;
}

const double *job_label_scores(const struct job *job, double *not_mine)
{
    *not_mine = job->walk.not_mine;
    return job->label_scores;
}

/* Takes the filled batch; true if this is the last delivery. */
static bool take_batch(struct job *job)
{
    pthread_mutex_lock(&job->mutex);
    struct job_batch *taken = job->filling;
    job->filling = job->draining;
    job->draining = taken;
    job->posted = false;
    job->post_wanted = false; /* everything is taken, including the end */
    bool stalled = job->stalled;
    job->stalled = false;
    bool ended = job->ended;
    pthread_mutex_unlock(&job->mutex);
    if (stalled)
        wake_signal(job->wake);
    return ended;
}

static bool is_cancelled(const struct job *job)
{
    return atomic_load_explicit(&job->cancelled, memory_order_relaxed);
}

static void deliver_events(struct job *job)
{
    struct job_batch *batch = job->draining;
    for (uint32_t i = 0; i < batch->count && !is_cancelled(job); i++) {
        const struct job_event *event = &batch->events[i];
        struct td_str text = str_slice(buf_view(&batch->text), event->text_begin,
                                       event->text_begin + event->text_len);
        struct td_token token = {.id = event->id,
                                 .piece = event->piece,
                                 .stats = event->stats,
                                 .top = event->top,
                                 .top_count = event->top_count};
        job->request.on_token(job->request.ctx, event->has_token ? &token : NULL, text);
    }
    batch->count = 0;
    buf_clear(&batch->text);
}

/* Runs on the loop, and releases the reference of the post. */
static void job_deliver(void *ctx)
{
    struct job *job = ctx;
    if (!is_cancelled(job)) {
        bool ended = take_batch(job);
        deliver_events(job);
        if (ended && !is_cancelled(job)) {
            job->request.on_done(job->request.ctx, job->status, &job->result, &job->err);
            if (!is_cancelled(job)) /* job_cancel in on_done releases the owner's reference */
                job_release(job);
        }
    }
    job_release(job);
}

bool job_post(struct job *job)
{
    pthread_mutex_lock(&job->mutex);
    bool post = job->post_wanted && !job->posted && !is_cancelled(job), accepted = true;
    if (post) {
        atomic_fetch_add(&job->references, 1);
        accepted = loop_post(job->request.loop, job_deliver, job);
        job->posted = accepted;
        job->post_wanted = !accepted;
    }
    pthread_mutex_unlock(&job->mutex);
    if (!accepted)
        job_release(job);
    return accepted;
}

/* The flag is set under the mutex, so after this call no new post can begin and the loop may be
 * freed. */
void job_cancel(struct job *job)
{
    pthread_mutex_lock(&job->mutex);
    bool before = atomic_exchange(&job->cancelled, true);
    pthread_mutex_unlock(&job->mutex);
    if (before)
        return;
    wake_signal(job->wake);
    job_release(job);
}

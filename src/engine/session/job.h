/* A generation job between two threads: the scheduler writes events into it, the owner's loop takes
 * them out. Inside engine/ only.
 *
 * Life: counted references, one of the owner's (until on_done returned or job_cancel), one of the
 * scheduler's (until the job ended there), one of each loop post under way. Whoever drops the last
 * one frees it, so no order of cancel, post and end matters.
 *
 * Events are kept in two batches that change places: the scheduler fills one while the loop
 * delivers the other. A full batch makes the scheduler skip the job until the loop has taken it
 * (back-pressure). */
#ifndef ENGINE_JOB_H
#define ENGINE_JOB_H

#include "base/buf.h"
#include "engine/session/generate.h"
#include "engine/session/scheduler.h"

#include <pthread.h>

/* Tokens that may wait for the loop: a few posts' worth; more would only hide that a client is
 * slow. */
#define JOB_EVENTS_MAX 32

/* Wakes the scheduler thread. Shared by the scheduler and its jobs, so that a job may outlive
 * it. */
struct wake {
    atomic_uint references;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool signalled;
};

struct wake *wake_new(void); /* **returns new** (wake_release), or NULL */
void wake_release(struct wake *wake);
void wake_signal(struct wake *wake);
/* Waits until signalled since the last wait, at most timeout_ms (UINT32_MAX = for ever). */
void wake_wait(struct wake *wake, uint32_t timeout_ms);

struct job_event {
    bool has_token;
    int32_t id;
    struct td_str piece; /* borrowed from the model */
    struct td_token_stats stats;
    size_t text_begin, text_len; /* in the batch's text */
    uint8_t top_count;
    struct td_top_logprob top[TD_TOP_LOGPROBS_MAX];
};

struct job_batch {
    struct job_event events[JOB_EVENTS_MAX];
    uint32_t count;
    struct buf text;
};

struct job {
    atomic_uint references;
    atomic_bool cancelled; /* set by the owner; no callback after */
    struct job_request request;
    int32_t *ids;
    struct td_str stops[TD_STOPS_MAX];
    char *stop_bytes;
    struct td_logit_bias *biases;
    struct prompt_score *prompt_scores; /* the scheduler's until the first event; or NULL */
    struct wake *wake;

    pthread_mutex_t mutex; /* guards what follows */
    struct job_batch *filling;
    struct job_batch *draining; /* the loop's alone while it delivers */
    bool post_wanted;           /* something is to be delivered and no post is under way */
    bool posted;
    bool stalled; /* the scheduler waits for room */
    bool ended;
    enum td_status status;
    struct td_generate_result result;
    struct td_error err;
};

/* Copies the request. Two references: the owner's and the scheduler's. */
TD_MUST_CHECK enum td_status job_new(const struct job_request *request, struct wake *wake,
                                     struct job **out, struct td_error *err);
void job_release(struct job *job);

/* Scheduler's side. */
bool job_has_room(struct job *job); /* false also notes that the scheduler is to be woken */
TD_MUST_CHECK enum td_status job_add_event(struct job *job, const struct generation_event *event,
                                           struct td_error *err);
void job_end(struct job *job, enum td_status status, const struct td_generate_result *result,
             const struct td_error *err);
/* Posts what is to be delivered; false when the loop took no post: try again later. */
bool job_post(struct job *job);

#endif

/* A generation job between two threads: the scheduler writes events into it, and the owner's loop
 * takes them out. Inside engine/ only.
 *
 * A job is reference-counted. The owner has a reference until on_done has returned or job_cancel,
 * the scheduler until the job has ended there, and each post to the loop has one. Whoever releases
 * the last reference frees the job, so cancel, post and end may come in any order.
 *
 * Events are kept in two batches that are swapped: the scheduler fills one while the loop delivers
 * the other. When a batch is full, the scheduler skips the job until the loop has taken the batch
 * (back-pressure). */
#ifndef ENGINE_JOB_H
#define ENGINE_JOB_H

#include "base/bytes/buf.h"
#include "engine/session/generate.h"
#include "engine/session/scheduler.h"

#include <pthread.h>

/* How many tokens may wait for the loop. More would only hide that a client is slow. */
#define JOB_EVENTS_MAX 32

/* Wakes the scheduler thread. The scheduler and its jobs share it, so that a job may outlive the
 * scheduler. */
struct wake {
    atomic_uint references;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool signalled;
};

struct wake *wake_new(void); /* **returns new** (wake_release); NULL = no memory */
void wake_release(struct wake *wake);
void wake_signal(struct wake *wake);
/* Waits for a signal, or returns at once if one came since the last wait. Waits at most timeout_ms;
 * UINT32_MAX = without limit. */
void wake_wait(struct wake *wake, uint32_t timeout_ms);

struct job_event {
    bool has_token;
    int32_t id;
    struct td_str piece; /* borrowed from the model */
    struct td_token_stats stats;
    size_t text_begin, text_len; /* in the text of the batch */
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
    atomic_bool cancelled; /* set by the owner; no callback comes after it */
    struct job_request request;
    int32_t *ids;
    struct td_str stops[TD_STOPS_MAX];
    char *stop_bytes;
    struct td_logit_bias *biases;
    struct prompt_score *prompt_scores; /* written until the first event; NULL = not asked for */
    struct label_walk walk;             /* of request.labels; written until the job has ended */
    double *label_scores;               /* [labels] of the walk; NULL = no labels */
    struct wake *wake;
    double submitted_ms, admitted_ms; /* when it came and when it got its slot; 0 = not yet */
    bool prompt_owed;                 /* its prompt counts as work before others */
    bool joined;                      /* its owner's account has it (scheduler_admit.c) */
    double charged;                   /* tokens, to its owner; 0 = it was not admitted yet */

    pthread_mutex_t mutex; /* guards what follows */
    struct job_batch *filling;
    struct job_batch *draining; /* only the loop uses it while it delivers */
    bool post_wanted;           /* there is something to deliver and no post is under way */
    bool posted;                /* a post is under way */
    bool stalled;               /* the scheduler waits for room */
    bool ended;
    enum td_status status;
    struct td_generate_result result;
    struct td_error err;
};

/* Copies the request. The job begins with two references: the owner's and the scheduler's. */
TD_MUST_CHECK enum td_status job_new(const struct job_request *request, struct wake *wake,
                                     struct job **out, struct td_error *err);
void job_release(struct job *job);

/* --- called by the scheduler --- */

/* Whether the events of a pass fit. If not, the scheduler is woken when they do. */
bool job_has_room(struct job *job);
/* Requires room. */
TD_MUST_CHECK enum td_status job_add_event(struct job *job, const struct generation_event *event,
                                           struct td_error *err);
void job_end(struct job *job, enum td_status status, const struct td_generate_result *result,
             const struct td_error *err);
/* Posts to the loop if there is something to deliver. False when the loop's queue is full: try
 * again later. */
bool job_post(struct job *job);

#endif

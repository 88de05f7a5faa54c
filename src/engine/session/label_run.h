/* Scores labels after one prompt through the scheduler. One loop's thread. */
#ifndef ENGINE_LABEL_RUN_H
#define ENGINE_LABEL_RUN_H

#include "engine/session/label_walk.h"
#include "engine/session/scheduler.h"

struct label_run;

struct label_result {
    const double *scores; /* [labels of the plan]: natural logs; valid during the call */
    double not_mine;      /* a probability; NAN = the model has no such token */
    uint32_t prompt_tokens, cached_tokens;
    uint64_t label_tokens; /* that ran after the prompt */
    double waited_ms;      /* in the queue */
};

struct label_request {
    /* Of this: the prompt (copied), priority, adapters (retained), scope, keep_nothing and loop. */
    const struct job_request *job;
    struct label_plan *labels; /* retained */
    /* Called exactly once, unless label_run_cancel was called: TD_OK with the result, or the
     * failure. TD_BUSY: others took all places between two jobs of the run. */
    void (*on_done)(void *ctx, enum td_status status, const struct label_result *result,
                    const struct td_error *err);
    void *ctx;
};

/* TD_BUSY when the queue is full, TD_LIMIT when prompt and labels do not fit the context. *out is
 * valid until on_done returns or label_run_cancel is called. */
TD_MUST_CHECK enum td_status label_run_start(struct scheduler *scheduler,
                                             const struct label_request *request,
                                             struct label_run **out, struct td_error *err);
/* On the run's loop, but not inside on_done. No callback comes after it returns. */
void label_run_cancel(struct label_run *run);

#endif

/* A session inside the engine: one sequence with its own working memory and pool of pages. One
 * thread at a time; only the cancel flag may be set by another thread. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/forward/forward.h"

struct td_session {
    const struct td_model *model;
    struct thread_pool *threads;
    struct kv_pool *kv_pool;
    struct workspace *workspace; /* with rows of logits for speculation */
    struct sequence sequence;
    struct adapter_set *adapters; /* retained, for the sequence; or NULL */
    const atomic_bool *cancel;    /* work stops between two layers when it is set; NULL = never */
    /* A model that is known to have the same vocabulary and lives as long as the session; or
     * NULL. */
    const struct td_model *drafts_for;
};

/* Runs a segment of any length of the session's sequence, cut into parts that fit the workspace. */
TD_MUST_CHECK enum td_status session_run(struct td_session *session, const struct segment *whole,
                                         float *logits, struct td_error *err);

#endif

/* A session inside the engine: one sequence with a working memory and a pool of pages of its own.
 * One thread at a time; only the cancel flag is shared. */
#ifndef ENGINE_SESSION_H
#define ENGINE_SESSION_H

#include "engine/forward/forward.h"

struct td_session {
    const struct td_model *model;
    struct thread_pool *threads;
    struct kv_pool *kv_pool;
    struct workspace *workspace; /* with rows of logits for speculation */
    struct sequence sequence;
    struct adapter_set *adapters; /* the sequence's, a reference of the session's; or NULL */
    const atomic_bool *cancel;    /* set: the work stops between two layers; NULL = nobody can */
    /* A model that is known to have the same vocabulary, and lives as long; or NULL. */
    const struct td_model *drafts_for;
};

/* Runs a segment of the session's sequence of any length, cut where the workspace ends. */
TD_MUST_CHECK enum td_status session_run(struct td_session *session, const struct segment *whole,
                                         float *logits, struct td_error *err);

#endif

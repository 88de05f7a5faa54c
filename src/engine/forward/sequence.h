/* One text as the model has read it: its tokens, the pages with their keys and values, and the
 * state of recurrent layers. A sequence has no working memory, so there may be many. forward_run
 * adds tokens. Belongs to the thread of its pool. */
#ifndef ENGINE_SEQUENCE_H
#define ENGINE_SEQUENCE_H

#include "engine/forward/kv_pool.h"
#include "engine/model/adapter.h"

#define STATE_NOWHERE UINT32_MAX

struct sequence {
    const struct td_model *model;
    struct kv_pool *pool;
    uint32_t context_size;
    uint32_t length;     /* positions in the cache */
    uint32_t page_count; /* pages of `length`, and reserved ones while a forward pass runs */
    uint32_t published;  /* how many first pages the prefix_index has */
    int32_t *ids;        /* [context_size]: the tokens of the cached positions */
    uint32_t *pages;     /* [pages of context_size] */
    /* Of recurrent layers (recurrent.h), after `state_at` positions; more than `length` = of none
     * that is left. NULL = the model has no such layers. */
    float *state;
    uint32_t state_at;
    uint32_t parted_at;    /* where the text of another was seen to end; 0 = not known */
    uint32_t passing_page; /* the number of pages before the checkpoint that the next one replaces;
                              0 = there is none */
    /* Angles of the layers with ROPE_GLOBAL (ROPE_LONG in a long context) and ROPE_LOCAL. */
    const struct rope *ropes[2];
    const struct adapter_set *adapters;  /* borrowed; NULL = the bare model */
    struct adapter_set_id adapters_held; /* what the cached positions were computed with */
};

/* Sets *out to context_size, or for 0 to the default: the model's, at most 4096. TD_INVALID when it
 * is more than the model was trained for, or the model was opened with vocab_only. */
TD_MUST_CHECK enum td_status sequence_context(const struct td_model *model, uint32_t context_size,
                                              uint32_t *out, struct td_error *err);

/* Makes an empty sequence in storage of the caller, who calls sequence_deinit after success and
 * after failure. **borrows** model and pool. */
TD_MUST_CHECK enum td_status sequence_init(struct sequence *sequence, struct kv_pool *pool,
                                           uint32_t context_size, struct td_error *err);
void sequence_deinit(struct sequence *sequence);

/* Reserves pages for `count` positions after the cached ones. TD_LIMIT when the context is full,
 * TD_BUSY when the pool has no page; the sequence is then as before. */
TD_MUST_CHECK enum td_status sequence_reserve(struct sequence *sequence, size_t count,
                                              struct td_error *err);
/* Forgets the positions from `count` on and gives back their pages. */
void sequence_truncate(struct sequence *sequence, uint32_t count);
/* Makes the state that of the beginning, and gives its memory back. */
void sequence_reset_state(struct sequence *sequence);
/* Sets the adapters for everything that runs from now on; NULL = the bare model. **borrows** the
 * set until the next call or the end. Cached positions are forgotten, unless they were computed
 * with the same adapters. */
void sequence_set_adapters(struct sequence *sequence, const struct adapter_set *adapters);
/* Ends the borrowing of the set; the cached positions stay. The caller must not run the sequence
 * until the next sequence_set_adapters. */
void sequence_leave_adapters(struct sequence *sequence);
/* How many of the first `ids` the sequence holds already, computed with these adapters. */
uint32_t sequence_common_prefix(const struct sequence *sequence, const struct adapter_set *adapters,
                                const int32_t *ids, size_t count);

#endif

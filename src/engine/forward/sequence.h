/* One text as the model has read it: its tokens and the pages that hold their keys and values. It
 * has no working memory, so there may be many of them; forward.h brings tokens in. Belongs to the
 * thread of its pool. */
#ifndef ENGINE_SEQUENCE_H
#define ENGINE_SEQUENCE_H

#include "engine/forward/kv_pool.h"
#include "engine/model/adapter.h"

struct sequence {
    const struct td_model *model;
    struct kv_pool *pool;
    uint32_t context_size;
    uint32_t length;     /* positions in the cache */
    uint32_t page_count; /* pages held: those of `length`, or more while a forward pass runs */
    uint32_t published;  /* leading pages that a prefix_index knows */
    int32_t *ids;        /* [context_size]: the tokens of the cached positions */
    uint32_t *pages;     /* [pages of context_size] */
    /* Angles of the layers with ROPE_GLOBAL and ROPE_LOCAL: a long context has other ones. */
    const struct rope *ropes[2];
    const struct adapter_set *adapters;  /* borrowed; NULL = the bare model */
    struct adapter_set_id adapters_held; /* what the cached positions were computed with */
};

/* context_size 0 = the default: the model's, at most 4096. TD_INVALID when it is more than the
 * model was trained for, or the model has no weights. */
TD_MUST_CHECK enum td_status sequence_context(const struct td_model *model, uint32_t context_size,
                                              uint32_t *out, struct td_error *err);

/* An empty sequence in storage of the caller's; afterwards sequence_deinit, success or not.
 * **borrows** model and pool. */
TD_MUST_CHECK enum td_status sequence_init(struct sequence *sequence, struct kv_pool *pool,
                                           uint32_t context_size, struct td_error *err);
void sequence_deinit(struct sequence *sequence);

/* Holds pages for `count` positions after the cached ones. TD_LIMIT when the context is full,
 * TD_BUSY when the pool is; nothing has changed then. */
TD_MUST_CHECK enum td_status sequence_reserve(struct sequence *sequence, size_t count,
                                              struct td_error *err);
/* Forgets the positions from `count` on and gives back their pages. */
void sequence_truncate(struct sequence *sequence, uint32_t count);
/* What runs from now on: NULL = the bare model. **borrows** the set until the next call or the end;
 * what the sequence holds is forgotten unless it was computed with the same adapters. */
void sequence_set_adapters(struct sequence *sequence, const struct adapter_set *adapters);
/* Nothing runs until the next sequence_set_adapters, and the set may go; the cached positions
 * stay. */
void sequence_leave_adapters(struct sequence *sequence);
/* Number of leading `ids` that the sequence holds already, as these adapters compute them. */
uint32_t sequence_common_prefix(const struct sequence *sequence, const struct adapter_set *adapters,
                                const int32_t *ids, size_t count);

#endif

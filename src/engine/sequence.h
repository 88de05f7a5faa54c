/* One text as the model has read it: its tokens and the pages that hold their keys and values. It
 * has no working memory, so there may be many of them; forward.h brings tokens in. Belongs to the
 * thread of its pool. */
#ifndef ENGINE_SEQUENCE_H
#define ENGINE_SEQUENCE_H

#include "engine/kv_pool.h"

struct adapter_set;

struct sequence {
    const struct td_model *model;
    struct kv_pool *pool;
    uint32_t context_size;
    uint32_t length;     /* positions in the cache */
    uint32_t page_count; /* pages held: those of `length`, or more while a forward pass runs */
    int32_t *ids;        /* [context_size]: the tokens of the cached positions */
    uint32_t *pages;     /* [pages of context_size] */
    /* Angles of the layers with ROPE_GLOBAL and ROPE_LOCAL: a long context has other ones. */
    const struct rope *ropes[2];
    const struct adapter_set *adapters; /* borrowed; NULL = the bare model */
};

/* context_size 0 = the default: the model's, at most 4096. TD_INVALID when it is more than the model
 * was trained for, or the model has no weights. */
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
/* Number of leading `ids` that the sequence holds already. */
uint32_t sequence_common_prefix(const struct sequence *sequence, const int32_t *ids, size_t count);

#endif

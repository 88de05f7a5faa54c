/* Memory of keys and values, in pages. A page holds KV_PAGE_TOKENS consecutive positions of one
 * sequence, in all layers. Pages are reference-counted, so that sequences can share a prefix. The
 * memory is mapped: a page that was never used costs nothing. One thread at a time.
 *
 * A page is [layer, kv head] of keys and then values, as kernels/kv_page.h says. After that come,
 * for each position, the numbers that a probe keeps and the inputs of short convolutions. */
#ifndef ENGINE_KV_POOL_H
#define ENGINE_KV_POOL_H

#include "engine/forward/checkpoints.h"
#include "kernels/kv_page.h"

#define KV_NO_PAGE UINT32_MAX

struct kv_pool {
    const struct td_model *model;
    enum td_kv_type kv_type;
    uint32_t page_count;
    uint32_t used_count; /* pages with a reference */
    /* Of one head of each kind in a page: its keys, and its keys and values. */
    size_t key_bytes[HEAD_KIND_COUNT], head_bytes[HEAD_KIND_COUNT];
    size_t kept_at;     /* offset of what is kept besides */
    size_t kept_floats; /* of it, for one position */
    size_t page_bytes;
    uint8_t *block;       /* [page_count, page_bytes] */
    uint32_t *references; /* [page_count] */
    uint32_t *free_pages; /* [page_count], a stack */
    uint32_t free_count;
    struct checkpoints checkpoints; /* recurrent states at the ends of pages */

    /* The keeper holds pages that no sequence uses (prefix_index.h); NULL = there is none. */
    bool (*reclaim)(void *ctx);               /* frees a page; false when it holds none */
    void (*forget)(void *ctx, uint32_t page); /* drops its reference to a page, if it has one */
    void *keeper;                             /* ctx of both */
};

/* TD_INVALID for an unknown type. */
TD_MUST_CHECK enum td_status kv_type_check(enum td_kv_type kv_type, struct td_error *err);

/* One page. UINT64_MAX = the number overflows, here and below. */
uint64_t kv_page_bytes(const struct td_model *model, enum td_kv_type kv_type);
/* How many bytes a pool of page_count pages maps, and one sequence beside it. Each further sequence
 * has recurrent_state_bytes. */
uint64_t kv_pool_bytes(const struct td_model *model, enum td_kv_type kv_type, uint64_t page_count);

/* **returns new** (kv_pool_free). TD_INVALID for an unknown type. */
TD_MUST_CHECK enum td_status kv_pool_new(const struct td_model *model, enum td_kv_type kv_type,
                                         uint32_t page_count, struct kv_pool **out,
                                         struct td_error *err);
void kv_pool_free(struct kv_pool *pool);

/* Takes a free page, with one reference; KV_NO_PAGE when there is none. The other calls require a
 * page that has references. */
uint32_t kv_page_take(struct kv_pool *pool);
void kv_page_retain(struct kv_pool *pool, uint32_t page);
void kv_page_release(struct kv_pool *pool, uint32_t page);
void kv_page_copy(struct kv_pool *pool, uint32_t to, uint32_t from);

/* Overwrites the free pages. Those that were never used still take no memory. */
void kv_pool_wipe_free(struct kv_pool *pool);

/* How many pages `tokens` positions of a sequence take. */
static inline uint32_t kv_pages_of(uint32_t tokens)
{
    return tokens / KV_PAGE_TOKENS + (tokens % KV_PAGE_TOKENS != 0);
}

/* The keys (or values) of one head of a layer in a page. */
static inline uint8_t *kv_page_keys(const struct kv_pool *pool, uint32_t page, uint32_t layer,
                                    uint32_t kv_head)
{
    const struct layer *of = &pool->model->layers[layer];
    return pool->block + page * pool->page_bytes +
           of->kv_before[HEAD_GLOBAL] * pool->head_bytes[HEAD_GLOBAL] +
           of->kv_before[HEAD_LOCAL] * pool->head_bytes[HEAD_LOCAL] +
           kv_head * pool->head_bytes[of->head_kind];
}
static inline uint8_t *kv_page_values(const struct kv_pool *pool, uint32_t page, uint32_t layer,
                                      uint32_t kv_head)
{
    return kv_page_keys(pool, page, layer, kv_head) +
           pool->key_bytes[pool->model->layers[layer].head_kind];
}

/* What is kept of a position besides: the probe's numbers, [heads_kept_width], and then the inputs
 * of short convolutions (short_conv.h). */
static inline float *kv_page_kept(const struct kv_pool *pool, uint32_t page, uint32_t position)
{
    return (float *)(void *)(pool->block + page * pool->page_bytes + pool->kept_at) +
           position % KV_PAGE_TOKENS * pool->kept_floats;
}

#endif

/* Memory of keys and values, in pages: a page holds KV_PAGE_TOKENS consecutive positions of one
 * sequence, of all layers. Pages are counted references, so that sequences can share a prefix. One
 * thread at a time. The block is mapped, not allocated: a page that was never used costs nothing.
 *
 * Within a page: [layer, kv head] of keys, then values, as kernels/kv_page.h says; then what a
 * probe keeps. */
#ifndef ENGINE_KV_POOL_H
#define ENGINE_KV_POOL_H

#include "engine/model/model.h"
#include "kernels/kv_page.h"

#define KV_NO_PAGE UINT32_MAX

struct kv_pool {
    const struct td_model *model;
    enum td_kv_type kv_type;
    uint32_t page_count;
    uint32_t used_count; /* pages with a reference */
    size_t key_bytes;    /* one head's keys of a page */
    size_t head_bytes;   /* one head's keys and values of a page */
    size_t kept_at;      /* where a page has what the probe keeps of its positions (heads.h) */
    size_t page_bytes;
    uint8_t *block;       /* [page_count, page_bytes] */
    uint32_t *references; /* [page_count] */
    uint32_t *free_pages; /* [page_count], a stack */
    uint32_t free_count;

    /* Who keeps pages that nobody uses (prefix_index.h); NULL = nobody. */
    bool (*reclaim)(void *ctx);               /* makes a page free; false when there is none */
    void (*forget)(void *ctx, uint32_t page); /* drops its reference to a page, if it has one */
    void *keeper;
};

/* TD_INVALID for a type that there is not. */
TD_MUST_CHECK enum td_status kv_type_check(enum td_kv_type kv_type, struct td_error *err);

/* Bytes that a pool of so many pages maps; UINT64_MAX when they cannot be counted. */
uint64_t kv_pool_bytes(const struct td_model *model, enum td_kv_type kv_type, uint64_t page_count);

/* **returns new** (kv_pool_free). TD_INVALID for an unknown type. */
TD_MUST_CHECK enum td_status kv_pool_new(const struct td_model *model, enum td_kv_type kv_type,
                                         uint32_t page_count, struct kv_pool **out,
                                         struct td_error *err);
void kv_pool_free(struct kv_pool *pool);

/* A page with one reference, or KV_NO_PAGE. */
uint32_t kv_page_take(struct kv_pool *pool);
void kv_page_retain(struct kv_pool *pool, uint32_t page);
void kv_page_release(struct kv_pool *pool, uint32_t page);
void kv_page_copy(struct kv_pool *pool, uint32_t to, uint32_t from);

/* Overwrites what free pages were used for. Pages that never were stay unmapped. */
void kv_pool_wipe_free(struct kv_pool *pool);

/* Pages that so many positions of a sequence take. */
static inline uint32_t kv_pages_of(uint32_t tokens)
{
    return tokens / KV_PAGE_TOKENS + (tokens % KV_PAGE_TOKENS != 0);
}

/* Keys (or values) of one head of a layer in a page. */
static inline uint8_t *kv_page_keys(const struct kv_pool *pool, uint32_t page, uint32_t layer,
                                    uint32_t kv_head)
{
    size_t head = (size_t)layer * pool->model->kv_head_count + kv_head;
    return pool->block + page * pool->page_bytes + head * pool->head_bytes;
}
static inline uint8_t *kv_page_values(const struct kv_pool *pool, uint32_t page, uint32_t layer,
                                      uint32_t kv_head)
{
    return kv_page_keys(pool, page, layer, kv_head) + pool->key_bytes;
}

/* What the probe keeps of the positions of a page: [KV_PAGE_TOKENS, heads_kept_width]. */
static inline float *kv_page_kept(const struct kv_pool *pool, uint32_t page)
{
    return (float *)(void *)(pool->block + page * pool->page_bytes + pool->kept_at);
}

#endif

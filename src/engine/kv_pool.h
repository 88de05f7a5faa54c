/* Memory of keys and values, in pages: a page holds `page_tokens` consecutive positions of one
 * sequence, of all layers. Pages are counted references, so that sequences can share a prefix. One
 * thread at a time. The block is mapped, not allocated: a page that was never used costs nothing.
 *
 * Within a page: [layer, kv head] of keys [page_tokens, head_size], then values, so that a head's
 * attention reads straight runs. */
#ifndef ENGINE_KV_POOL_H
#define ENGINE_KV_POOL_H

#include "engine/model.h"

#define KV_NO_PAGE UINT32_MAX

struct kv_pool {
    const struct td_model *model;
    enum td_kv_type kv_type;
    uint32_t page_tokens, page_count;
    uint32_t used_count;  /* pages with a reference */
    size_t row_bytes;     /* one head's key of one position */
    size_t head_bytes;    /* one head's keys (or values) of a page */
    size_t page_bytes;    /* a page */
    uint8_t *block;       /* [page_count, page_bytes] */
    uint32_t *references; /* [page_count] */
    uint32_t *free_pages; /* [page_count], a stack */
    uint32_t free_count;
};

/* TD_INVALID for a type that there is not. */
TD_MUST_CHECK enum td_status kv_type_check(enum td_kv_type kv_type, struct td_error *err);

/* Bytes that a pool of so many pages maps; UINT64_MAX when they cannot be counted. */
uint64_t kv_pool_bytes(const struct td_model *model, enum td_kv_type kv_type, uint32_t page_tokens,
                       uint32_t page_count);

/* **returns new** (kv_pool_free). TD_INVALID for an unknown type. */
TD_MUST_CHECK enum td_status kv_pool_new(const struct td_model *model, enum td_kv_type kv_type,
                                         uint32_t page_tokens, uint32_t page_count,
                                         struct kv_pool **out, struct td_error *err);
void kv_pool_free(struct kv_pool *pool);

/* A page with one reference, or KV_NO_PAGE. */
uint32_t kv_page_take(struct kv_pool *pool);
void kv_page_retain(struct kv_pool *pool, uint32_t page);
void kv_page_release(struct kv_pool *pool, uint32_t page);

/* Keys (or values) of one head of a layer in a page, from its position `at` (0..page_tokens) on. */
static inline uint8_t *kv_page_keys(const struct kv_pool *pool, uint32_t page, uint32_t layer,
                                    uint32_t kv_head, uint32_t at)
{
    size_t head = (size_t)layer * pool->model->kv_head_count + kv_head;
    return pool->block + page * pool->page_bytes + head * 2 * pool->head_bytes +
           at * pool->row_bytes;
}
static inline uint8_t *kv_page_values(const struct kv_pool *pool, uint32_t page, uint32_t layer,
                                      uint32_t kv_head, uint32_t at)
{
    return kv_page_keys(pool, page, layer, kv_head, at) + pool->head_bytes;
}

#endif

/* Pages and their reference counts. All pages are one mapped block and a stack of free page
 * numbers. The system gives a mapped page memory when it is first written, and the stack hands out
 * the most recently freed page first. So a pool that is sized for many contexts costs only what was
 * ever in use at the same time. */
#include "engine/forward/kv_pool.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/heads.h"
#include "engine/model/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define KEPT_ALIGN 64 /* a cache line */

/* Computes the sizes of a pool; false when they overflow. */
static bool measure(struct kv_pool *pool, uint64_t page_count, uint64_t *bytes)
{
    const struct td_model *model = pool->model;
    size_t conv = (size_t)model->conv_count * model->embedding_size, bytes_kv = 0;
    for (int kind = 0; kind < HEAD_KIND_COUNT; kind++) {
        size_t size = model_head_size(model, (enum head_kind)kind), bytes_of_kind;
        pool->key_bytes[kind] = kv_keys_bytes(pool->kv_type, size);
        pool->head_bytes[kind] = pool->key_bytes[kind] + kv_values_bytes(pool->kv_type, size);
        if (__builtin_mul_overflow(pool->head_bytes[kind], (size_t)model->kv_heads[kind],
                                   &bytes_of_kind) ||
            __builtin_add_overflow(bytes_kv, bytes_of_kind, &bytes_kv))
            return false;
    }
    pool->kept_floats =
        heads_kept_width(model) + (pool->kv_type == TD_KV_F32 ? conv : (conv + 1) / 2);
    size_t kept = pool->kept_floats * KV_PAGE_TOKENS * sizeof(float);
    if (bytes_kv > SIZE_MAX / 4)
        return false;
    pool->kept_at = (bytes_kv + KEPT_ALIGN - 1) / KEPT_ALIGN * KEPT_ALIGN;
    pool->page_bytes =
        kept ? pool->kept_at + (kept + KEPT_ALIGN - 1) / KEPT_ALIGN * KEPT_ALIGN : bytes_kv;
    return !__builtin_mul_overflow(pool->page_bytes, page_count, bytes);
}

uint64_t kv_page_bytes(const struct td_model *model, enum td_kv_type kv_type)
{
    struct kv_pool pool = {.model = model, .kv_type = kv_type};
    uint64_t bytes;
    return measure(&pool, 1, &bytes) ? bytes : UINT64_MAX;
}

uint64_t kv_pool_bytes(const struct td_model *model, enum td_kv_type kv_type, uint64_t page_count)
{
    struct kv_pool pool = {.model = model, .kv_type = kv_type};
    uint64_t bytes, states = checkpoints_bytes(model, page_count) + recurrent_state_bytes(model);
    if (!measure(&pool, page_count, &bytes) || __builtin_add_overflow(bytes, states, &bytes))
        return UINT64_MAX;
    return bytes;
}

enum td_status kv_type_check(enum td_kv_type kv_type, struct td_error *err)
{
    if ((unsigned)kv_type <= TD_KV_Q4_0_Q8_0)
        return TD_OK;
    return error_set(err, TD_INVALID, "unknown cache type %d", (int)kv_type);
}

enum td_status kv_pool_new(const struct td_model *model, enum td_kv_type kv_type,
                           uint32_t page_count, struct kv_pool **out, struct td_error *err)
{
    ASSERT(model->layer_count > 0 && page_count > 0);
    *out = NULL;
    enum td_status status = kv_type_check(kv_type, err);
    if (status != TD_OK)
        return status;
    struct kv_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a pool of pages");
    pool->model = model;
    pool->kv_type = kv_type;
    pool->page_count = page_count;
    uint64_t bytes;
    if (measure(pool, page_count, &bytes)) {
        pool->block = memory_map(bytes);
        pool->references = calloc(page_count, sizeof *pool->references);
        pool->free_pages = calloc(page_count, sizeof *pool->free_pages);
    }
    if (pool->block == NULL || pool->references == NULL || pool->free_pages == NULL) {
        kv_pool_free(pool);
        return error_set(err, TD_NO_MEMORY, "no memory for a cache of %u pages of %u tokens",
                         page_count, KV_PAGE_TOKENS);
    }
    status = checkpoints_init(&pool->checkpoints, model, page_count, err);
    if (status != TD_OK) {
        kv_pool_free(pool);
        return status;
    }
    for (uint32_t i = 0; i < page_count; i++) /* page 0 is on top */
        pool->free_pages[i] = page_count - 1 - i;
    pool->free_count = page_count;
    *out = pool;
    return TD_OK;
}

void kv_pool_free(struct kv_pool *pool)
{
    if (pool == NULL)
        return;
    memory_unmap(pool->block, pool->page_bytes * pool->page_count);
    checkpoints_deinit(&pool->checkpoints);
    free(pool->references);
    free(pool->free_pages);
    free(pool);
}

uint32_t kv_page_take(struct kv_pool *pool)
{
    if (pool->free_count == 0 && (pool->reclaim == NULL || !pool->reclaim(pool->keeper)))
        return KV_NO_PAGE;
    uint32_t page = pool->free_pages[--pool->free_count];
    pool->references[page] = 1;
    pool->used_count++;
    return page;
}

void kv_page_retain(struct kv_pool *pool, uint32_t page)
{
    ASSERT(page < pool->page_count && pool->references[page] > 0);
    pool->references[page]++;
}

void kv_page_release(struct kv_pool *pool, uint32_t page)
{
    ASSERT(page < pool->page_count && pool->references[page] > 0);
    if (--pool->references[page] != 0)
        return;
    checkpoint_drop(&pool->checkpoints, page);
    pool->free_pages[pool->free_count++] = page;
    pool->used_count--;
}

void kv_page_copy(struct kv_pool *pool, uint32_t to, uint32_t from)
{
    ASSERT(to < pool->page_count && from < pool->page_count && to != from);
    memcpy(pool->block + to * pool->page_bytes, pool->block + from * pool->page_bytes,
           pool->page_bytes);
}

/* Whole pages of memory go back to the system, which gives zeroes for them. At the edges, which a
 * page shares with its neighbours, zeroes are written. */
void kv_pool_wipe_free(struct kv_pool *pool)
{
    const uintptr_t unit = 4096;
    checkpoints_wipe_free(&pool->checkpoints);
    for (uint32_t i = 0; i < pool->free_count; i++) {
        uint8_t *begin = pool->block + pool->free_pages[i] * pool->page_bytes;
        uint8_t *end = begin + pool->page_bytes;
        uint8_t *first = begin + (unit - (uintptr_t)begin % unit) % unit;
        uint8_t *last = end - (uintptr_t)end % unit;
        if (first >= last || madvise(first, (size_t)(last - first), MADV_DONTNEED) != 0) {
            explicit_bzero(begin, pool->page_bytes);
            continue;
        }
        explicit_bzero(begin, (size_t)(first - begin));
        explicit_bzero(last, (size_t)(end - last));
    }
}

/* A sequence owns its list of pages, and shares the pages themselves. A page that somebody else
 * also holds is never written: before a sequence goes on in the middle of such a page, it takes a
 * copy. So sequences with the same beginning share pages without locks. */
#include "engine/forward/sequence.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/memory.h"

#include <stdlib.h>
#include <string.h>

#define CONTEXT_DEFAULT_MAX 4096

enum td_status sequence_context(const struct td_model *model, uint32_t context_size, uint32_t *out,
                                struct td_error *err)
{
    *out = context_size;
    if (model->vocab_only)
        return error_set(err, TD_INVALID, "%s: opened for its vocabulary only, it cannot run",
                         gguf_path(model->gguf));
    if (model->encoder)
        return model_require_decoder(model, err);
    if (context_size == 0)
        *out =
            model->context_size < CONTEXT_DEFAULT_MAX ? model->context_size : CONTEXT_DEFAULT_MAX;
    if (context_size > model->context_size)
        return error_set(err, TD_INVALID, "a context of %u tokens asked for, %s was trained for %u",
                         context_size, model->name, model->context_size);
    return TD_OK;
}

enum td_status sequence_init(struct sequence *sequence, struct kv_pool *pool, uint32_t context_size,
                             struct td_error *err)
{
    ASSERT(pool != NULL);
    const struct td_model *model = pool->model;
    *sequence = (struct sequence){.model = model, .pool = pool};
    enum td_status status = sequence_context(model, context_size, &sequence->context_size, err);
    if (status != TD_OK)
        return status;
    bool far = sequence->context_size > model->long_rope_from;
    sequence->ropes[0] = &model->ropes[far ? ROPE_LONG : ROPE_GLOBAL];
    sequence->ropes[1] = &model->ropes[ROPE_LOCAL];
    sequence->ids = calloc(sequence->context_size, sizeof *sequence->ids);
    sequence->pages = calloc(kv_pages_of(sequence->context_size), sizeof *sequence->pages);
    uint64_t state_bytes = recurrent_state_bytes(model);
    if (state_bytes)
        sequence->state = memory_map(state_bytes);
    if (sequence->ids == NULL || sequence->pages == NULL ||
        (sequence->state == NULL && state_bytes))
        return error_set(err, TD_NO_MEMORY, "no memory for a context of %u tokens",
                         sequence->context_size);
    return TD_OK;
}

void sequence_deinit(struct sequence *sequence)
{
    if (sequence->pages)
        sequence_truncate(sequence, 0);
    if (sequence->state)
        memory_unmap(sequence->state, recurrent_state_bytes(sequence->model));
    free(sequence->ids);
    free(sequence->pages);
    sequence->state = NULL;
    sequence->ids = NULL;
    sequence->pages = NULL;
}

/* Gives back the pages that no cached position needs. */
static void release_spare(struct sequence *sequence)
{
    uint32_t needed = kv_pages_of(sequence->length);
    while (sequence->page_count > needed)
        kv_page_release(sequence->pool, sequence->pages[--sequence->page_count]);
}

/* If others also hold the half-full last page, the sequence gets a copy that it may write. */
static bool own_last_page(struct sequence *sequence)
{
    struct kv_pool *pool = sequence->pool;
    if (sequence->length % KV_PAGE_TOKENS == 0)
        return true;
    uint32_t *last = &sequence->pages[sequence->page_count - 1];
    if (pool->references[*last] == 1) {
        checkpoint_drop(&pool->checkpoints, *last); /* of what stood there before */
        return true;
    }
    uint32_t copy = kv_page_take(pool);
    if (copy == KV_NO_PAGE && pool->forget) { /* perhaps only the keeper holds it as well */
        pool->forget(pool->keeper, *last);
        if (pool->references[*last] != 1)
            return false;
        checkpoint_drop(&pool->checkpoints, *last);
        return true;
    }
    if (copy == KV_NO_PAGE)
        return false;
    kv_page_copy(pool, copy, *last);
    kv_page_release(pool, *last);
    *last = copy;
    return true;
}

static enum td_status no_page(const struct sequence *sequence, struct td_error *err)
{
    return error_set(err, TD_BUSY, "all %u pages of the cache are in use",
                     sequence->pool->page_count);
}

enum td_status sequence_reserve(struct sequence *sequence, size_t count, struct td_error *err)
{
    ASSERT(sequence->length <= sequence->context_size);
    if (count > sequence->context_size - sequence->length)
        return error_set(err, TD_LIMIT, "%zu tokens after %u do not fit the context of %u", count,
                         sequence->length, sequence->context_size);
    uint32_t needed = kv_pages_of(sequence->length + (uint32_t)count);
    if (count != 0 && !own_last_page(sequence))
        return no_page(sequence, err);
    while (sequence->page_count < needed) {
        uint32_t page = kv_page_take(sequence->pool);
        if (page == KV_NO_PAGE) {
            release_spare(sequence);
            return no_page(sequence, err);
        }
        sequence->pages[sequence->page_count++] = page;
    }
    return TD_OK;
}

void sequence_reset_state(struct sequence *sequence)
{
    if (sequence->state && sequence->state_at != 0)
        recurrent_state_wipe(sequence->state, sequence->pool->checkpoints.state_bytes);
    sequence->state_at = 0;
}

void sequence_truncate(struct sequence *sequence, uint32_t count)
{
    if (count < sequence->length)
        sequence->length = count;
    if (sequence->length == 0) {
        sequence_reset_state(sequence);
        sequence->parted_at = 0;
    }
    if (sequence->passing_page > sequence->length / KV_PAGE_TOKENS)
        sequence->passing_page = 0;
    if (sequence->published > sequence->length / KV_PAGE_TOKENS)
        sequence->published = sequence->length / KV_PAGE_TOKENS;
    release_spare(sequence);
}

static bool holds_adapters(const struct sequence *sequence, const struct adapter_set *adapters)
{
    return memcmp(&sequence->adapters_held, adapter_set_id_of(adapters),
                  sizeof sequence->adapters_held) == 0;
}

void sequence_set_adapters(struct sequence *sequence, const struct adapter_set *adapters)
{
    if (!holds_adapters(sequence, adapters))
        sequence_truncate(sequence, 0);
    sequence->adapters = adapters;
    sequence->adapters_held = *adapter_set_id_of(adapters);
}

void sequence_leave_adapters(struct sequence *sequence)
{
    sequence->adapters = NULL;
}

uint32_t sequence_common_prefix(const struct sequence *sequence, const struct adapter_set *adapters,
                                const int32_t *ids, size_t count)
{
    ASSERT(ids != NULL || count == 0);
    uint32_t same = 0;
    if (!holds_adapters(sequence, adapters))
        return 0;
    while (same < sequence->length && same < count && sequence->ids[same] == ids[same])
        same++;
    return same;
}

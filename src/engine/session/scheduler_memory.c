/* The memory that jobs need: cache, working memory and the draft model's. It is mapped before the
 * first job, and given back when a scheduler that may sleep has nothing to do. The pages of the
 * weights go with it: they come back from the file when they are read again. */
#include "engine/session/scheduler_internal.h"

#include "base/core/error.h"
#include "engine/model/memory.h"

#include <sys/mman.h>

/* Rows of prompts in a pass, beside those of the streams. They are enough to make reading the
 * weights cheap. More would make a new job wait longer. */
#define PROMPT_ROWS_MAX 128

/* Pages of the cache: as many as the options ask for. Otherwise enough for all contexts, or as many
 * as fit into half of the memory that weights and working memory leave, but at least one context.
 * Only used pages cost memory, and a job that finds none waits (scheduler_admit.c). */
static enum td_status count_pages(const struct scheduler *scheduler, uint64_t work_bytes,
                                  uint64_t *out, struct td_error *err)
{
    const struct scheduler_options *options = &scheduler->options;
    const struct td_model *model = scheduler->model;
    uint32_t cache_tokens = options->cache_tokens;
    uint32_t context = scheduler->context_size, least = kv_pages_of(context);
    if (cache_tokens != 0 && cache_tokens < context)
        return error_set(err, TD_INVALID,
                         "a KV cache of %u tokens is smaller than one context of %u", cache_tokens,
                         context);
    *out = cache_tokens ? kv_pages_of(cache_tokens) : (uint64_t)scheduler->slot_count * least;
    if (cache_tokens == 0) {
        uint64_t ram = memory_ram_bytes();
        uint64_t fixed = gguf_file_bytes(model->gguf) + work_bytes +
                         checkpoints_bytes(model, CHECKPOINTS_MAX) + recurrent_state_bytes(model);
        uint64_t page_bytes = kv_page_bytes(model, options->kv_type);
        uint64_t affordable = ram > fixed && page_bytes ? (ram - fixed) / 2 / page_bytes : 0;
        affordable = affordable < least ? least : affordable;
        *out = *out < affordable ? *out : affordable;
    }
    if (*out >= KV_NO_PAGE)
        return error_set(err, TD_INVALID,
                         "%u slots of %u tokens need more pages than a cache can have",
                         scheduler->slot_count, context);
    return TD_OK;
}

static enum td_status open_cache(struct scheduler *scheduler, uint64_t work_bytes,
                                 struct td_error *err)
{
    const struct scheduler_options *options = &scheduler->options;
    uint64_t pages = 0;
    enum td_status status = count_pages(scheduler, work_bytes, &pages, err);
    if (status != TD_OK)
        return status;
    struct memory_need need = {.cache_tokens = pages * KV_PAGE_TOKENS,
                               .cache_bytes =
                                   kv_pool_bytes(scheduler->model, options->kv_type, pages),
                               .work_bytes = work_bytes};
    atomic_store(&scheduler->memory_bytes,
                 gguf_file_bytes(scheduler->model->gguf) + need.cache_bytes + need.work_bytes);
    status = memory_check(scheduler->model, &need, 0, err);
    if (status == TD_OK)
        status = kv_pool_new(scheduler->model, options->kv_type, (uint32_t)pages,
                             &scheduler->kv_pool, err);
    if (status == TD_OK && (scheduler->prefixes = prefix_index_new(scheduler->kv_pool)) == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for an index of %llu pages",
                           (unsigned long long)pages);
    for (uint32_t i = 0; status == TD_OK && i < scheduler->slot_count; i++)
        status = sequence_init(&scheduler->slots[i].sequence, scheduler->kv_pool,
                               scheduler->context_size, err);
    return status;
}

static enum td_status open_draft(struct scheduler *scheduler, struct td_error *err)
{
    const struct scheduler_options *options = &scheduler->options;
    if (options->draft == NULL)
        return TD_OK;
    const struct scheduler_draft_options draft = {.model = options->model,
                                                  .draft = options->draft,
                                                  .slot_count = scheduler->slot_count,
                                                  .context_size = scheduler->context_size,
                                                  .kv_type = options->kv_type,
                                                  .threads = scheduler->threads,
                                                  .stop = &scheduler->stop};
    enum td_status status = scheduler_draft_new(&draft, &scheduler->draft, err);
    if (status != TD_OK)
        error_prefix(err, "draft model");
    return status;
}

enum td_status scheduler_open_memory(struct scheduler *scheduler, struct td_error *err)
{
    const struct scheduler_options *options = &scheduler->options;
    const struct td_model *model = options->model;
    uint32_t rows = PROMPT_ROWS_MAX + options->slot_count;
    /* Streams with speculation want logits of all their rows. */
    const struct workspace_options workspace = {
        .row_max = rows, .logit_row_max = rows, .context_tokens = scheduler->context_size};
    /* What answers touch of it. The rest takes memory when a prompt is scored or an adapter is
     * used, if that ever happens; of a large vocabulary it would be hundreds of megabytes. */
    const struct workspace_options touched = {
        .row_max = rows,
        .logit_row_max = options->speculation == TD_SPECULATION_NONE ? options->slot_count : rows,
        .context_tokens = scheduler->context_size,
        .bare = true};
    uint64_t work_bytes = workspace_bytes(model, &touched, thread_pool_count(scheduler->threads));
    work_bytes += recurrent_state_bytes(model) * (options->slot_count - 1);
    enum td_status status = open_draft(scheduler, err);
    if (status == TD_OK && scheduler->draft) /* counts as working memory beside the cache */
        work_bytes += scheduler_draft_bytes(scheduler->draft);
    if (status == TD_OK)
        status = open_cache(scheduler, work_bytes, err);
    if (status == TD_OK)
        status = workspace_new(model, &workspace, scheduler->threads, &scheduler->workspace, err);
    if (status != TD_OK)
        return status;
    scheduler->workspace->stop = &scheduler->stop;
    memory_hold_weights(model);
    scheduler->holds_weights = true;
    atomic_store(&scheduler->page_count, scheduler->kv_pool->page_count);
    return TD_OK;
}

void scheduler_close_memory(struct scheduler *scheduler)
{
    if (scheduler->holds_weights)
        memory_release_weights(scheduler->model);
    scheduler->holds_weights = false;
    atomic_store(&scheduler->page_count, 0);
    atomic_store(&scheduler->pages_used, 0);
    atomic_store(&scheduler->memory_bytes, 0);
    for (uint32_t i = 0; scheduler->slots && i < scheduler->slot_count; i++)
        sequence_deinit(&scheduler->slots[i].sequence);
    prefix_index_free(scheduler->prefixes);
    kv_pool_free(scheduler->kv_pool);
    scheduler_draft_free(scheduler->draft);
    workspace_free(scheduler->workspace);
    scheduler->prefixes = NULL;
    scheduler->kv_pool = NULL;
    scheduler->draft = NULL;
    scheduler->workspace = NULL;
}

void scheduler_read_weights(struct scheduler *scheduler)
{
    gguf_advise(scheduler->model->gguf, MADV_WILLNEED);
    gguf_advise(scheduler->model->gguf, MADV_POPULATE_READ); /* Linux 5.14; else page by page */
}

void scheduler_drop_weights(struct scheduler *scheduler)
{
    gguf_advise(scheduler->model->gguf, MADV_DONTNEED);
}

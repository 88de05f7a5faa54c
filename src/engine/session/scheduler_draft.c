/* Keeps the smaller model in step with the streams that it guesses for. A stream's text is read in
 * pieces, one before each pass, so that the other streams do not wait for a long prompt. All
 * sessions share one workspace, because only one of them runs at a time. */
#include "engine/session/scheduler_draft.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/memory.h"

#include <stdlib.h>
#include <string.h>

/* Most tokens that are read before a pass of the larger model. */
#define DRAFT_ROWS_MAX 128

struct scheduler_draft {
    const struct td_model *model;
    struct kv_pool *kv_pool;
    struct prefix_index *prefixes;
    struct workspace *workspace;
    uint32_t slot_count;
    uint64_t bytes;
    struct td_session sessions[]; /* [slot_count] */
};

static enum td_status open_parts(struct scheduler_draft *draft,
                                 const struct scheduler_draft_options *options,
                                 struct td_error *err)
{
    const struct td_model *model = options->draft;
    uint32_t most = model->info.context_tokens, context = options->context_size;
    if (most && most < context)
        context = most;
    enum td_status status = sequence_context(model, context, &context, err);
    if (status != TD_OK)
        return status;
    uint32_t streams = draft->slot_count < SPECULATION_DRAFT_STREAMS_MAX
                           ? draft->slot_count
                           : SPECULATION_DRAFT_STREAMS_MAX;
    uint32_t pages = streams * kv_pages_of(context);
    const struct workspace_options workspace = {
        .row_max = DRAFT_ROWS_MAX, .logit_row_max = 1, .context_tokens = context};
    struct memory_need need = {
        .cache_tokens = (uint64_t)streams * context,
        .cache_bytes = kv_pool_bytes(model, options->kv_type, pages),
        .work_bytes = workspace_bytes(model, &workspace, thread_pool_count(options->threads))};
    need.work_bytes += recurrent_state_bytes(model) * (streams - 1);
    status = memory_check(model, &need, 0, err);
    draft->bytes = gguf_file_bytes(model->gguf) + need.cache_bytes + need.work_bytes;
    if (status == TD_OK)
        status = kv_pool_new(model, options->kv_type, pages, &draft->kv_pool, err);
    if (status == TD_OK && (draft->prefixes = prefix_index_new(draft->kv_pool)) == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for an index of %u pages", pages);
    if (status == TD_OK)
        status = workspace_new(model, &workspace, options->threads, &draft->workspace, err);
    if (status == TD_OK)
        draft->workspace->stop = options->stop;
    for (uint32_t i = 0; status == TD_OK && i < draft->slot_count; i++) {
        draft->sessions[i] = (struct td_session){.model = model,
                                                 .kv_pool = draft->kv_pool,
                                                 .workspace = draft->workspace,
                                                 .drafts_for = options->model};
        status = sequence_init(&draft->sessions[i].sequence, draft->kv_pool, context, err);
    }
    return status;
}

enum td_status scheduler_draft_new(const struct scheduler_draft_options *options,
                                   struct scheduler_draft **out, struct td_error *err)
{
    ASSERT(options->model && options->draft && options->threads);
    ASSERT(options->slot_count > 0);
    *out = NULL;
    enum td_status status = speculation_check_vocabulary(options->model, options->draft, err);
    if (status != TD_OK)
        return status;
    struct scheduler_draft *draft =
        calloc(1, sizeof *draft + options->slot_count * sizeof *draft->sessions);
    if (draft == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a draft model's %u slots",
                         options->slot_count);
    draft->model = options->draft;
    draft->slot_count = options->slot_count;
    status = open_parts(draft, options, err);
    if (status != TD_OK) {
        scheduler_draft_free(draft);
        return status;
    }
    *out = draft;
    return TD_OK;
}

void scheduler_draft_free(struct scheduler_draft *draft)
{
    if (draft == NULL)
        return;
    for (uint32_t i = 0; i < draft->slot_count; i++)
        sequence_deinit(&draft->sessions[i].sequence);
    prefix_index_free(draft->prefixes);
    kv_pool_free(draft->kv_pool);
    workspace_free(draft->workspace);
    free(draft);
}

uint64_t scheduler_draft_bytes(const struct scheduler_draft *draft)
{
    return draft->bytes;
}

struct td_session *scheduler_draft_begin(struct scheduler_draft *draft, uint32_t slot,
                                         const atomic_bool *cancel)
{
    draft->sessions[slot].cancel = cancel;
    return &draft->sessions[slot];
}

void scheduler_draft_prepare(struct scheduler_draft *draft, uint32_t slot,
                             struct generation *generation, const struct prefix_scope *scope,
                             uint32_t streams)
{
    struct sequence *sequence = &draft->sessions[slot].sequence;
    const struct sequence *text = generation->sequence;
    generation->speculation.catch_up_max = DRAFT_ROWS_MAX;
    if (sequence->length == 0 && generation->chosen_count > 0 &&
        streams <= SPECULATION_DRAFT_STREAMS_MAX)
        prefix_attach(draft->prefixes, sequence, scope, text->ids, text->length);
}

void scheduler_draft_end(struct scheduler_draft *draft, uint32_t slot,
                         const struct prefix_scope *scope)
{
    struct td_session *session = &draft->sessions[slot];
    if (scope)
        prefix_publish(draft->prefixes, &session->sequence, scope, true);
    sequence_truncate(&session->sequence, 0);
    session->cancel = NULL;
}

void scheduler_draft_forget(struct scheduler_draft *draft, bool all,
                            const struct prefix_scope *scope)
{
    for (uint32_t i = 0; i < draft->slot_count; i++) {
        struct sequence *sequence = &draft->sessions[i].sequence;
        if (sequence->length == 0)
            explicit_bzero(sequence->ids, sequence->context_size * sizeof *sequence->ids);
    }
    if (all)
        prefix_forget(draft->prefixes, scope);
    else
        kv_pool_wipe_free(draft->kv_pool);
}

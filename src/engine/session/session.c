/* The public session: one sequence with its own pages, working memory and threads. Calls of any
 * length are cut into passes that fit the working memory. The scheduler does not use sessions: its
 * sequences share pages and working memory. */
#include "engine/session/session.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/adapter.h"
#include "engine/model/memory.h"
#include "engine/session/speculation.h"

#include <stdlib.h>
#include <string.h>

static enum td_status check_memory(const struct td_model *model, enum td_kv_type kv_type,
                                   uint32_t context_size, uint32_t thread_count,
                                   struct td_error *err)
{
    const struct workspace_options touched = {
        .logit_row_max = 1, .context_tokens = context_size, .bare = true};
    uint32_t pages = kv_pages_of(context_size);
    struct memory_need need = {.cache_tokens = context_size,
                               .cache_bytes = kv_pool_bytes(model, kv_type, pages),
                               .work_bytes = workspace_bytes(model, &touched, thread_count)};
    return memory_check(model, &need, 0, err);
}

static enum td_status open_parts(struct td_session *session,
                                 const struct td_session_options *options, struct td_error *err)
{
    const struct td_model *model = session->model;
    uint32_t context_size;
    enum td_status status = sequence_context(model, options->context_tokens, &context_size, err);
    if (status == TD_OK)
        status = kv_type_check(options->kv_type, err);
    if (status != TD_OK)
        return status;
    session->threads = thread_pool_new(options->thread_count);
    if (session->threads == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %u threads", options->thread_count);
    status = check_memory(model, options->kv_type, context_size,
                          thread_pool_count(session->threads), err);
    if (status == TD_OK)
        status =
            kv_pool_new(model, options->kv_type, kv_pages_of(context_size), &session->kv_pool, err);
    if (status == TD_OK)
        status = sequence_init(&session->sequence, session->kv_pool, context_size, err);
    /* Speculation needs a row of logits for each guess and one for the token after them. */
    const struct workspace_options workspace = {.logit_row_max = 1 + SPECULATION_TOKENS_MAX,
                                                .context_tokens = context_size};
    if (status == TD_OK)
        status = workspace_new(model, &workspace, session->threads, &session->workspace, err);
    return status;
}

enum td_status td_session_new(const struct td_model *model,
                              const struct td_session_options *options, struct td_session **out,
                              struct td_error *err)
{
    ASSERT(model != NULL && out != NULL);
    static const struct td_session_options defaults = {.kv_type = TD_KV_F16};
    *out = NULL;
    struct td_session *session = calloc(1, sizeof *session);
    if (session == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a session");
    session->model = model;
    enum td_status status = open_parts(session, options ? options : &defaults, err);
    if (status != TD_OK) {
        td_session_free(session);
        return status;
    }
    *out = session;
    return TD_OK;
}

void td_session_free(struct td_session *session)
{
    if (session == NULL)
        return;
    sequence_deinit(&session->sequence);
    kv_pool_free(session->kv_pool);
    workspace_free(session->workspace);
    thread_pool_free(session->threads);
    adapter_set_release(session->adapters);
    free(session);
}

uint32_t td_session_length(const struct td_session *session)
{
    return session->sequence.length;
}

void td_session_truncate(struct td_session *session, uint32_t count)
{
    sequence_truncate(&session->sequence, count);
}

enum td_status td_session_set_adapters(struct td_session *session,
                                       const struct td_adapter_use *uses, size_t count,
                                       struct td_error *err)
{
    struct adapter_set *set;
    enum td_status status = adapter_set_new(session->model, uses, count, &set, err);
    if (status != TD_OK)
        return status;
    sequence_set_adapters(&session->sequence, set);
    adapter_set_release(session->adapters);
    session->adapters = set;
    return TD_OK;
}

static enum td_status check_input(const struct td_session *session, const struct segment *whole,
                                  struct td_error *err)
{
    const struct sequence *sequence = &session->sequence;
    uint32_t vocab_count = session->model->vocab_count;
    if (whole->hidden_rows && whole->hidden_layer > session->model->layer_count)
        return error_set(err, TD_INVALID, "layer %u asked for, %s has %u", whole->hidden_layer,
                         session->model->name, session->model->layer_count);
    if (whole->count > sequence->context_size - sequence->length)
        return error_set(err, TD_LIMIT, "%u tokens after %u do not fit the context of %u",
                         whole->count, sequence->length, sequence->context_size);
    for (uint32_t i = 0; i < whole->count; i++)
        if (whole->ids[i] < 0 || (uint32_t)whole->ids[i] >= vocab_count)
            return error_set(err, TD_INVALID, "token %u is %d, outside the vocabulary of %u", i,
                             whole->ids[i], vocab_count);
    return TD_OK;
}

/* How many of the last `wanted` of `count` tokens are among the first `end`; at most `tokens`. */
static uint32_t rows_in(uint32_t count, uint32_t wanted, uint32_t end, uint32_t tokens)
{
    uint32_t first = count - wanted, rows = end > first ? end - first : 0;
    return rows < tokens ? rows : tokens;
}

enum td_status session_run(struct td_session *session, const struct segment *whole, float *logits,
                           struct td_error *err)
{
    const struct td_model *model = session->model;
    enum td_status status = check_input(session, whole, err);
    uint32_t length_before = session->sequence.length, row_max = session->workspace->row_max;
    struct segment part = *whole;
    part.sequence = &session->sequence;
    part.cancel = session->cancel;
    for (uint32_t done = 0; status == TD_OK && done < whole->count; done += part.count) {
        part.ids = whole->ids + done;
        part.count = whole->count - done < row_max ? whole->count - done : row_max;
        uint32_t end = done + part.count;
        part.logit_rows = rows_in(whole->count, whole->logit_rows, end, part.count);
        part.hidden_rows = rows_in(whole->count, whole->hidden_rows, end, part.count);
        part.normed_rows = rows_in(whole->count, whole->normed_rows, end, part.count);
        part.probe_out = end == whole->count ? whole->probe_out : NULL;
        status = forward_run(session->workspace, &part, 1, logits, err);
        if (logits)
            logits += (size_t)part.logit_rows * model->vocab_count;
        if (part.hidden_out)
            part.hidden_out += (size_t)part.hidden_rows * model->embedding_size;
        if (part.normed_out)
            part.normed_out += (size_t)part.normed_rows * model->embedding_size;
    }
    if (status != TD_OK)
        sequence_truncate(&session->sequence, length_before);
    return status;
}

/* Checks the caller's counts before they become those of a segment. */
static enum td_status check_counts(size_t count, size_t rows, const void *out, struct td_error *err)
{
    if (rows > count || (rows > 0 && out == NULL))
        return error_set(err, TD_INVALID, "%zu rows asked of %zu tokens", rows, count);
    if (count > UINT32_MAX)
        return error_set(err, TD_LIMIT, "%zu tokens fit no context", count);
    return TD_OK;
}

enum td_status td_session_forward(struct td_session *session, const int32_t *ids, size_t count,
                                  float *logits, size_t logit_rows, struct td_error *err)
{
    ASSERT(session != NULL && (ids != NULL || count == 0));
    struct segment whole = {
        .ids = ids, .count = (uint32_t)count, .logit_rows = (uint32_t)logit_rows};
    enum td_status status = check_counts(count, logit_rows, logits, err);
    return status == TD_OK ? session_run(session, &whole, logits, err) : status;
}

enum td_status td_session_forward_hidden(struct td_session *session, const int32_t *ids,
                                         size_t count, uint32_t layer, float *hidden,
                                         size_t hidden_rows, struct td_error *err)
{
    struct segment whole = {.ids = ids,
                            .count = (uint32_t)count,
                            .hidden_layer = layer,
                            .hidden_rows = (uint32_t)hidden_rows,
                            .hidden_out = hidden};
    enum td_status status = check_counts(count, hidden_rows, hidden, err);
    return status == TD_OK ? session_run(session, &whole, NULL, err) : status;
}

enum td_status td_session_forward_probe(struct td_session *session, const int32_t *ids,
                                        size_t count, float *probability, struct td_error *err)
{
    struct segment whole = {.ids = ids, .count = (uint32_t)count, .probe_out = probability};
    if (!session->model->info.has_probe)
        return error_set(err, TD_INVALID, "%s has no probe", session->model->name);
    enum td_status status = check_counts(count, 1, probability, err);
    return status == TD_OK ? session_run(session, &whole, NULL, err) : status;
}

/* The later positions are computed again. Rotating their keys by the distance would not be enough:
 * from the second layer on, keys and values depend on the text before them, so they would still be
 * those of the longer text. */
enum td_status td_session_shift(struct td_session *session, uint32_t keep, uint32_t drop,
                                struct td_error *err)
{
    struct sequence *sequence = &session->sequence;
    if (keep > sequence->length || drop > sequence->length - keep)
        return error_set(err, TD_INVALID, "%u positions after %u of a session that holds %u", drop,
                         keep, sequence->length);
    uint32_t rest = sequence->length - keep - drop;
    int32_t *ids = malloc((rest + (size_t)1) * sizeof *ids);
    if (ids == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %u tokens", rest);
    memcpy(ids, sequence->ids + keep + drop, rest * sizeof *ids);
    uint32_t row_max = session->workspace->row_max;
    enum td_status status = TD_OK;
    td_session_truncate(session, keep);
    for (uint32_t at = 0, count; status == TD_OK && at < rest; at += count) {
        count = rest - at < row_max ? rest - at : row_max;
        status = td_session_forward(session, ids + at, count, NULL, 0, err);
    }
    free(ids);
    return status;
}

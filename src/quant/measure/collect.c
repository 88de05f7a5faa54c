#include "quant/measure/collect.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/session/session.h"
#include "quant/encode/mix.h"

#include <math.h>
#include <stdlib.h>

#define CONTEXT_DEFAULT 512
/* Rows of logits at a time: the output matrix sees only the rows whose logits are asked for. */
#define ROWS 64

#define NONE SIZE_MAX

struct collector {
    const struct td_model *model;
    struct imatrix *imatrix;
    size_t *entries; /* [matrix_count]: by weight.number, the entry's number; NONE = not seen yet */
    bool failed;     /* no memory */
};

static struct imatrix_entry *entry_of(struct collector *collector, const struct weight *weight)
{
    if (weight->number == WEIGHT_UNNUMBERED)
        return NULL;
    size_t *number = &collector->entries[weight->number];
    const struct matrix *matrix = &collector->model->matrices[weight->number];
    const struct gguf_tensor *tensor = matrix->tensor;
    /* A fused tensor is several weights with the same inputs: the first of them counts. */
    if (*number != NONE) /* entries move while others are added */
        return imatrix_entry_at(collector->imatrix, *number);
    if (matrix->row_begin != 0 || mix_keeps(tensor->name, tensor->dims))
        return NULL;
    struct imatrix_entry *entry =
        imatrix_add(collector->imatrix, tensor->name, weight->cols, (uint32_t)tensor->dims[2]);
    collector->failed |= entry == NULL;
    *number = entry ? (size_t)(entry - imatrix_entry_at(collector->imatrix, 0)) : NONE;
    return entry;
}

static void on_input(void *ctx, const struct weight *weight, uint32_t expert, const float *x)
{
    struct imatrix_entry *entry = entry_of(ctx, weight);
    if (entry == NULL)
        return;
    double *sums = entry->sums + (size_t)expert * entry->cols;
    for (uint32_t i = 0; i < entry->cols; i++)
        sums[i] += (double)(x[i] * x[i]);
    entry->counts[expert]++;
}

static double row_nll(const struct td_model *model, const float *logits, int32_t id)
{
    struct logit_stats stats;
    model->kernels->logit_stats(logits, model->vocab_count, &stats);
    return log(stats.sum_exp) - (double)(logits[id] - stats.max);
}

/* One chunk, with an empty cache. */
static enum td_status run_chunk(struct td_session *session, const int32_t *ids, size_t count,
                                float *logits, double *nll, struct td_error *err)
{
    const struct td_model *model = session->model;
    enum td_status status = TD_OK;
    td_session_truncate(session, 0);
    for (size_t at = 0; status == TD_OK && at < count; at += ROWS) {
        size_t rows = count - at < ROWS ? count - at : ROWS;
        status = td_session_forward(session, ids + at, rows, logits, rows, err);
        for (size_t r = 0; status == TD_OK && r < rows && at + r + 1 < count; r++)
            *nll += row_nll(model, logits + r * model->vocab_count, ids[at + r + 1]);
    }
    return status;
}

static enum td_status run_texts(struct collector *collector, struct td_session *session,
                                const struct texts *texts, const struct collect_options *options,
                                float *logits, struct collect_result *result, struct td_error *err)
{
    double nll = 0;
    uint64_t predicted = 0;
    size_t context = result->chunk_size;
    for (size_t t = 0; t < texts->count; t++)
        for (size_t at = 0; at < texts->counts[t]; at += context) {
            if (options->chunks_max && result->chunk_count == options->chunks_max)
                break;
            if (options->cancel && atomic_load(options->cancel))
                return error_set(err, TD_CANCELLED, "cancelled");
            size_t count = texts->counts[t] - at < context ? texts->counts[t] - at : context;
            enum td_status status =
                run_chunk(session, texts->ids[t] + at, count, logits, &nll, err);
            if (status == TD_OK && collector->failed)
                status = error_set(err, TD_NO_MEMORY, "no memory for the importance");
            if (status != TD_OK)
                return status;
            result->chunk_count++;
            result->token_count += count;
            predicted += count - 1;
            if (options->progress)
                options->progress(options->progress_ctx, result->token_count, texts->token_count);
        }
    result->perplexity = predicted ? exp(nll / (double)predicted) : 0;
    return isfinite(nll) ? TD_OK
                         : error_set(err, TD_CORRUPT,
                                     "the model's output is not a number: its "
                                     "weights are damaged");
}

enum td_status collect_importance(const struct td_model *model, const struct texts *texts,
                                  const struct collect_options *options, struct imatrix **out,
                                  struct collect_result *result, struct td_error *err)
{
    *result = (struct collect_result){.chunk_size = options->context_tokens};
    result->chunk_size = result->chunk_size ? result->chunk_size : CONTEXT_DEFAULT;
    if (result->chunk_size > model->context_size)
        result->chunk_size = model->context_size;
    enum td_status status = model_require_decoder(model, err);
    if (status == TD_OK && texts->token_count == 0)
        status = error_set(err, TD_INVALID, "the texts are empty: there is nothing to read");
    if (status != TD_OK)
        return status;
    struct collector collector = {.model = model, .imatrix = imatrix_new()};
    collector.entries = malloc((model->matrix_count + (size_t)1) * sizeof *collector.entries);
    for (uint32_t i = 0; collector.entries && i <= model->matrix_count; i++)
        collector.entries[i] = NONE;
    float *logits = malloc((size_t)ROWS * model->vocab_count * sizeof *logits);
    struct td_session *session = NULL;
    if (collector.imatrix == NULL || collector.entries == NULL || logits == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for %d rows of logits", ROWS);
    const struct td_session_options session_options = {.context_tokens = result->chunk_size,
                                                       .thread_count = options->thread_count,
                                                       .kv_type = TD_KV_F16};
    if (status == TD_OK)
        status = td_session_new(model, &session_options, &session, err);
    const struct workspace_observer observer = {on_input, &collector};
    if (status == TD_OK) {
        session->workspace->observer = &observer;
        status = run_texts(&collector, session, texts, options, logits, result, err);
    }
    if (status == TD_OK)
        status = imatrix_settle(collector.imatrix, err);
    td_session_free(session);
    free(logits);
    free(collector.entries);
    if (status == TD_OK)
        *out = collector.imatrix;
    else
        imatrix_free(collector.imatrix);
    return status;
}

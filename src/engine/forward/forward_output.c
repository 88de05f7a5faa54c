/* The outputs of the forward pass: the residual stream if it is asked for, the logits, early exits
 * and the probe. At an early exit (Schuster et al. 2022, Confident Adaptive Language Modeling) a
 * token leaves when the softmax of a head in the middle of the model is sure.
 *
 * Each row decides alone and gets the same result whatever else is in the batch. The layers above
 * are skipped only if all rows have left, which one stream alone always does. */
#include "engine/forward/forward_step.h"
#include "engine/model/heads.h"

#include <string.h>

/* --- logits --- */

/* Computes the logits of the first `count` of workspace->output_rows, one after another. */
static void run_output(struct batch *batch, uint32_t count, const float *norm,
                       const struct weight *weight, float *logits)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    if (count == 0)
        return;
    forward_prepare(batch, workspace->hidden, model->embedding_size, count, workspace->output_rows,
                    norm, form_bit(weight));
    struct step output = {.batch = batch,
                          .products = {{weight, logits, model->vocab_count}},
                          .product_count = 1,
                          .input_count = count,
                          .owners = workspace->output_rows,
                          .logits = true};
    step_run_products(&output);
}

/* Whether the token of a segment may leave early and has not left yet. */
static bool may_leave(const struct batch *batch, const struct segment *segment, uint32_t row)
{
    return segment->exit_threshold > 0 && segment->count == 1 && segment->logit_rows == 1 &&
           !batch->workspace->rows[row].left;
}

static bool has_not_left(const struct batch *batch, const struct segment *segment, uint32_t row)
{
    (void)segment;
    return !batch->workspace->rows[row].left;
}

typedef bool row_wanted_fn(const struct batch *batch, const struct segment *segment, uint32_t row);

/* Computes the logits of rows that want logits and for which wanted() is true. Each row's place is
 * by the order of the segments. */
static void run_outputs(struct batch *batch, row_wanted_fn *wanted, const float *norm,
                        const struct weight *weight, float *logits)
{
    size_t vocab = batch->workspace->model->vocab_count;
    uint32_t count = 0, end = 0;
    for (uint32_t i = 0; i < batch->segment_count; i++) {
        const struct segment *segment = &batch->segments[i];
        end += segment->count;
        for (uint32_t row = end - segment->logit_rows; row < end; row++) {
            if (wanted(batch, segment, row)) {
                batch->workspace->output_rows[count++] = row;
                continue;
            }
            run_output(batch, count, norm, weight, logits);
            logits += (count + 1) * vocab;
            count = 0;
        }
    }
    run_output(batch, count, norm, weight, logits);
}

/* --- early exits --- */

static void leave(struct batch *batch, const struct segment *segment, uint32_t row,
                  uint32_t layer_count)
{
    batch->workspace->rows[row].left = true;
    batch->left_count++;
    if (segment->layers_run)
        *segment->layers_run = layer_count;
}

static void try_exit(struct batch *batch, const struct exit_head *head, float *logits)
{
    const struct td_model *model = batch->workspace->model;
    bool some = false;
    uint32_t row = 0;
    for (uint32_t i = 0; i < batch->segment_count; row += batch->segments[i++].count)
        some |= may_leave(batch, &batch->segments[i], row);
    if (!some)
        return;
    run_outputs(batch, may_leave, head->norm, &head->output, logits);
    row = 0;
    for (uint32_t i = 0; i < batch->segment_count; i++) {
        const struct segment *segment = &batch->segments[i];
        struct logit_stats stats;
        if (may_leave(batch, segment, row)) {
            model->kernels->logit_stats(logits, model->vocab_count, &stats);
            if (1 / stats.sum_exp >=
                (double)segment->exit_threshold) /* the probability of the best token */
                leave(batch, segment, row, head->layer);
        }
        row += segment->count;
        logits += (size_t)segment->logit_rows * model->vocab_count;
    }
}

/* --- probe --- */

/* Stores the numbers that the probe's mean needs of one row in its page. */
static void keep_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct kernels *kernels = workspace->model->kernels;
    const struct weight *weight = &workspace->model->heads->probe.mean_weight;
    const struct workspace_row *row = &workspace->rows[index];
    const struct sequence *sequence = step->batch->segments[row->segment].sequence;
    float *kept = kv_page_kept(sequence->pool, sequence->pages[row->position / KV_PAGE_TOKENS],
                               row->position);
    size_t stride = kernels->activation_bytes(ACTIVATION_F32, weight->cols);
    kernels->matmul(weight->type, weight->data, weight->row_bytes, weight->cols, 0, weight->rows,
                    workspace->activations[ACTIVATION_F32] + index * stride, stride, 1, kept,
                    weight->rows);
}

/* Sums in the order of the positions, so that the result does not depend on what was cached. */
static void mean_of(const struct sequence *sequence, uint32_t count, uint32_t width, double *mean)
{
    memset(mean, 0, width * sizeof *mean);
    for (uint32_t position = 0; position < count; position++) {
        const float *kept =
            kv_page_kept(sequence->pool, sequence->pages[position / KV_PAGE_TOKENS], position);
        for (uint32_t i = 0; i < width; i++)
            mean[i] += (double)kept[i];
    }
    for (uint32_t i = 0; i < width; i++)
        mean[i] /= count;
}

static void run_probe(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct probe *probe = &model->heads->probe;
    uint32_t width = heads_kept_width(model), end = 0;
    if (probe->mean && !batch->again) {
        forward_prepare(batch, workspace->hidden, model->embedding_size, batch->row_count, NULL,
                        NULL, 1u << ACTIVATION_F32);
        struct step keep = {.batch = batch, .item = keep_item, .item_count = batch->row_count};
        step_run(&keep, (size_t)batch->row_count * width * model->embedding_size * sizeof(float));
    }
    for (uint32_t i = 0; i < batch->segment_count; i++) {
        const struct segment *segment = &batch->segments[i];
        double mean[PROBE_WIDTH_MAX];
        end += segment->count;
        if (segment->probe_out == NULL)
            continue;
        if (probe->mean)
            mean_of(segment->sequence, segment->sequence->length + segment->count, width, mean);
        *segment->probe_out = probe_evaluate(
            probe, workspace->hidden + (size_t)(end - 1) * model->embedding_size, mean);
    }
}

/* --- states --- */

/* Gives the residual stream to the segments that want it after `layer_count` layers. */
static void give_hidden(const struct batch *batch, uint32_t layer_count)
{
    size_t wide = batch->workspace->model->embedding_size, end = 0;
    for (uint32_t i = 0; i < batch->segment_count; i++) {
        const struct segment *segment = &batch->segments[i];
        end += segment->count;
        if (segment->hidden_rows && segment->hidden_layer == layer_count)
            memcpy(segment->hidden_out,
                   batch->workspace->hidden + (end - segment->hidden_rows) * wide,
                   segment->hidden_rows * wide * sizeof(float));
    }
}

static void give_normed(const struct batch *batch)
{
    const struct td_model *model = batch->workspace->model;
    size_t wide = model->embedding_size, end = 0;
    for (uint32_t i = 0; i < batch->segment_count; i++) {
        const struct segment *segment = &batch->segments[i];
        end += segment->count;
        const float *hidden = batch->workspace->hidden + (end - segment->normed_rows) * wide;
        for (size_t row = 0; row < segment->normed_rows; row++)
            forward_norm(model, hidden + row * wide, model->output_norm, wide,
                         segment->normed_out + row * wide);
    }
}

/* --- the calls --- */

void forward_after_layers(struct batch *batch, uint32_t layer_count, float *logits)
{
    const struct td_model *model = batch->workspace->model;
    give_hidden(batch, layer_count);
    if (model->heads == NULL)
        return;
    if (model->heads->probe.stage_count && model->heads->probe.layer == layer_count)
        run_probe(batch);
    const struct exit_head *head = heads_exit_at(model, layer_count);
    if (head)
        try_exit(batch, head, logits);
}

void forward_output(struct batch *batch, float *logits)
{
    const struct td_model *model = batch->workspace->model;
    uint32_t row = 0;
    for (uint32_t i = 0; i < batch->segment_count; row += batch->segments[i++].count)
        if (batch->segments[i].layers_run && !batch->workspace->rows[row].left)
            *batch->segments[i].layers_run = model->layer_count;
    give_normed(batch);
    run_outputs(batch, has_not_left, model->output_norm, &model->output, logits);
}

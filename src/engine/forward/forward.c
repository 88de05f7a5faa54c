/* The forward pass of a decoder-only transformer (Touvron et al. 2023 and related models) over a
 * batch of rows. A row knows its sequence and its position. Everything between embedding and output
 * treats all rows the same, except attention, which reads the pages of the row's sequence. What
 * differs between architectures is data of the model and its layers. Mixtures of experts are in
 * forward_experts.c, short convolutions in short_conv.c, Mamba-2 layers in ssm.c, inputs of layers
 * in layer_inputs.c. A pass allocates nothing. */
#include "engine/forward/attention.h"
#include "engine/forward/layer_inputs.h"
#include "engine/forward/recurrent.h"
#include "engine/forward/short_conv.h"
#include "engine/forward/ssm.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <string.h>

static const struct sequence *row_sequence(const struct batch *batch, uint32_t row)
{
    return batch->segments[batch->workspace->rows[row].segment].sequence;
}

/* --- embedding, rope --- */

static void embed_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    const struct weight *table = &model->embedding;
    const struct workspace_row *row = &workspace->rows[index];
    float *hidden = workspace->hidden + (size_t)index * model->embedding_size;
    model->kernels->dequantize(table->type,
                               (const uint8_t *)table->data + (size_t)row->id * table->row_bytes,
                               table->cols, hidden);
    const struct sequence *sequence = row_sequence(step->batch, index);
    if (sequence->adapters)
        forward_embed_adapters(model, sequence->adapters, row->id, hidden);
    if (model->embedding_scale != 1.0f)
        model->kernels->scale(hidden, model->embedding_scale, model->embedding_size);
    const struct rope *const *ropes = sequence->ropes;
    for (int i = 0; i < (model->window ? 2 : 1); i++)
        rope_angles(ropes[i], row->position,
                    workspace->cos_sin[i] + (size_t)index * ropes[i]->pair_count * 2);
}

/* Norms and rotates `count` adjacent heads. norm NULL = no norm, cos_sin NULL = no rotation. */
static void rotate_heads(const struct td_model *model, const struct layer *layer, float *heads,
                         uint32_t count, const float *norm, const float *cos_sin)
{
    size_t size = layer->head_size;
    for (uint32_t h = 0; h < count; h++) {
        float *head = heads + h * size;
        if (norm)
            model->kernels->rms_norm(head, norm, size, model->norm_epsilon, head);
        if (cos_sin)
            model->kernels->rope(head, cos_sin, (size_t)model->ropes[layer->rope].pair_count * 2,
                                 model->architecture->rope_interleaved);
    }
}

/* The queries or keys of a row. Where the norm stands is a matter of the architecture. */
static void place_heads(const struct td_model *model, const struct layer *layer, float *heads,
                        uint32_t count, const float *norm, const float *cos_sin)
{
    const struct architecture *traits = model->architecture;
    if (norm && traits->qk_norm_whole)
        model->kernels->rms_norm(heads, norm, (size_t)count * layer->head_size, model->norm_epsilon,
                                 heads);
    bool each = norm && !traits->qk_norm_whole;
    rotate_heads(model, layer, heads, count, each && !traits->qk_norm_late ? norm : NULL, cos_sin);
    if (each && traits->qk_norm_late)
        rotate_heads(model, layer, heads, count, norm, NULL);
}

/* Applies biases, norms and rope to one row. */
static void place_row(const struct batch *batch, uint32_t index)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    size_t q_size = layer->q.rows, kv_size = layer->k.rows;
    float *q = workspace->query + index * q_size, *k = workspace->key + index * kv_size;
    float *v = workspace->value + index * kv_size;
    const float *cos_sin = NULL;
    if (layer->rope != ROPE_NONE)
        cos_sin = workspace->cos_sin[layer->rope == ROPE_LOCAL] +
                  (size_t)index * model->ropes[layer->rope].pair_count * 2;
    if (layer->q_bias && !forward_all_left(batch))
        model->kernels->add(q, layer->q_bias, q_size);
    if (layer->k_bias)
        model->kernels->add(k, layer->k_bias, kv_size);
    if (layer->v_bias)
        model->kernels->add(v, layer->v_bias, kv_size);
    if (!forward_all_left(batch))
        place_heads(model, layer, q, layer->head_count, layer->q_norm, cos_sin);
    if (kv_size == 0)
        return;
    place_heads(model, layer, k, layer->kv_head_count, layer->k_norm, cos_sin);
    if (layer->v_norm)
        rotate_heads(model, layer, v, layer->kv_head_count, layer->v_norm, NULL);
}

/* Gives a run of rows their positions, and stores their keys and values in the cache. */
static void position_item(struct step *step, uint32_t index)
{
    const struct batch *batch = step->batch;
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct workspace_span *run = &workspace->attention.runs[index];
    const struct sequence *sequence = batch->segments[run->segment].sequence;
    const struct kv_pool *pool = sequence->pool;
    const struct layer *layer = batch->layer;
    uint32_t kv_heads = layer->k.rows != 0 ? layer->kv_head_count : 0;
    uint32_t position = workspace->rows[run->row].position, at = position % KV_PAGE_TOKENS;
    uint32_t page = sequence->pages[position / KV_PAGE_TOKENS];
    for (uint32_t i = 0; i < run->count; i++)
        place_row(batch, run->row + i);
    for (uint32_t h = 0; h < kv_heads && !batch->again; h++)
        for (uint32_t i = 0; i < run->count; i++) {
            size_t head = ((size_t)(run->row + i) * kv_heads + h) * layer->head_size;
            model->kernels->kv_store(workspace->key + head, workspace->value + head,
                                     layer->head_size, pool->kv_type, at + i,
                                     kv_page_keys(pool, page, batch->layer_index, h),
                                     kv_page_values(pool, page, batch->layer_index, h));
        }
}

/* --- the layers --- */

/* Adds the output of a block for one row, in workspace->normed, to the residual stream. */
static void residual_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    size_t at = (size_t)index * model->embedding_size;
    if (workspace->rows[index].left)
        return;
    if (step->norm_weight)
        forward_norm(model, workspace->normed + at, step->norm_weight, model->embedding_size,
                     workspace->normed + at);
    forward_add(model, workspace->hidden + at, workspace->normed + at, model->embedding_size);
}

static void add_residual(struct batch *batch, const float *norm_weight)
{
    struct step step = {.batch = batch,
                        .item = residual_item,
                        .item_count = batch->row_count,
                        .norm_weight = norm_weight};
    step_run(&step, (size_t)batch->row_count * batch->workspace->model->embedding_size * 4);
}

void forward_project(struct batch *batch, const struct weight *weight, const float *norm_weight)
{
    struct step step = {
        .batch = batch,
        .products = {{weight, batch->workspace->normed, batch->workspace->model->embedding_size}},
        .product_count = 1,
        .input_count = batch->row_count,
        .add_to_hidden = norm_weight == NULL};
    step_run_products(&step);
    if (norm_weight)
        add_residual(batch, norm_weight);
}

/* Gives the rows their positions and stores what later positions need of them. */
static void place(struct batch *batch)
{
    const struct layer *layer = batch->layer;
    struct step step = {.batch = batch,
                        .item = layer->conv ? short_conv_store_item : position_item,
                        .item_count = batch->workspace->attention.run_count};
    step_run(&step, ((size_t)layer->q.rows + 2 * layer->k.rows) * sizeof(float) * batch->row_count);
}

/* A Mamba-2 layer up to its last matrix. */
static void ssm_block(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct layer *layer = batch->layer;
    forward_prepare(batch, workspace->hidden, workspace->model->embedding_size, batch->row_count,
                    NULL, layer->attention_norm,
                    form_bit(&layer->q) | form_bit(&layer->k) | form_bit(&layer->v));
    struct step products = {.batch = batch,
                            .products = {{&layer->q, workspace->query, layer->q.rows},
                                         {&layer->k, workspace->key, layer->k.rows},
                                         {&layer->v, workspace->value, layer->v.rows}},
                            .product_count = 3,
                            .input_count = batch->row_count};
    step_run_products(&products);
    ssm_run(batch);
}

/* Makes keys and values only, for rows that have left early. Later tokens of the text need their
 * keys in every layer, so these are made of the state with which the rows left (Schuster et al.
 * 2022, Confident Adaptive Language Modeling, section 3.3). */
static void keys_block(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    size_t kv_size = layer->k.rows;
    if (kv_size == 0)
        return;
    if (layer->ssm_decay) {
        ssm_block(batch);
        return;
    }
    forward_prepare(batch, workspace->hidden, model->embedding_size, batch->row_count, NULL,
                    layer->attention_norm, form_bit(&layer->k) | form_bit(&layer->v));
    struct step kv = {
        .batch = batch,
        .products = {{&layer->k, workspace->key, kv_size}, {&layer->v, workspace->value, kv_size}},
        .product_count = 2,
        .input_count = batch->row_count};
    step_run_products(&kv);
    place(batch);
}

/* The bias of the attention's output, for one row. */
static void bias_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    if (!workspace->rows[index].left)
        forward_add(model, workspace->hidden + (size_t)index * model->embedding_size,
                    step->batch->layer->o_bias, model->embedding_size);
}

static void attention_block(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    size_t q_size = layer->q.rows, kv_size = layer->k.rows;
    uint32_t rows = batch->row_count;
    if (layer->o.rows == 0)
        return;
    if (layer->ssm_decay) {
        ssm_block(batch);
        forward_prepare(batch, workspace->attended, layer->o.cols, rows, NULL, NULL,
                        form_bit(&layer->o));
        forward_project(batch, &layer->o, NULL);
        return;
    }
    if (q_size == 0) { /* a matrix in place of the attention */
        forward_prepare(batch, workspace->hidden, model->embedding_size, rows, NULL,
                        layer->attention_norm, form_bit(&layer->o));
        forward_project(batch, &layer->o, NULL);
        return;
    }
    bool own_keys = kv_size != 0;
    forward_prepare(
        batch, workspace->hidden, model->embedding_size, rows, NULL, layer->attention_norm,
        form_bit(&layer->q) | (own_keys ? form_bit(&layer->k) | form_bit(&layer->v) : 0));
    struct step qkv = {.batch = batch,
                       .products = {{&layer->q, workspace->query, q_size},
                                    {&layer->k, workspace->key, kv_size},
                                    {&layer->v, workspace->value, kv_size}},
                       .product_count = own_keys ? 3 : 1,
                       .input_count = rows};
    step_run_products(&qkv);
    place(batch);
    if (layer->conv)
        short_conv_run(batch);
    else
        attention_run(batch);
    forward_prepare(batch, workspace->attended, q_size, rows, NULL, NULL, form_bit(&layer->o));
    forward_project(batch, &layer->o, layer->attention_output_norm);
    if (layer->o_bias) {
        struct step bias = {.batch = batch, .item = bias_item, .item_count = rows};
        step_run(&bias, (size_t)rows * model->embedding_size * sizeof(float));
    }
}

static void square_item(struct step *step, uint32_t index)
{
    float *x = step->batch->workspace->gate + (size_t)index * step->batch->layer->ffn_size;
    for (uint32_t i = 0; i < step->batch->layer->ffn_size; i++)
        x[i] = x[i] > 0 ? x[i] * x[i] : 0;
}

/* Prepares relu(up(x))^2 for the last matrix. */
static void squared_up(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct layer *layer = batch->layer;
    uint32_t rows = batch->row_count;
    forward_prepare(batch, workspace->hidden, workspace->model->embedding_size, rows, NULL,
                    layer->ffn_norm, form_bit(&layer->up));
    struct step up = {.batch = batch,
                      .products = {{&layer->up, workspace->gate, layer->ffn_size}},
                      .product_count = 1,
                      .input_count = rows};
    step_run_products(&up);
    struct step square = {.batch = batch, .item = square_item, .item_count = rows};
    step_run(&square, (size_t)rows * layer->ffn_size * sizeof(float));
    forward_prepare(batch, workspace->gate, layer->ffn_size, rows, NULL, NULL,
                    form_bit(&layer->down));
}

/* SwiGLU or GeGLU (Shazeer 2020): down(activation(gate(x)) * up(x)). */
static void ffn_block(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    uint32_t rows = batch->row_count;
    if (layer->down.rows == 0)
        return;
    if (layer->router.rows != 0) {
        forward_experts(batch);
        add_residual(batch, layer->ffn_output_norm);
        return;
    }
    if (layer->gate.rows == 0) {
        squared_up(batch);
        forward_project(batch, &layer->down, layer->ffn_output_norm);
        return;
    }
    forward_prepare(batch, workspace->hidden, model->embedding_size, rows, NULL, layer->ffn_norm,
                    form_bit(&layer->gate) | form_bit(&layer->up));
    struct step gate_up = {.batch = batch,
                           .products = {{&layer->gate, workspace->gate, layer->ffn_size},
                                        {&layer->up, workspace->up, layer->ffn_size}},
                           .product_count = 2,
                           .input_count = rows,
                           .gated = true};
    step_run_products(&gate_up);
    forward_prepare(batch, workspace->gate, layer->ffn_size, rows, NULL, NULL,
                    form_bit(&layer->down));
    forward_project(batch, &layer->down, layer->ffn_output_norm);
}

/* --- a pass --- */

static bool is_set(const atomic_bool *flag)
{
    return flag && atomic_load_explicit(flag, memory_order_relaxed);
}

static bool is_cancelled(const struct batch *batch)
{
    if (is_set(batch->workspace->stop))
        return true;
    for (uint32_t i = 0; i < batch->segment_count; i++)
        if (!is_set(batch->segments[i].cancel))
            return false;
    return true;
}

/* False when cancelled. */
static bool run_layers(struct batch *batch, float *logits)
{
    const struct td_model *model = batch->workspace->model;
    struct step embed = {.batch = batch, .item = embed_item, .item_count = batch->row_count};
    step_run(&embed, (size_t)batch->row_count * model->embedding_size * sizeof(float));
    if (model->layer_input_size != 0)
        layer_inputs_prepare(batch);
    forward_after_layers(batch, 0, logits);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (is_cancelled(batch))
            return false;
        batch->layer_index = i;
        batch->layer = &model->layers[i];
        if (forward_all_left(batch)) {
            keys_block(batch);
        } else {
            attention_block(batch);
            ffn_block(batch);
            layer_inputs_run(batch);
        }
        forward_after_layers(batch, i + 1, logits);
    }
    forward_output(batch, logits);
    return true;
}

static enum td_status check_segment(const struct workspace *workspace,
                                    const struct segment *segment, struct td_error *err)
{
    const struct td_model *model = workspace->model;
    if (segment->count == 0 || segment->logit_rows > segment->count ||
        segment->hidden_rows > segment->count || segment->normed_rows > segment->count)
        return error_set(err, TD_INVALID, "%u rows of logits asked of %u tokens",
                         segment->logit_rows, segment->count);
    if (segment->hidden_rows && segment->hidden_layer > model->layer_count)
        return error_set(err, TD_INVALID, "the state after layer %u asked of a model of %u layers",
                         segment->hidden_layer, model->layer_count);
    for (uint32_t i = 0; i < segment->count; i++)
        if (segment->ids[i] < 0 || (uint32_t)segment->ids[i] >= model->vocab_count)
            return error_set(err, TD_INVALID, "token %u is %d, outside the vocabulary of %u", i,
                             segment->ids[i], model->vocab_count);
    return TD_OK;
}

static void number_rows(struct batch *batch, uint32_t index)
{
    const struct segment *segment = &batch->segments[index];
    for (uint32_t j = 0; j < segment->count; j++)
        batch->workspace->rows[batch->row_count++] = (struct workspace_row){
            .segment = index, .position = segment->sequence->length + j, .id = segment->ids[j]};
}

/* Numbers the rows and reserves the pages that they need. */
static enum td_status place_rows(struct batch *batch, struct td_error *err)
{
    struct workspace *workspace = batch->workspace;
    for (uint32_t i = 0; i < batch->segment_count; i++) {
        const struct segment *segment = &batch->segments[i];
        enum td_status status = check_segment(workspace, segment, err);
        if (status == TD_OK && segment->count > workspace->row_max - batch->row_count)
            status =
                error_set(err, TD_INVALID, "a batch of more than %u tokens", workspace->row_max);
        if (status == TD_OK)
            status = sequence_reserve(segment->sequence, segment->count, err);
        if (status != TD_OK)
            return status;
        number_rows(batch, i);
    }
    return TD_OK;
}

static enum td_status run_placed(struct batch *batch, float *logits, struct td_error *err)
{
    attention_plan(batch);
    recurrent_begin(batch);
    bool done = run_layers(batch, logits);
    recurrent_end(batch, done);
    return done ? TD_OK : error_set(err, TD_CANCELLED, "cancelled");
}

/* Brings the state of recurrent layers to the end of the sequence: from a checkpoint, by reading
 * again what comes after it. */
static enum td_status catch_up(struct workspace *workspace, const struct segment *segment,
                               struct td_error *err)
{
    struct sequence *sequence = segment->sequence;
    uint32_t length = sequence->length;
    enum td_status status = TD_OK;
    recurrent_restore(sequence);
    while (status == TD_OK && sequence->state && sequence->state_at < length) {
        uint32_t begin = sequence->state_at, rest = length - begin;
        struct segment part = {.sequence = sequence,
                               .ids = sequence->ids + begin,
                               .count = rest < workspace->row_max ? rest : workspace->row_max,
                               .cancel = segment->cancel};
        struct batch batch = {.workspace = workspace,
                              .segments = &part,
                              .segment_count = 1,
                              .adapted = sequence->adapters != NULL,
                              .again = true};
        sequence->length = begin;
        number_rows(&batch, 0);
        status = run_placed(&batch, NULL, err);
        sequence->length = length;
    }
    return status;
}

enum td_status forward_run(struct workspace *workspace, const struct segment *segments,
                           uint32_t segment_count, float *logits, struct td_error *err)
{
    ASSERT(segments != NULL || segment_count == 0);
    struct batch batch = {
        .workspace = workspace, .segments = segments, .segment_count = segment_count};
    for (uint32_t i = 0; i < segment_count; i++) {
        ASSERT(segments[i].sequence->model == workspace->model);
        ASSERT(logits != NULL || segments[i].logit_rows == 0);
        batch.adapted |= segments[i].sequence->adapters != NULL;
    }
    enum td_status status = TD_OK;
    for (uint32_t i = 0; status == TD_OK && i < segment_count; i++)
        status = catch_up(workspace, &segments[i], err);
    if (status == TD_OK)
        status = place_rows(&batch, err);
    if (status == TD_OK && batch.row_count != 0)
        status = run_placed(&batch, logits, err);
    for (uint32_t i = 0; i < segment_count; i++) {
        struct sequence *sequence = segments[i].sequence;
        if (status == TD_OK) {
            memcpy(sequence->ids + sequence->length, segments[i].ids,
                   segments[i].count * sizeof *segments[i].ids);
            sequence->length += segments[i].count;
        } else {
            sequence_truncate(sequence, sequence->length); /* gives back reserved pages */
        }
    }
    return status;
}

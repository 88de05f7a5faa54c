/* A table of layer inputs may be as large as the rest of the model (E2B: 2.3 of 5.1 billion
 * weights), but a token reads one row of it, so it can stay on disk. The inputs of all layers are
 * computed at once, before the first layer, because the projection needs the embedding itself. */
#include "engine/forward/layer_inputs.h"

#include <math.h>

/* One row: joins what the projection made of the embedding with the row of the table. */
static void join_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    const struct kernels *kernels = model->kernels;
    const struct weight *table = &model->layer_tokens;
    size_t size = model->layer_input_size, at = (size_t)index * table->cols;
    float *inputs = workspace->layer_inputs + at, *tokens = workspace->layer_tokens + at;
    kernels->dequantize(table->type,
                        (const uint8_t *)table->data +
                            (size_t)workspace->rows[index].id * table->row_bytes,
                        table->cols, tokens);
    kernels->scale(inputs, 1.0f / sqrtf((float)model->embedding_size), table->cols);
    for (size_t i = 0; i < table->cols; i += size)
        kernels->rms_norm(inputs + i, model->layer_proj_norm, size, model->norm_epsilon,
                          inputs + i);
    kernels->add_scaled(inputs, tokens, sqrtf((float)size), table->cols);
    kernels->scale(inputs, sqrtf(0.5f), table->cols);
}

void layer_inputs_prepare(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct weight *proj = &model->layer_proj;
    uint32_t rows = batch->row_count;
    forward_prepare(batch, workspace->hidden, model->embedding_size, rows, NULL, NULL,
                    form_bit(proj));
    struct step project = {.batch = batch,
                           .products = {{proj, workspace->layer_inputs, proj->rows}},
                           .product_count = 1,
                           .input_count = rows};
    step_run_products(&project);
    struct step join = {.batch = batch, .item = join_item, .item_count = rows};
    step_run(&join, (size_t)rows * proj->rows * sizeof(float));
}

static void gate_item(struct step *step, uint32_t index)
{
    const struct batch *batch = step->batch;
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    size_t size = model->layer_input_size;
    forward_gate(model, workspace->gate + index * size,
                 workspace->layer_inputs +
                     ((size_t)index * model->layer_count + batch->layer_index) * size,
                 size);
}

static void scale_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    size_t wide = workspace->model->embedding_size;
    if (!workspace->rows[index].left)
        workspace->model->kernels->scale(workspace->hidden + index * wide,
                                         *step->batch->layer->output_scale, wide);
}

static void add_input(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    uint32_t rows = batch->row_count, size = model->layer_input_size;
    forward_prepare(batch, workspace->hidden, model->embedding_size, rows, NULL, NULL,
                    form_bit(&layer->input_gate));
    struct step gate = {.batch = batch,
                        .products = {{&layer->input_gate, workspace->gate, size}},
                        .product_count = 1,
                        .input_count = rows};
    step_run_products(&gate);
    struct step multiply = {.batch = batch, .item = gate_item, .item_count = rows};
    step_run(&multiply, (size_t)rows * size * sizeof(float));
    forward_prepare(batch, workspace->gate, size, rows, NULL, NULL, form_bit(&layer->input_proj));
    forward_project(batch, &layer->input_proj, layer->input_norm);
}

void layer_inputs_run(struct batch *batch)
{
    const struct layer *layer = batch->layer;
    if (layer->input_gate.rows != 0)
        add_input(batch);
    if (layer->output_scale) {
        struct step scale = {.batch = batch, .item = scale_item, .item_count = batch->row_count};
        step_run(&scale, (size_t)batch->row_count * batch->workspace->model->embedding_size *
                             sizeof(float));
    }
}

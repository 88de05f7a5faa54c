#include "engine/forward/ssm.h"

#include "base/core/assertion.h"
#include "engine/forward/checkpoints.h"

#include <math.h>
#include <string.h>

/* Channels of the convolution that one thread does at a time; their old inputs are on the stack. */
#define CHANNELS 256u
#define WIDTH_MAX 16 /* CONV_WIDTH_MAX of layer_kinds.c */

static uint32_t inner_of(const struct td_model *model)
{
    return model->ssm_heads * model->ssm_head_size;
}

/* The part of a state that is of the batch's layer. */
static float *of_layer(const struct batch *batch, float *state)
{
    const struct td_model *model = batch->workspace->model;
    size_t floats = (size_t)inner_of(model) * model->ssm_state_size +
                    (size_t)batch->layer->q.rows * (model->conv_width - 1);
    return state + floats * batch->layer->conv_index;
}

/* The same of the checkpoint that the pass makes of a segment; NULL = none. */
static float *kept_of(const struct batch *batch, uint32_t segment)
{
    const struct workspace_part *part = &batch->workspace->parts[segment];
    const struct kv_pool *pool = batch->segments[segment].sequence->pool;
    if (part->checkpoint == CHECKPOINT_NONE)
        return NULL;
    return of_layer(batch, checkpoint_state(&pool->checkpoints, part->checkpoint));
}

/* --- the convolution --- */

/* Some channels of a segment. */
struct channels {
    const struct td_model *model;
    float *rows;      /* the first row's first channel */
    size_t stride;    /* from row to row, and between old inputs in a state */
    uint32_t count;   /* of channels */
    const float *old; /* [width - 1, count]: the inputs before the first row */
};

/* The inputs before row `row`, newest at back = 1. */
static const float *input_before(const struct channels *channels, uint32_t row, uint32_t back)
{
    if (back <= row)
        return channels->rows + (size_t)(row - back) * channels->stride;
    uint32_t width = channels->model->conv_width;
    return channels->old + (size_t)(width - 1 - (back - row)) * channels->count;
}

/* Writes the inputs before row `row` into a state. */
static void store_inputs(const struct channels *channels, uint32_t row, float *state)
{
    uint32_t width = channels->model->conv_width;
    for (uint32_t back = width - 1; back > 0; back--, state += channels->stride)
        memcpy(state, input_before(channels, row, back), channels->count * sizeof *state);
}

/* One row; its inputs and those of later rows are then not needed any more. */
static void convolve_row(const struct channels *channels, uint32_t row, const float *w,
                         const float *bias)
{
    float sum[CHANNELS], ones[CHANNELS];
    uint32_t width = channels->model->conv_width;
    float *own = channels->rows + row * channels->stride;
    memcpy(sum, bias, channels->count * sizeof *sum);
    for (uint32_t back = width; back-- > 0;) {
        const float *in = back ? input_before(channels, row, back) : own;
        for (uint32_t i = 0; i < channels->count; i++)
            sum[i] += w[i * width + width - 1 - back] * in[i];
    }
    for (uint32_t i = 0; i < channels->count; i++)
        ones[i] = 1.0f;
    channels->model->kernels->silu_multiply(sum, ones, channels->count);
    memcpy(own, sum, channels->count * sizeof *sum);
}

static void conv_item(struct step *step, uint32_t index)
{
    const struct batch *batch = step->batch;
    const struct workspace *workspace = batch->workspace;
    const struct layer *layer = batch->layer;
    float old[(WIDTH_MAX - 1) * CHANNELS];
    uint32_t wide = layer->q.rows, blocks = (wide + CHANNELS - 1) / CHANNELS;
    uint32_t segment = index / blocks, begin = index % blocks * CHANNELS;
    const struct workspace_part *part = &workspace->parts[segment];
    uint32_t width = workspace->model->conv_width, rows = batch->segments[segment].count;
    struct channels channels = {.model = workspace->model,
                                .rows = workspace->query + (size_t)part->first_row * wide + begin,
                                .stride = wide,
                                .count = wide - begin < CHANNELS ? wide - begin : CHANNELS,
                                .old = old};
    float *state = of_layer(batch, batch->segments[segment].sequence->state) + begin;
    for (uint32_t i = 0; i + 1 < width; i++)
        memcpy(old + (size_t)i * channels.count, state + (size_t)i * wide,
               channels.count * sizeof *old);
    float *kept = kept_of(batch, segment);
    if (kept)
        store_inputs(&channels, part->kept_rows, kept + begin);
    store_inputs(&channels, rows, state);
    for (uint32_t row = rows; row-- > 0;)
        convolve_row(&channels, row, layer->conv + (size_t)begin * width,
                     layer->ssm_conv_bias + begin);
}

/* --- the states --- */

static float softplus(float x)
{
    return x > 20.0f ? x : log1pf(expf(x)); /* beyond, the difference is below a rounding */
}

static void scan_item(struct step *step, uint32_t index)
{
    const struct batch *batch = step->batch;
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    uint32_t heads = model->ssm_heads, segment = index / heads, head = index % heads;
    const struct workspace_part *part = &workspace->parts[segment];
    size_t size = model->ssm_head_size, inner = (size_t)heads * size, wide = layer->q.rows;
    size_t floats = size * model->ssm_state_size;
    size_t group = head / (heads / model->ssm_groups);
    size_t at = wide * (model->conv_width - 1) + head * floats;
    float *state = of_layer(batch, batch->segments[segment].sequence->state) + at;
    float *kept = kept_of(batch, segment);
    struct ssm_task task = {.state = state, .rows = size, .size = model->ssm_state_size};
    for (uint32_t i = 0; i < batch->segments[segment].count; i++) {
        size_t row = part->first_row + i;
        const float *xbc = workspace->query + row * wide;
        task.x = xbc + head * size;
        task.b = xbc + inner + group * task.size;
        task.c = task.b + model->ssm_groups * task.size;
        task.dt = softplus(workspace->key[row * heads + head] + layer->ssm_dt_bias[head]);
        task.decay = expf(task.dt * layer->ssm_decay[head]);
        task.y = workspace->attended + row * inner + head * size;
        model->kernels->ssm_step(&task);
        model->kernels->add_scaled(task.y, task.x, layer->ssm_skip[head], size);
        if (kept && i + 1 == part->kept_rows)
            memcpy(kept + at, state, floats * sizeof *state);
    }
}

/* norm(y * silu(z)) of one row, each group by itself. */
static void gate_item(struct step *step, uint32_t row)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    size_t inner = inner_of(model), size = inner / model->ssm_groups;
    float *y = workspace->attended + row * inner, *z = workspace->value + row * inner;
    model->kernels->silu_multiply(z, y, inner);
    for (size_t at = 0; at < inner; at += size)
        model->kernels->rms_norm(z + at, step->batch->layer->ssm_norm + at, size,
                                 model->norm_epsilon, y + at);
}

void ssm_run(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    ASSERT(layer->ssm_decay != NULL && model->conv_width <= WIDTH_MAX);
    size_t rows = batch->row_count, inner = inner_of(model), floats = sizeof(float);
    uint32_t segments = batch->segment_count;
    struct step conv = {.batch = batch,
                        .item = conv_item,
                        .item_count = segments * ((layer->q.rows + CHANNELS - 1) / CHANNELS)};
    step_run(&conv, rows * layer->q.rows * model->conv_width * floats);
    struct step scan = {
        .batch = batch, .item = scan_item, .item_count = segments * model->ssm_heads};
    step_run(&scan, rows * inner * model->ssm_state_size * floats);
    struct step gate = {.batch = batch, .item = gate_item, .item_count = batch->row_count};
    step_run(&gate, rows * inner * floats);
}

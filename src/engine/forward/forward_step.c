/* Steps of the forward pass: matrix products, and the preparation of their inputs. Work that needs
 * only the rows that an item made (residual addition, SwiGLU) runs inside the item, so that threads
 * wait for each other only five times in a layer. */
#include "engine/forward/forward_step.h"

#include "base/core/assertion.h"

#include <math.h>

/* A step of fewer weight bytes (times tokens) runs on the calling thread alone: at 10 GB/s it takes
 * 3 us, as long as waking another thread. */
#define SERIAL_BYTES (32u << 10)

static void step_thread(void *ctx)
{
    struct step *step = ctx;
    for (uint32_t i;
         (i = atomic_fetch_add_explicit(&step->next, 1, memory_order_relaxed)) < step->item_count;)
        step->item(step, i);
}

void step_run(struct step *step, size_t bytes)
{
    struct thread_pool *pool = step->batch->workspace->threads;
    atomic_init(&step->next, 0);
    if (step->item_count < 2 || bytes < SERIAL_BYTES || thread_pool_count(pool) == 1)
        step_thread(step);
    else
        thread_pool_run(pool, step_thread, step);
}

void forward_norm(const struct td_model *model, const float *x, const float *norm, size_t size,
                  float *y)
{
    if (model->architecture->layer_norm)
        model->kernels->layer_norm(x, norm, norm + size, size, model->norm_epsilon, y);
    else
        model->kernels->rms_norm(x, norm, size, model->norm_epsilon, y);
}

/* --- matrix products --- */

void forward_scale(const struct td_model *model, const struct product *product, uint32_t row_begin,
                   uint32_t row_end, size_t begin, size_t end, uint32_t expert)
{
    float scale = product->weight->scales[expert];
    for (size_t i = begin; scale != 1.0f && i < end; i++)
        model->kernels->scale(product->y + i * product->y_stride + row_begin, scale,
                              row_end - row_begin);
}

static void multiply_rows(const struct step *step, uint32_t product_index, uint32_t row_begin,
                          uint32_t row_end)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct product *product = &step->products[product_index];
    const struct kernels *kernels = workspace->model->kernels;
    const struct weight *weight = product->weight;
    const uint8_t *inputs = workspace->activations[weight->form];
    size_t stride = kernels->activation_bytes(weight->form, weight->cols);
    size_t in_panels = kernels_panel_tokens(kernels, weight->form, step->input_count);
    if (in_panels != 0)
        kernels->matmul_panels(weight->type, weight->data, weight->row_bytes, weight->cols,
                               row_begin, row_end, inputs, stride, in_panels, product->y,
                               product->y_stride);
    if (in_panels < step->input_count)
        kernels->matmul(weight->type, weight->data, weight->row_bytes, weight->cols, row_begin,
                        row_end, inputs + in_panels * stride, stride, step->input_count - in_panels,
                        product->y + in_panels * product->y_stride, product->y_stride);
    if (weight->scales)
        forward_scale(workspace->model, product, row_begin, row_end, 0, step->input_count, 0);
    if (step->batch->adapted)
        forward_add_adapters(step, product_index, row_begin, row_end, 0, step->input_count, 0);
}

/* gpt-oss (OpenAI 2025, section 2.2): (up + 1) gate sigmoid(1.702 gate), gate at most 7, up in
 * [-7, 7]. */
static void gate_clamped(float *gate, const float *up, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        float g = fminf(gate[i], 7.0f), u = fmaxf(-7.0f, fminf(up[i], 7.0f));
        gate[i] = (u + 1.0f) * g / (1.0f + expf(-1.702f * g));
    }
}

void forward_gate(const struct td_model *model, float *gate, const float *up, size_t count)
{
    if (model->architecture->clamped_gate)
        gate_clamped(gate, up, count);
    else if (model->architecture->gelu)
        model->kernels->gelu_multiply(gate, up, count);
    else
        model->kernels->silu_multiply(gate, up, count);
}

void forward_add(const struct td_model *model, float *hidden, const float *y, size_t count)
{
    if (model->residual_scale == 1.0f)
        model->kernels->add(hidden, y, count);
    else
        model->kernels->add_scaled(hidden, y, model->residual_scale, count);
}

static void finish_logits(const struct td_model *model, float *logits, size_t count)
{
    if (model->logit_scale != 1.0f)
        model->kernels->scale(logits, model->logit_scale, count);
    if (model->last_cap > 0)
        model->kernels->soft_cap(logits, model->last_cap, count);
}

static void finish_rows(const struct step *step, uint32_t row_begin, uint32_t row_end)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    size_t rows = row_end - row_begin;
    for (uint32_t t = 0; t < step->input_count; t++) {
        float *y = step->products[0].y + t * step->products[0].y_stride + row_begin;
        if (step->add_to_hidden && workspace->rows[t].left)
            continue; /* the row has left early: its state stays */
        if (step->add_to_hidden)
            forward_add(model, workspace->hidden + (size_t)t * model->embedding_size + row_begin, y,
                        rows);
        else if (step->gated)
            forward_gate(model, y, step->products[1].y + t * step->products[1].y_stride + row_begin,
                         rows);
        else if (step->logits)
            finish_logits(model, y, rows);
    }
}

/* Items go through the rows of the products, one matrix after another. With `gated` an item does
 * the same rows of both matrices. */
static void matmul_item(struct step *step, uint32_t index)
{
    uint32_t product = 0;
    for (; !step->gated; product++) {
        uint32_t rows = step->products[product].weight->rows;
        uint32_t items = (rows + step->item_rows - 1) / step->item_rows;
        if (index < items)
            break;
        index -= items;
    }
    uint32_t rows = step->products[product].weight->rows;
    uint32_t begin = index * step->item_rows;
    uint32_t end = rows - begin < step->item_rows ? rows : begin + step->item_rows;
    multiply_rows(step, product, begin, end);
    if (step->gated)
        multiply_rows(step, 1, begin, end);
    if (step->gated || step->add_to_hidden || step->logits)
        finish_rows(step, begin, end);
}

void step_run_products(struct step *step)
{
    size_t bytes = 0, row_bytes = 0;
    uint32_t rows_sum = 0;
    for (uint32_t i = 0; i < step->product_count; i++) {
        const struct weight *weight = step->products[i].weight;
        bytes += (size_t)weight->rows * weight->row_bytes;
        rows_sum += weight->rows;
        row_bytes = weight->row_bytes > row_bytes ? weight->row_bytes : row_bytes;
    }
    if (step->gated)
        rows_sum /= 2, row_bytes *= 2;
    uint32_t threads = thread_pool_count(step->batch->workspace->threads);
    uint32_t item_rows = (uint32_t)(ITEM_BYTES / row_bytes);
    uint32_t fair_rows = rows_sum / (threads * 4); /* four items for each thread, if rows allow */
    item_rows = fair_rows > item_rows ? fair_rows : item_rows;
    if (item_rows > rows_sum / threads)
        item_rows = rows_sum / threads;
    step->item_rows = (item_rows + ITEM_ROWS - 1) / ITEM_ROWS * ITEM_ROWS;
    if (step->item_rows == 0)
        step->item_rows = ITEM_ROWS;
    step->item = matmul_item;
    step->item_count = 0;
    for (uint32_t i = 0; i < (step->gated ? 1 : step->product_count); i++)
        step->item_count +=
            (step->products[i].weight->rows + step->item_rows - 1) / step->item_rows;
    forward_reduce(step);
    forward_observe(step);
    step_run(step, bytes * step->input_count);
}

/* --- preparing inputs --- */

/* Prepares rows [begin, end) in one form. Either all of them belong to panels or none. */
static void prepare_form(const struct step *step, enum activation_form form, const float *x,
                         size_t begin, size_t end)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct kernels *kernels = workspace->model->kernels;
    size_t size = step->input_size, stride = kernels->activation_bytes(form, size);
    uint8_t *to = workspace->activations[form] + begin * stride;
    if (step->panels && begin < kernels_panel_tokens(kernels, form, step->input_count)) {
        kernels->panel_prepare(form, x, size, size, end - begin, to);
        return;
    }
    for (size_t row = begin; row < end; row++, x += size, to += stride)
        kernels->activation_prepare(form, x, size, to);
}

/* Prepares a row, or the rows of a panel. */
static void prepare_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    size_t size = step->input_size, begin = index * (size_t)step->item_rows;
    size_t end = begin + step->item_rows;
    end = end < step->input_count ? end : step->input_count;
    ASSERT(step->norm_weight || !step->from || step->item_rows == 1); /* the rows are adjacent */
    const float *x = step->input + (step->from ? step->from[begin] : begin) * size;
    if (step->norm_weight) {
        for (size_t row = begin; row < end; row++)
            forward_norm(workspace->model,
                         step->input + (step->from ? step->from[row] : row) * size,
                         step->norm_weight, size, workspace->normed + row * size);
        x = workspace->normed + begin * size;
    }
    for (int form = 0; form < ACTIVATION_FORM_COUNT; form++)
        if (step->forms & 1u << form)
            prepare_form(step, (enum activation_form)form, x, begin, end);
}

static void prepare(struct step *step)
{
    step->batch->inputs = step->norm_weight ? step->batch->workspace->normed : step->input;
    step->batch->inputs_from = step->norm_weight ? NULL : step->from;
    step->batch->inputs_size = step->input_size;
    if (step->batch->adapted) /* adapters multiply plain floats */
        step->forms |= 1u << ACTIVATION_F32;
    step->item = prepare_item;
    step->item_rows = 1;
    for (int form = 0; step->panels && form < ACTIVATION_FORM_COUNT; form++)
        if (step->forms & 1u << form &&
            kernels_panel_tokens(step->batch->workspace->model->kernels, (enum activation_form)form,
                                 step->input_count) != 0)
            step->item_rows = KERNELS_PANEL_TOKENS;
    step->item_count = (step->input_count + step->item_rows - 1) / step->item_rows;
    step_run(step, (size_t)step->input_count * step->input_size * sizeof(float));
}

void forward_prepare(struct batch *batch, const float *input, size_t size, uint32_t count,
                     const uint32_t *from, const float *norm_weight, unsigned forms)
{
    struct step step = {.batch = batch,
                        .norm_weight = norm_weight,
                        .input = input,
                        .input_size = size,
                        .input_count = count,
                        .from = from,
                        .forms = forms,
                        .panels = true};
    prepare(&step);
}

void forward_prepare_rows(struct batch *batch, const float *input, size_t size, uint32_t count,
                          const uint32_t *from, unsigned forms)
{
    struct step step = {.batch = batch,
                        .input = input,
                        .input_size = size,
                        .input_count = count,
                        .from = from,
                        .forms = forms};
    prepare(&step);
}

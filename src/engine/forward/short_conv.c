/* With a cache of floats u is kept as floats, otherwise as bfloat16: what these models are trained
 * with, and a product of two numbers may be too large for f16. What is read is always what was
 * stored, so the result does not depend on how a text was cut. */
#include "engine/forward/short_conv.h"

#include "base/core/assertion.h"
#include "engine/model/heads.h"

#include <string.h>

/* u of one position in the layer of the batch. */
static uint8_t *stored_at(const struct batch *batch, const struct sequence *sequence,
                          uint32_t position, size_t element)
{
    const struct td_model *model = sequence->model;
    const struct kv_pool *pool = sequence->pool;
    float *kept = kv_page_kept(pool, sequence->pages[position / KV_PAGE_TOKENS], position);
    return (uint8_t *)(kept + heads_kept_width(model)) +
           (size_t)batch->layer->conv_index * model->embedding_size * element;
}

/* Rounded to the nearest, ties to even. NaN stays NaN. */
static void store_bf16(const float *u, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &u[i], sizeof bits);
        bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
        uint16_t half = (uint16_t)(nan ? 0x7FC0u : (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16);
        memcpy(out + i * sizeof half, &half, sizeof half);
    }
}

void short_conv_store_item(struct step *step, uint32_t index)
{
    const struct batch *batch = step->batch;
    const struct workspace *workspace = batch->workspace;
    const struct workspace_span *run = &workspace->attention.runs[index];
    const struct sequence *sequence = batch->segments[run->segment].sequence;
    size_t wide = workspace->model->embedding_size;
    bool floats = sequence->pool->kv_type == TD_KV_F32;
    for (uint32_t row = run->row; row < run->row + run->count; row++) {
        float *u = workspace->key + row * wide;
        const float *x = workspace->value + row * wide;
        uint8_t *out = stored_at(batch, sequence, workspace->rows[row].position, floats ? 4 : 2);
        for (size_t i = 0; i < wide; i++)
            u[i] *= x[i];
        if (floats)
            memcpy(out, u, wide * sizeof *u);
        else
            store_bf16(u, wide, out);
    }
}

static void conv_item(struct step *step, uint32_t row)
{
    const struct batch *batch = step->batch;
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct workspace_row *place = &workspace->rows[row];
    const struct sequence *sequence = batch->segments[place->segment].sequence;
    bool floats = sequence->pool->kv_type == TD_KV_F32;
    size_t wide = model->embedding_size, width = model->conv_width;
    float *y = workspace->attended + row * wide, *u = workspace->value + row * wide;
    const float *c = workspace->query + row * wide, *w = batch->layer->conv;
    memset(y, 0, wide * sizeof *y);
    for (uint32_t j = 0; j < width; j++) {
        uint32_t back = (uint32_t)width - 1 - j;
        if (back > place->position)
            continue; /* before the text are zeroes */
        model->kernels->dequantize(
            floats ? TENSOR_F32 : TENSOR_BF16,
            stored_at(batch, sequence, place->position - back, floats ? 4 : 2), wide, u);
        for (size_t i = 0; i < wide; i++)
            y[i] += w[i * width + j] * u[i];
    }
    for (size_t i = 0; i < wide; i++)
        y[i] *= c[i];
}

void short_conv_run(struct batch *batch)
{
    ASSERT(batch->layer->conv != NULL);
    const struct td_model *model = batch->workspace->model;
    struct step step = {.batch = batch, .item = conv_item, .item_count = batch->row_count};
    step_run(&step, (size_t)batch->row_count * model->embedding_size * (model->conv_width + 1) *
                        sizeof(float));
}

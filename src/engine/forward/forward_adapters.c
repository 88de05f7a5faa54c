/* LoRA in the forward pass: y += factor * B (A x) for the rows whose sequence has adapters, each
 * with its own set (adapter.h). A x is computed first, for all inputs of a step; it is a small
 * product. B times that is added inside the items of the step, so that the rest of the item
 * (residual, gate, soft cap) sees the whole sum. The numbers of a row depend on its own set
 * only. */
#include "base/core/assertion.h"
#include "engine/forward/forward_step.h"
#include "engine/model/adapter.h"

#include <string.h>

/* Inputs that go through the kernel together: as many as the widest tile of the kernels has. */
#define RUN_MAX 8
/* Rows of B at a time, so that their results stay in the first-level cache. */
#define ROWS_AT_ONCE 64

static const struct adapter_set *set_of(const struct step *step, uint32_t input)
{
    uint32_t row = step->owners ? step->owners[input] : input;
    return step->batch->segments[step->batch->workspace->rows[row].segment].sequence->adapters;
}

/* The number of inputs, from `begin` on, that share a set. */
static uint32_t run_length(const struct step *step, uint32_t begin, uint32_t end,
                           const struct adapter_set **set)
{
    uint32_t length = 1;
    *set = set_of(step, begin);
    while (length < RUN_MAX && begin + length < end && set_of(step, begin + length) == *set)
        length++;
    return length;
}

static const struct adapter_pair *pair_of(const struct adapter_set *set, uint32_t index,
                                          const struct weight *weight)
{
    const struct adapter_pair *pair = &set->adapters[index]->pairs[weight->number];
    return pair->b.rows ? pair : NULL;
}

static size_t padded(const struct kernels *kernels, size_t rank)
{
    return kernels->activation_bytes(ACTIVATION_F32, rank) / sizeof(float);
}

static float *reduced_at(const struct step *step, uint32_t product, uint32_t input)
{
    const struct workspace *workspace = step->batch->workspace;
    return workspace->reduced +
           ((size_t)product * workspace->input_max + input) * ADAPTER_SET_WIDTH_MAX;
}

/* Computes factor * A x of inputs [begin, end) for one product, and for one expert if the weight
 * has several. */
static void reduce(const struct step *step, uint32_t product, uint32_t begin, uint32_t end,
                   uint32_t expert)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct kernels *kernels = workspace->model->kernels;
    const struct weight *weight = step->products[product].weight;
    size_t stride = kernels->activation_bytes(ACTIVATION_F32, weight->cols);
    const struct adapter_set *set;
    for (uint32_t at = begin, run; at < end; at += run) {
        run = run_length(step, at, end, &set);
        float *out = reduced_at(step, product, at);
        for (uint32_t i = 0; set && i < set->count; i++) {
            const struct adapter_pair *pair = pair_of(set, i, weight);
            if (pair == NULL)
                continue;
            const struct weight *a = &pair->a;
            size_t width = padded(kernels, a->rows);
            kernels->matmul(a->type, (const uint8_t *)a->data + expert * a->expert_bytes,
                            a->row_bytes, a->cols, 0, a->rows,
                            workspace->activations[ACTIVATION_F32] + at * stride, stride, run, out,
                            ADAPTER_SET_WIDTH_MAX);
            for (uint32_t r = 0; r < run; r++) {
                float *row = out + (size_t)r * ADAPTER_SET_WIDTH_MAX;
                kernels->scale(row, adapter_set_factor(set, i, pair), a->rows);
                memset(row + a->rows, 0, (width - a->rows) * sizeof *row);
            }
            out += width;
        }
    }
}

static void reduce_item(struct step *step, uint32_t index)
{
    uint32_t cuts = (step->input_count + RUN_MAX - 1) / RUN_MAX;
    uint32_t begin = index % cuts * RUN_MAX, left = step->input_count - begin;
    reduce(step, index / cuts, begin, begin + (left < RUN_MAX ? left : RUN_MAX), 0);
}

static void reduce_experts_item(struct step *step, uint32_t index)
{
    const struct workspace_experts *experts = &step->batch->workspace->experts;
    uint32_t expert = experts->active[index % experts->active_count];
    reduce(step, index / experts->active_count, experts->first_place[expert],
           experts->first_place[expert + 1], expert);
}

static void run_reduction(const struct step *step, void (*item)(struct step *step, uint32_t index),
                          uint32_t items_per_product)
{
    struct step reduction = *step;
    size_t cols = 0;
    for (uint32_t i = 0; i < step->product_count; i++)
        cols += step->products[i].weight->cols;
    reduction.item = item;
    reduction.item_count = step->product_count * items_per_product;
    /* A measure of the work: every input meets the rows of A, and 16 is a usual rank. */
    step_run(&reduction, (size_t)step->input_count * cols * 16);
}

void forward_reduce(const struct step *step)
{
    /* reduce() reads plain rows of floats */
    ASSERT(!(step->batch->workspace->model->kernels->panel_forms & 1u << ACTIVATION_F32));
    if (step->batch->adapted)
        run_reduction(step, reduce_item, (step->input_count + RUN_MAX - 1) / RUN_MAX);
}

void forward_reduce_experts(const struct step *step)
{
    if (step->batch->adapted)
        run_reduction(step, reduce_experts_item, step->batch->workspace->experts.active_count);
}

/* y[r] += B[r] u, for the rows of one block and a run of inputs. */
static void add_block(const struct kernels *kernels, const struct weight *b, uint32_t expert,
                      uint32_t row_begin, uint32_t rows, const float *reduced, uint32_t run,
                      float *y, size_t y_stride)
{
    float sums[RUN_MAX * ROWS_AT_ONCE];
    kernels->matmul(b->type,
                    (const uint8_t *)b->data + expert * b->expert_bytes + row_begin * b->row_bytes,
                    b->row_bytes, b->cols, 0, rows, reduced, ADAPTER_SET_WIDTH_MAX * sizeof(float),
                    run, sums, ROWS_AT_ONCE);
    for (uint32_t r = 0; r < run; r++)
        kernels->add(y + r * y_stride + row_begin, sums + r * ROWS_AT_ONCE, rows);
}

void forward_add_adapters(const struct step *step, uint32_t product, uint32_t row_begin,
                          uint32_t row_end, uint32_t begin, uint32_t end, uint32_t expert)
{
    const struct kernels *kernels = step->batch->workspace->model->kernels;
    const struct product *to = &step->products[product];
    const struct adapter_set *set;
    for (uint32_t at = begin, run; at < end; at += run) {
        run = run_length(step, at, end, &set);
        const float *reduced = reduced_at(step, product, at);
        for (uint32_t i = 0; set && i < set->count; i++) {
            const struct adapter_pair *pair = pair_of(set, i, to->weight);
            if (pair == NULL)
                continue;
            for (uint32_t row = row_begin; row < row_end; row += ROWS_AT_ONCE) {
                uint32_t rows = row_end - row < ROWS_AT_ONCE ? row_end - row : ROWS_AT_ONCE;
                add_block(kernels, &pair->b, expert, row, rows, reduced, run,
                          to->y + at * to->y_stride, to->y_stride);
            }
            reduced += padded(kernels, pair->b.cols);
        }
    }
}

void forward_embed_adapters(const struct td_model *model, const struct adapter_set *set, int32_t id,
                            float *hidden)
{
    float reduced[ADAPTER_RANK_MAX];
    for (uint32_t i = 0; i < set->count; i++) {
        const struct adapter_pair *pair = pair_of(set, i, &model->embedding);
        if (pair == NULL)
            continue;
        size_t rank = pair->b.cols, width = padded(model->kernels, rank);
        model->kernels->dequantize(pair->a.type,
                                   (const uint8_t *)pair->a.data + (size_t)id * pair->a.row_bytes,
                                   rank, reduced);
        model->kernels->scale(reduced, adapter_set_factor(set, i, pair), rank);
        memset(reduced + rank, 0, (width - rank) * sizeof *reduced);
        for (uint32_t row = 0; row < pair->b.rows; row += ROWS_AT_ONCE) {
            uint32_t left = pair->b.rows - row;
            add_block(model->kernels, &pair->b, 0, row, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE,
                      reduced, 1, hidden, 0);
        }
    }
}

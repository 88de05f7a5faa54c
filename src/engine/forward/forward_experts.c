/* Mixture of experts (Shazeer et al. 2017; Fedus et al. 2021; softmax over the chosen ones as in
 * Mixtral, Jiang et al. 2024, section 2.1, and Qwen3): a router chooses a few experts for every
 * token. Their outputs are added with the softmax of their scores as weights.
 *
 * The (token, expert) pairs of the batch are sorted by expert, so that the matrices of an expert
 * are read once for all of its tokens. The order does not change a token's result: its rows do not
 * depend on the rows beside them, and its sum is taken by rank. */
#include "engine/forward/forward_step.h"

#include <math.h>
#include <string.h>

/* The sum of the chosen sigmoids is at least this, as in Hugging Face's code for LFM2. */
#define SIGMOID_SUM_LEAST 1e-6

/* Turns scores into sigmoids. */
static void squash(float *scores, uint32_t count)
{
    for (uint32_t e = 0; e < count; e++)
        scores[e] = (float)(1 / (1 + exp(-(double)scores[e])));
}

/* Chooses the best experts of a token (of equal ones the lower number) and their weights:
 * exp(score - best) / sum, or sigmoid / sum of experts chosen by their sigmoid plus a bias
 * (DeepSeek-AI 2024, DeepSeek-V3, section 2.1.2). */
static void route_item(struct step *step, uint32_t index)
{
    const struct td_model *model = step->batch->workspace->model;
    struct workspace_experts *experts = &step->batch->workspace->experts;
    uint32_t used = model->expert_used_count;
    float *scores = experts->scores + (size_t)index * model->expert_count;
    uint32_t *chosen = experts->chosen + (size_t)index * used;
    float *weights = experts->weights + (size_t)index * used;
    const float *bias = step->batch->layer->router_bias;
    bool sigmoid = model->architecture->sigmoid_router;
    double sum = sigmoid ? SIGMOID_SUM_LEAST : 0;
    if (sigmoid)
        squash(scores, model->expert_count);
    if (bias)
        model->kernels->add(scores, bias, model->expert_count);
    for (uint32_t rank = 0; rank < used; rank++) {
        uint32_t best = model->expert_count;
        for (uint32_t e = 0; e < model->expert_count; e++) {
            bool taken = false;
            for (uint32_t r = 0; r < rank; r++)
                taken |= chosen[r] == e;
            if (!taken && (best == model->expert_count || scores[e] > scores[best]))
                best = e;
        }
        chosen[rank] = best;
        sum += sigmoid ? (double)scores[best] - (double)bias[best]
                       : exp((double)scores[best] - (double)scores[chosen[0]]);
    }
    for (uint32_t rank = 0; rank < used; rank++) {
        double score = (double)scores[chosen[rank]];
        weights[rank] = (float)((sigmoid ? score - (double)bias[chosen[rank]]
                                         : exp(score - (double)scores[chosen[0]])) /
                                sum);
    }
}

/* Sorts the pairs by expert, with a counting sort. */
static void order_pairs(const struct batch *batch)
{
    const struct td_model *model = batch->workspace->model;
    struct workspace_experts *experts = &batch->workspace->experts;
    uint32_t pairs = batch->row_count * model->expert_used_count;
    uint32_t *first_place = experts->first_place;
    memset(first_place, 0, (model->expert_count + 1) * sizeof *first_place);
    for (uint32_t p = 0; p < pairs; p++)
        first_place[experts->chosen[p] + 1]++;
    experts->active_count = 0;
    for (uint32_t e = 0; e < model->expert_count; e++) {
        if (first_place[e + 1] != 0)
            experts->active[experts->active_count++] = e;
        first_place[e + 1] += first_place[e];
    }
    for (uint32_t p = 0; p < pairs; p++) {
        uint32_t place = first_place[experts->chosen[p]]++;
        experts->place_of[p] = place;
        experts->row_of[place] = p / model->expert_used_count;
    }
    /* every entry is now where the next expert begins */
    memmove(first_place + 1, first_place, model->expert_count * sizeof *first_place);
    first_place[0] = 0;
}

/* Multiplies some rows of one expert's matrix (of two when gated) with all tokens of the expert. */
static void expert_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    const struct workspace_experts *experts = &workspace->experts;
    uint32_t rows = step->products[0].weight->rows;
    uint32_t cuts = (rows + step->item_rows - 1) / step->item_rows;
    uint32_t expert = experts->active[index / cuts], begin = index % cuts * step->item_rows;
    uint32_t end = rows - begin < step->item_rows ? rows : begin + step->item_rows;
    size_t first = experts->first_place[expert], count = experts->first_place[expert + 1] - first;
    for (uint32_t i = 0; i < step->product_count; i++) {
        const struct product *product = &step->products[i];
        const struct weight *weight = product->weight;
        size_t stride = model->kernels->activation_bytes(weight->form, weight->cols);
        model->kernels->matmul(weight->type,
                               (const uint8_t *)weight->data + expert * weight->expert_bytes,
                               weight->row_bytes, weight->cols, begin, end,
                               workspace->activations[weight->form] + first * stride, stride, count,
                               product->y + first * product->y_stride, product->y_stride);
        if (weight->scales)
            forward_scale(model, product, begin, end, first, first + count, expert);
    }
    for (uint32_t i = 0; step->batch->adapted && i < step->product_count; i++)
        forward_add_adapters(step, i, begin, end, (uint32_t)first, (uint32_t)(first + count),
                             expert);
    const struct layer *layer = step->batch->layer;
    for (size_t place = first; step->gated && place < first + count; place++) {
        float *gate = step->products[0].y + place * step->products[0].y_stride + begin;
        float *up = step->products[1].y + place * step->products[1].y_stride + begin;
        if (layer->gate_bias) {
            size_t at = (size_t)expert * rows + begin;
            model->kernels->add(gate, layer->gate_bias + at, end - begin);
            model->kernels->add(up, layer->up_bias + at, end - begin);
        }
        forward_gate(model, gate, up, end - begin);
    }
}

static void run_experts(struct step *step)
{
    const struct weight *weight = step->products[0].weight;
    uint32_t active = step->batch->workspace->experts.active_count;
    uint32_t item_rows = (uint32_t)(ITEM_BYTES / weight->row_bytes) / ITEM_ROWS * ITEM_ROWS;
    step->item_rows = item_rows ? item_rows : ITEM_ROWS;
    step->item = expert_item;
    step->item_count = active * ((weight->rows + step->item_rows - 1) / step->item_rows);
    forward_reduce_experts(step);
    forward_observe_experts(step);
    step_run(step, (size_t)active * step->product_count * weight->rows * weight->row_bytes);
}

/* Computes the weighted sum of the experts' outputs for one token. */
static void combine_item(struct step *step, uint32_t index)
{
    const struct workspace *workspace = step->batch->workspace;
    const struct td_model *model = workspace->model;
    const struct workspace_experts *experts = &workspace->experts;
    size_t wide = model->embedding_size, used = model->expert_used_count;
    float *sum = workspace->normed + index * wide;
    if (step->batch->layer->shared_down.rows != 0)
        memcpy(sum, workspace->attended + index * wide, wide * sizeof *sum);
    else
        memset(sum, 0, wide * sizeof *sum);
    for (size_t pair = index * used; pair < (index + 1) * used; pair++) {
        float weight = experts->weights[pair];
        model->kernels->add_scaled(sum, experts->output + experts->place_of[pair] * wide, weight,
                                   wide);
        if (step->batch->layer->down_bias)
            model->kernels->add_scaled(
                sum, step->batch->layer->down_bias + experts->chosen[pair] * wide, weight, wide);
    }
}

/* The expert that all tokens go through; its output is workspace->attended. */
static void run_shared(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct layer *layer = batch->layer;
    size_t wide = workspace->model->embedding_size, ffn = layer->shared_gate.rows;
    uint32_t rows = batch->row_count;
    forward_prepare(batch, workspace->hidden, wide, rows, NULL, layer->ffn_norm,
                    form_bit(&layer->shared_gate) | form_bit(&layer->shared_up));
    struct step gate_up = {.batch = batch,
                           .products = {{&layer->shared_gate, workspace->gate, ffn},
                                        {&layer->shared_up, workspace->up, ffn}},
                           .product_count = 2,
                           .input_count = rows,
                           .gated = true};
    step_run_products(&gate_up);
    forward_prepare(batch, workspace->gate, ffn, rows, NULL, NULL, form_bit(&layer->shared_down));
    struct step down = {.batch = batch,
                        .products = {{&layer->shared_down, workspace->attended, wide}},
                        .product_count = 1,
                        .input_count = rows};
    step_run_products(&down);
}

void forward_experts(struct batch *batch)
{
    const struct workspace *workspace = batch->workspace;
    const struct td_model *model = workspace->model;
    const struct layer *layer = batch->layer;
    uint32_t rows = batch->row_count, experts = model->expert_count;
    uint32_t pairs = rows * model->expert_used_count;
    size_t wide = model->embedding_size, ffn = layer->ffn_size;
    if (layer->shared_down.rows != 0)
        run_shared(batch);
    forward_prepare(batch, workspace->hidden, wide, rows, NULL, layer->ffn_norm,
                    form_bit(&layer->router));
    struct step scores = {.batch = batch,
                          .products = {{&layer->router, workspace->experts.scores, experts}},
                          .product_count = 1,
                          .input_count = rows};
    step_run_products(&scores);
    struct step route = {.batch = batch, .item = route_item, .item_count = rows};
    step_run(&route, (size_t)pairs * experts * sizeof(float));
    order_pairs(batch);
    forward_prepare_rows(batch, workspace->normed, wide, pairs, workspace->experts.row_of,
                         form_bit(&layer->gate) | form_bit(&layer->up));
    struct step gate_up = {
        .batch = batch,
        .products = {{&layer->gate, workspace->gate, ffn}, {&layer->up, workspace->up, ffn}},
        .product_count = 2,
        .input_count = pairs,
        .owners = workspace->experts.row_of,
        .gated = true};
    run_experts(&gate_up);
    forward_prepare_rows(batch, workspace->gate, ffn, pairs, NULL, form_bit(&layer->down));
    struct step down = {.batch = batch,
                        .products = {{&layer->down, workspace->experts.output, wide}},
                        .product_count = 1,
                        .input_count = pairs,
                        .owners = workspace->experts.row_of};
    run_experts(&down);
    struct step combine = {.batch = batch, .item = combine_item, .item_count = rows};
    step_run(&combine, (size_t)pairs * wide * sizeof(float));
}

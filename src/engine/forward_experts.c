/* Mixture of experts (Shazeer et al. 2017; Fedus et al. 2021; softmax over the chosen ones as in
 * Mixtral, Jiang et al. 2024, section 2.1, and Qwen3): a router gives every token its few best
 * experts, whose outputs are added with the softmax of their scores as weights.
 *
 * The chunk's (token, expert) pairs are brought into the order of the experts, so that an expert's
 * matrices are read once for all of its tokens. A token's result is the same whatever the order:
 * its rows do not depend on what stands beside them, and its sum goes by rank. */
#include "engine/forward.h"

#include <math.h>
#include <string.h>

/* Its best experts, ties to the lower number, and their weights exp(score - best) / sum. */
static void route_item(struct step *step, uint32_t index)
{
    const struct td_model *model = step->chunk->session->model;
    struct session_experts *experts = &step->chunk->session->experts;
    uint32_t used = model->expert_used_count;
    const float *scores = experts->scores + (size_t)index * model->expert_count;
    uint32_t *chosen = experts->chosen + (size_t)index * used;
    float *weights = experts->weights + (size_t)index * used;
    double sum = 0;
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
        sum += exp((double)scores[best] - (double)scores[chosen[0]]);
    }
    for (uint32_t rank = 0; rank < used; rank++)
        weights[rank] =
            (float)(exp((double)scores[chosen[rank]] - (double)scores[chosen[0]]) / sum);
}

/* Counting sort of the pairs by expert. */
static void order_pairs(const struct chunk *chunk)
{
    const struct td_model *model = chunk->session->model;
    struct session_experts *experts = &chunk->session->experts;
    uint32_t pairs = chunk->token_count * model->expert_used_count;
    uint32_t *first_row = experts->first_row;
    memset(first_row, 0, (model->expert_count + 1) * sizeof *first_row);
    for (uint32_t p = 0; p < pairs; p++)
        first_row[experts->chosen[p] + 1]++;
    experts->active_count = 0;
    for (uint32_t e = 0; e < model->expert_count; e++) {
        if (first_row[e + 1] != 0)
            experts->active[experts->active_count++] = e;
        first_row[e + 1] += first_row[e];
    }
    for (uint32_t p = 0; p < pairs; p++) {
        uint32_t row = first_row[experts->chosen[p]]++;
        experts->row_of[p] = row;
        experts->token_of[row] = p / model->expert_used_count;
    }
    /* every entry has moved to where the next expert begins */
    memmove(first_row + 1, first_row, model->expert_count * sizeof *first_row);
    first_row[0] = 0;
}

/* One row: its token's normed input, or its own gate, into the forms of the next product. */
static void gather_item(struct step *step, uint32_t row)
{
    const struct td_session *session = step->chunk->session;
    uint32_t from = step->by_token ? session->experts.token_of[row] : row;
    forward_prepare_row(session, step->input + from * step->input_size, step->input_size,
                        step->forms, row);
}

static void gather(struct chunk *chunk, const float *input, size_t size, bool by_token,
                   unsigned forms)
{
    struct step step = {.chunk = chunk,
                        .item = gather_item,
                        .item_count = chunk->token_count * chunk->session->model->expert_used_count,
                        .by_token = by_token,
                        .input = input,
                        .input_size = size,
                        .forms = forms};
    step_run(&step, (size_t)step.item_count * size * sizeof(float));
}

/* Some rows of one expert's matrix (of two when gated) times all of the expert's tokens. */
static void expert_item(struct step *step, uint32_t index)
{
    const struct td_session *session = step->chunk->session;
    const struct td_model *model = session->model;
    const struct session_experts *experts = &session->experts;
    uint32_t rows = step->products[0].weight->rows;
    uint32_t cuts = (rows + step->item_rows - 1) / step->item_rows;
    uint32_t expert = experts->active[index / cuts], begin = index % cuts * step->item_rows;
    uint32_t end = rows - begin < step->item_rows ? rows : begin + step->item_rows;
    size_t first = experts->first_row[expert], count = experts->first_row[expert + 1] - first;
    for (uint32_t i = 0; i < step->product_count; i++) {
        const struct product *product = &step->products[i];
        const struct weight *weight = product->weight;
        size_t stride = model->kernels->activation_bytes(weight->form, weight->cols);
        model->kernels->matmul(weight->type,
                               (const uint8_t *)weight->data + expert * weight->expert_bytes,
                               weight->row_bytes, weight->cols, begin, end,
                               session->activations[weight->form] + first * stride, stride, count,
                               product->y + first * product->y_stride, product->y_stride);
    }
    for (size_t row = first; step->gated && row < first + count; row++)
        forward_gate(model, step->products[0].y + row * step->products[0].y_stride + begin,
                     step->products[1].y + row * step->products[1].y_stride + begin, end - begin);
}

static void run_experts(struct step *step)
{
    const struct weight *weight = step->products[0].weight;
    uint32_t active = step->chunk->session->experts.active_count;
    uint32_t item_rows = (uint32_t)(ITEM_BYTES / weight->row_bytes) / ITEM_ROWS * ITEM_ROWS;
    step->item_rows = item_rows ? item_rows : ITEM_ROWS;
    step->item = expert_item;
    step->item_count = active * ((weight->rows + step->item_rows - 1) / step->item_rows);
    step_run(step, (size_t)active * step->product_count * weight->rows * weight->row_bytes);
}

/* One token: the weighted sum of its experts' outputs. */
static void combine_item(struct step *step, uint32_t index)
{
    const struct td_session *session = step->chunk->session;
    const struct td_model *model = session->model;
    const struct session_experts *experts = &session->experts;
    size_t wide = model->embedding_size, used = model->expert_used_count;
    float *sum = session->normed + index * wide;
    memset(sum, 0, wide * sizeof *sum);
    for (size_t pair = index * used; pair < (index + 1) * used; pair++)
        model->kernels->add_scaled(sum, experts->output + experts->row_of[pair] * wide,
                                   experts->weights[pair], wide);
}

void forward_experts(struct chunk *chunk)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct layer *layer = chunk->layer;
    uint32_t tokens = chunk->token_count, experts = model->expert_count;
    size_t wide = model->embedding_size, ffn = model->ffn_size;
    forward_prepare(chunk, session->hidden, wide, layer->ffn_norm, 0, form_bit(&layer->router));
    struct step scores = {.chunk = chunk,
                          .products = {{&layer->router, session->experts.scores, experts}},
                          .product_count = 1,
                          .token_count = tokens};
    step_run_products(&scores);
    struct step route = {.chunk = chunk, .item = route_item, .item_count = tokens};
    step_run(&route, (size_t)tokens * experts * model->expert_used_count * sizeof(float));
    order_pairs(chunk);
    gather(chunk, session->normed, wide, true, form_bit(&layer->gate) | form_bit(&layer->up));
    struct step gate_up = {
        .chunk = chunk,
        .products = {{&layer->gate, session->gate, ffn}, {&layer->up, session->up, ffn}},
        .product_count = 2,
        .gated = true};
    run_experts(&gate_up);
    gather(chunk, session->gate, ffn, false, form_bit(&layer->down));
    struct step down = {.chunk = chunk,
                        .products = {{&layer->down, session->experts.output, wide}},
                        .product_count = 1};
    run_experts(&down);
    struct step combine = {.chunk = chunk, .item = combine_item, .item_count = tokens};
    step_run(&combine, (size_t)tokens * model->expert_used_count * wide * sizeof(float));
}

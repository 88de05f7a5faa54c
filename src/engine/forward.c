/* The forward pass of a decoder-only transformer (Touvron et al. 2023 and kin), a chunk of tokens
 * at a time.
 *
 * Work is cut into items that threads take from a counter: a thread that loses its core to somebody
 * else costs its share and not everybody's wait. Every item computes the same numbers whoever takes
 * it and whatever stands beside it in the chunk, so results do not depend on threads or chunking
 * (the kernels promise the same for a row and a token). Steps that need only the rows they made
 * (residual addition, SwiGLU) run inside the item, which leaves five barriers a layer. What differs
 * between architectures is data of the model and the layer; mixtures of experts are in
 * forward_experts.c. Nothing is allocated here. */
#include "engine/forward.h"

#include "base/error.h"

#include <string.h>

/* Below this many weight bytes (times tokens) a step runs on the caller alone: at 10 GB/s it takes
 * 3 us, as long as telling another thread about it. */
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
    struct thread_pool *pool = step->chunk->session->pool;
    atomic_init(&step->next, 0);
    if (step->item_count < 2 || bytes < SERIAL_BYTES || thread_pool_count(pool) == 1)
        step_thread(step);
    else
        thread_pool_run(pool, step_thread, step);
}

/* --- matrix products --- */

static void multiply_rows(const struct step *step, const struct product *product,
                          uint32_t row_begin, uint32_t row_end)
{
    const struct td_session *session = step->chunk->session;
    const struct kernels *kernels = session->model->kernels;
    const struct weight *weight = product->weight;
    size_t stride = kernels->activation_bytes(weight->form, weight->cols);
    kernels->matmul(weight->type, weight->data, weight->row_bytes, weight->cols, row_begin, row_end,
                    session->activations[weight->form] + step->token_begin * stride, stride,
                    step->token_count, product->y, product->y_stride);
}

void forward_gate(const struct td_model *model, float *gate, const float *up, size_t count)
{
    if (model->architecture->gelu)
        model->kernels->gelu_multiply(gate, up, count);
    else
        model->kernels->silu_multiply(gate, up, count);
}

static void add_to_hidden(const struct td_model *model, float *hidden, const float *y, size_t count)
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
    const struct td_session *session = step->chunk->session;
    const struct td_model *model = session->model;
    size_t rows = row_end - row_begin;
    for (uint32_t t = 0; t < step->token_count; t++) {
        float *y = step->products[0].y + t * step->products[0].y_stride + row_begin;
        if (step->add_to_hidden)
            add_to_hidden(model, session->hidden + (size_t)t * model->embedding_size + row_begin, y,
                          rows);
        else if (step->gated)
            forward_gate(model, y, step->products[1].y + t * step->products[1].y_stride + row_begin,
                         rows);
        else if (step->logits)
            finish_logits(model, y, rows);
    }
}

/* Items run through the products' rows one matrix after the other; under gated one item does the
 * same rows of both. */
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
    multiply_rows(step, &step->products[product], begin, end);
    if (step->gated)
        multiply_rows(step, &step->products[1], begin, end);
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
    uint32_t threads = thread_pool_count(step->chunk->session->pool);
    uint32_t item_rows = (uint32_t)(ITEM_BYTES / row_bytes);
    uint32_t fair_rows = rows_sum / (threads * 4); /* at least four items a thread, if rows allow */
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
    step_run(step, bytes * step->token_count);
}

/* --- preparing inputs --- */

void forward_prepare_row(const struct td_session *session, const float *x, size_t size,
                         unsigned forms, size_t row)
{
    const struct kernels *kernels = session->model->kernels;
    for (int form = 0; form < ACTIVATION_FORM_COUNT; form++) {
        if (!(forms & 1u << form))
            continue;
        size_t stride = kernels->activation_bytes((enum activation_form)form, size);
        kernels->activation_prepare((enum activation_form)form, x, size,
                                    session->activations[form] + row * stride);
    }
}

static void prepare_item(struct step *step, uint32_t index)
{
    const struct td_session *session = step->chunk->session;
    size_t token = step->token_begin + index;
    const float *x = step->input + token * step->input_size;
    if (step->norm_weight) {
        float *normed = session->normed + token * step->input_size;
        session->model->kernels->rms_norm(x, step->norm_weight, step->input_size,
                                          session->model->norm_epsilon, normed);
        x = normed;
    }
    forward_prepare_row(session, x, step->input_size, step->forms, token);
}

void forward_prepare(struct chunk *chunk, const float *input, size_t size, const float *norm_weight,
                     uint32_t token_begin, unsigned forms)
{
    struct step step = {.chunk = chunk,
                        .item = prepare_item,
                        .item_count = chunk->token_count - token_begin,
                        .token_begin = token_begin,
                        .norm_weight = norm_weight,
                        .input = input,
                        .input_size = size,
                        .forms = forms};
    step_run(&step, (size_t)step.item_count * size * sizeof(float));
}

/* --- embedding, rope, attention --- */

static void embed_item(struct step *step, uint32_t index)
{
    const struct chunk *chunk = step->chunk;
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct weight *table = &model->embedding;
    float *hidden = session->hidden + (size_t)index * model->embedding_size;
    model->kernels->dequantize(
        table->type, (const uint8_t *)table->data + (size_t)chunk->ids[index] * table->row_bytes,
        table->cols, hidden);
    if (model->embedding_scale != 1.0f)
        model->kernels->scale(hidden, model->embedding_scale, model->embedding_size);
    for (int i = 0; i < (model->window ? 2 : 1); i++)
        rope_angles(session->ropes[i], chunk->position + index,
                    session->cos_sin[i] + (size_t)index * session->ropes[i]->pair_count * 2);
}

/* Where one head's row of one position is in the cache. */
static size_t cache_offset(const struct td_session *session, uint32_t layer, uint32_t kv_head,
                           uint32_t position)
{
    const struct td_model *model = session->model;
    size_t row =
        ((size_t)layer * model->kv_head_count + kv_head) * session->context_size + position;
    return row * model->head_size * (session->kv_type == TD_KV_F32 ? 4 : 2);
}

/* Norm and rotation of `count` heads that lie behind each other. cos_sin NULL: no rotation. */
static void rotate_heads(const struct td_model *model, float *heads, uint32_t count,
                         const float *norm, const float *cos_sin)
{
    size_t pair_count = model->ropes[ROPE_GLOBAL].pair_count;
    for (uint32_t h = 0; h < count; h++) {
        float *head = heads + (size_t)h * model->head_size;
        if (norm)
            model->kernels->rms_norm(head, norm, model->head_size, model->norm_epsilon, head);
        if (cos_sin)
            model->kernels->rope(head, cos_sin, pair_count * 2,
                                 model->architecture->rope_interleaved);
    }
}

/* One token: biases, norms, rope, and its keys and values into the cache. */
static void position_item(struct step *step, uint32_t index)
{
    const struct chunk *chunk = step->chunk;
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct layer *layer = chunk->layer;
    size_t q_size = (size_t)model->head_count * model->head_size;
    size_t kv_size = (size_t)model->kv_head_count * model->head_size;
    float *q = session->query + index * q_size, *k = session->key + index * kv_size;
    float *v = session->value + index * kv_size;
    const float *cos_sin = NULL;
    if (layer->rope != ROPE_NONE)
        cos_sin = session->cos_sin[layer->rope == ROPE_LOCAL] +
                  (size_t)index * model->ropes[ROPE_GLOBAL].pair_count * 2;
    if (layer->q_bias)
        model->kernels->add(q, layer->q_bias, q_size);
    if (layer->k_bias)
        model->kernels->add(k, layer->k_bias, kv_size);
    if (layer->v_bias)
        model->kernels->add(v, layer->v_bias, kv_size);
    rotate_heads(model, q, model->head_count, layer->q_norm, cos_sin);
    rotate_heads(model, k, model->kv_head_count, layer->k_norm, cos_sin);
    for (uint32_t h = 0; h < model->kv_head_count; h++) {
        size_t at = cache_offset(session, chunk->layer_index, h, chunk->position + index);
        model->kernels->store_kv(k + (size_t)h * model->head_size, model->head_size,
                                 session->kv_type, session->keys + at);
        model->kernels->store_kv(v + (size_t)h * model->head_size, model->head_size,
                                 session->kv_type, session->values + at);
    }
}

/* Query heads of one token that share a kv head, or a part of them. Late tokens first: they are the
 * longest, and the short ones then even out the threads. */
static void attend_item(struct step *step, uint32_t index)
{
    const struct chunk *chunk = step->chunk;
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    uint32_t group = model->head_count / model->kv_head_count / step->group_parts;
    uint32_t items_per_token = model->head_count / group;
    uint32_t token = chunk->token_count - 1 - index / items_per_token;
    uint32_t head = index % items_per_token * group;
    uint32_t kv_head = head / (model->head_count / model->kv_head_count);
    uint32_t seen = chunk->position + token + 1;
    if (chunk->layer->window != 0 && seen > chunk->layer->window)
        seen = chunk->layer->window;
    size_t at =
        cache_offset(session, chunk->layer_index, kv_head, chunk->position + token + 1 - seen);
    size_t q_at = ((size_t)token * model->head_count + head) * model->head_size;
    model->kernels->attend(session->query + q_at, session->keys + at, session->values + at,
                           session->kv_type, model->head_size, group, model->head_size, seen,
                           model->attention_scale, model->attention_cap, session->attended + q_at);
}

static void attend(struct chunk *chunk)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    struct step step = {.chunk = chunk, .item = attend_item, .group_parts = 1};
    uint32_t group = model->head_count / model->kv_head_count;
    uint32_t threads = thread_pool_count(session->pool);
    uint32_t items = chunk->token_count * model->kv_head_count;
    /* A few kv heads do not share out evenly: one item a query head then. */
    if (items < 4 * threads && items % threads != 0)
        step.group_parts = group;
    step.item_count = items * step.group_parts;
    size_t kv_bytes = (size_t)model->kv_head_count * model->head_size * 4;
    step_run(&step, kv_bytes * chunk->token_count * (chunk->position + chunk->token_count));
}

/* --- the layers --- */

/* One token's output of a block, in session->normed, joins the residual stream. */
static void residual_item(struct step *step, uint32_t index)
{
    const struct td_session *session = step->chunk->session;
    const struct td_model *model = session->model;
    size_t at = (size_t)index * model->embedding_size;
    if (step->norm_weight)
        model->kernels->rms_norm(session->normed + at, step->norm_weight, model->embedding_size,
                                 model->norm_epsilon, session->normed + at);
    add_to_hidden(model, session->hidden + at, session->normed + at, model->embedding_size);
}

static void add_residual(struct chunk *chunk, const float *norm_weight)
{
    struct step step = {.chunk = chunk,
                        .item = residual_item,
                        .item_count = chunk->token_count,
                        .norm_weight = norm_weight};
    step_run(&step, (size_t)chunk->token_count * chunk->session->model->embedding_size * 4);
}

/* The last product of a block, of rows that are prepared; normed first when the block ends with a
 * norm. */
static void project(struct chunk *chunk, const struct weight *weight, const float *norm_weight)
{
    const struct td_session *session = chunk->session;
    struct step step = {.chunk = chunk,
                        .products = {{weight, session->normed, session->model->embedding_size}},
                        .product_count = 1,
                        .token_count = chunk->token_count,
                        .add_to_hidden = norm_weight == NULL};
    step_run_products(&step);
    if (norm_weight)
        add_residual(chunk, norm_weight);
}

static void attention_block(struct chunk *chunk)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct layer *layer = chunk->layer;
    size_t q_size = (size_t)model->head_count * model->head_size;
    size_t kv_size = (size_t)model->kv_head_count * model->head_size;
    forward_prepare(chunk, session->hidden, model->embedding_size, layer->attention_norm, 0,
                    form_bit(&layer->q) | form_bit(&layer->k) | form_bit(&layer->v));
    struct step qkv = {.chunk = chunk,
                       .products = {{&layer->q, session->query, q_size},
                                    {&layer->k, session->key, kv_size},
                                    {&layer->v, session->value, kv_size}},
                       .product_count = 3,
                       .token_count = chunk->token_count};
    step_run_products(&qkv);
    struct step place = {.chunk = chunk, .item = position_item, .item_count = chunk->token_count};
    step_run(&place, (q_size + 2 * kv_size) * sizeof(float) * chunk->token_count);
    attend(chunk);
    forward_prepare(chunk, session->attended, q_size, NULL, 0, form_bit(&layer->o));
    project(chunk, &layer->o, layer->attention_output_norm);
}

/* SwiGLU or GeGLU (Shazeer 2020): down(activation(gate(x)) * up(x)). */
static void ffn_block(struct chunk *chunk)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct layer *layer = chunk->layer;
    if (layer->router.rows != 0) {
        forward_experts(chunk);
        add_residual(chunk, layer->ffn_output_norm);
        return;
    }
    forward_prepare(chunk, session->hidden, model->embedding_size, layer->ffn_norm, 0,
                    form_bit(&layer->gate) | form_bit(&layer->up));
    struct step gate_up = {.chunk = chunk,
                           .products = {{&layer->gate, session->gate, model->ffn_size},
                                        {&layer->up, session->up, model->ffn_size}},
                           .product_count = 2,
                           .token_count = chunk->token_count,
                           .gated = true};
    step_run_products(&gate_up);
    forward_prepare(chunk, session->gate, model->ffn_size, NULL, 0, form_bit(&layer->down));
    project(chunk, &layer->down, layer->ffn_output_norm);
}

/* logits [rows, vocab] of the chunk's last `rows` tokens. */
static void output_block(struct chunk *chunk, float *logits, uint32_t rows)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    uint32_t begin = chunk->token_count - rows;
    forward_prepare(chunk, session->hidden, model->embedding_size, model->output_norm, begin,
                    form_bit(&model->output));
    struct step output = {.chunk = chunk,
                          .products = {{&model->output, logits, model->vocab_count}},
                          .product_count = 1,
                          .token_begin = begin,
                          .token_count = rows,
                          .logits = true};
    step_run_products(&output);
}

static bool cancelled(const struct td_session *session)
{
    for (int i = 0; i < 2; i++)
        if (session->cancel[i] && atomic_load_explicit(session->cancel[i], memory_order_relaxed))
            return true;
    return false;
}

/* False when cancelled: the cache is then as before the chunk. */
static bool run_chunk(struct chunk *chunk, float *logits, uint32_t logit_rows)
{
    struct td_session *session = chunk->session;
    struct step embed = {.chunk = chunk, .item = embed_item, .item_count = chunk->token_count};
    step_run(&embed, (size_t)chunk->token_count * session->model->embedding_size * sizeof(float));
    for (uint32_t i = 0; i < session->model->layer_count; i++) {
        if (cancelled(session))
            return false;
        chunk->layer_index = i;
        chunk->layer = &session->model->layers[i];
        attention_block(chunk);
        ffn_block(chunk);
    }
    if (logit_rows)
        output_block(chunk, logits, logit_rows);
    memcpy(session->ids + chunk->position, chunk->ids, chunk->token_count * sizeof *chunk->ids);
    session->length = chunk->position + chunk->token_count;
    return true;
}

static enum td_status check_input(const struct td_session *session, const int32_t *ids,
                                  size_t count, const float *logits, size_t logit_rows,
                                  struct td_error *err)
{
    const struct td_model *model = session->model;
    if (logit_rows > count || (logit_rows > 0 && logits == NULL))
        return error_set(err, TD_INVALID, "%zu rows of logits asked of %zu tokens", logit_rows,
                         count);
    if (count > session->context_size - session->length)
        return error_set(err, TD_LIMIT, "%zu tokens after %u do not fit the context of %u", count,
                         session->length, session->context_size);
    for (size_t i = 0; i < count; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= model->vocab_count)
            return error_set(err, TD_INVALID, "token %zu is %d, outside the vocabulary of %u", i,
                             ids[i], model->vocab_count);
    return TD_OK;
}

enum td_status td_session_forward(struct td_session *session, const int32_t *ids, size_t count,
                                  float *logits, size_t logit_rows, struct td_error *err)
{
    enum td_status status = check_input(session, ids, count, logits, logit_rows, err);
    if (status != TD_OK)
        return status;
    uint32_t length_before = session->length;
    for (size_t done = 0; done < count;) {
        size_t tokens = count - done < SESSION_CHUNK_TOKENS ? count - done : SESSION_CHUNK_TOKENS;
        size_t first_row = count - logit_rows; /* first token with logits */
        size_t rows = done + tokens > first_row ? done + tokens - first_row : 0;
        rows = rows < tokens ? rows : tokens;
        struct chunk chunk = {.session = session,
                              .token_count = (uint32_t)tokens,
                              .position = session->length,
                              .ids = ids + done};
        if (!run_chunk(&chunk, logits, (uint32_t)rows)) {
            session->length = length_before;
            return error_set(err, TD_CANCELLED, "cancelled after %zu of %zu tokens", done, count);
        }
        logits = logits ? logits + rows * session->model->vocab_count : NULL;
        done += tokens;
    }
    return TD_OK;
}

/* The forward pass of a decoder-only transformer (Touvron et al. 2023 and kin), a chunk of tokens at a time.
 *
 * Work is cut into items that threads take from a counter: a thread that loses its core to somebody else
 * costs its share and not everybody's wait. Every item computes the same numbers whoever takes it and
 * whatever stands beside it in the chunk, so results do not depend on threads or chunking (the kernels
 * promise the same for a row and a token). Steps that need only the rows they made (residual addition,
 * SwiGLU) run inside the item, which leaves five barriers a layer. Nothing is allocated here. */
#include "engine/session.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/* Below this many weight bytes (times tokens) a step runs on the caller alone: at 10 GB/s it takes 3 us, as
 * long as telling another thread about it. */
#define SERIAL_BYTES (32u << 10)
/* Items of about this many weight bytes: long enough for the prefetcher, short enough to share fairly. */
#define ITEM_BYTES (48u << 10)
/* Rows of an item are a multiple of this, so that vector tails fall on the same elements however the rows
 * are cut. */
#define ITEM_ROWS 32u

struct chunk {
    struct td_session *session;
    const struct layer *layer;
    uint32_t layer_index;
    uint32_t token_count;
    uint32_t position;  /* of the chunk's first token */
    const int32_t *ids; /* [token_count] */
};

/* One matrix product of a step: y[t, r] = W[r] . x_t for all tokens, x prepared beforehand. */
struct product {
    const struct weight *weight;
    float *y;
    size_t y_stride;
};

struct step {
    struct chunk *chunk;
    void (*item)(struct step *step, uint32_t index);
    uint32_t item_count;
    atomic_uint next;
    /* matmul steps */
    struct product products[3];
    uint32_t product_count;
    uint32_t item_rows;
    uint32_t token_begin, token_count;
    bool add_to_hidden; /* the product is added to the residual stream */
    bool swiglu;        /* products are gate and up, cut alike */
    /* attention and per-token steps */
    uint32_t group_parts;     /* items that share a kv head of one token */
    const float *norm_weight; /* NULL: no norm, `input` is prepared as it is */
    const float *input;
    size_t input_size;
    unsigned forms; /* bit set of enum activation_form to prepare */
};

static void step_thread(void *ctx)
{
    struct step *step = ctx;
    for (uint32_t i;
         (i = atomic_fetch_add_explicit(&step->next, 1, memory_order_relaxed)) < step->item_count;)
        step->item(step, i);
}

/* bytes: weights or state that the step reads, as a measure of its work. */
static void step_run(struct step *step, size_t bytes)
{
    struct thread_pool *pool = step->chunk->session->pool;
    atomic_init(&step->next, 0);
    if (step->item_count < 2 || bytes < SERIAL_BYTES || thread_pool_count(pool) == 1)
        step_thread(step);
    else
        thread_pool_run(pool, step_thread, step);
}

/* --- matrix products ----------------------------------------------------------------------------- */

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

static void finish_rows(const struct step *step, uint32_t row_begin, uint32_t row_end)
{
    const struct td_session *session = step->chunk->session;
    const struct kernels *kernels = session->model->kernels;
    size_t rows = row_end - row_begin;
    for (uint32_t t = 0; t < step->token_count; t++) {
        float *y = step->products[0].y + t * step->products[0].y_stride + row_begin;
        if (step->add_to_hidden)
            kernels->add(session->hidden + (size_t)t * session->model->embedding_size + row_begin,
                         y, rows);
        else if (step->swiglu)
            kernels->silu_multiply(
                y, step->products[1].y + t * step->products[1].y_stride + row_begin, rows);
    }
}

/* Items run through the products' rows one matrix after the other; under swiglu one item does the same rows
 * of both. */
static void matmul_item(struct step *step, uint32_t index)
{
    uint32_t product = 0;
    for (; !step->swiglu; product++) {
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
    if (step->swiglu)
        multiply_rows(step, &step->products[1], begin, end);
    if (step->swiglu || step->add_to_hidden)
        finish_rows(step, begin, end);
}

/* Cuts and runs the products that `step` names. */
static void run_products(struct step *step)
{
    size_t bytes = 0, row_bytes = 0;
    uint32_t rows_sum = 0;
    for (uint32_t i = 0; i < step->product_count; i++) {
        const struct weight *weight = step->products[i].weight;
        bytes += (size_t)weight->rows * weight->row_bytes;
        rows_sum += weight->rows;
        row_bytes = weight->row_bytes > row_bytes ? weight->row_bytes : row_bytes;
    }
    if (step->swiglu)
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
    for (uint32_t i = 0; i < (step->swiglu ? 1 : step->product_count); i++)
        step->item_count +=
            (step->products[i].weight->rows + step->item_rows - 1) / step->item_rows;
    step_run(step, bytes * step->token_count);
}

/* --- preparing inputs ---------------------------------------------------------------------------- */

static void prepare_item(struct step *step, uint32_t index)
{
    struct td_session *session = step->chunk->session;
    const struct kernels *kernels = session->model->kernels;
    size_t token = step->token_begin + index;
    const float *x = step->input + token * step->input_size;
    if (step->norm_weight) {
        float *normed = session->normed + token * step->input_size;
        kernels->rms_norm(x, step->norm_weight, step->input_size, session->model->norm_epsilon,
                          normed);
        x = normed;
    }
    for (int form = 0; form < ACTIVATION_FORM_COUNT; form++) {
        if (!(step->forms & 1u << form))
            continue;
        size_t stride = kernels->activation_bytes((enum activation_form)form, step->input_size);
        kernels->activation_prepare((enum activation_form)form, x, step->input_size,
                                    session->activations[form] + token * stride);
    }
}

/* Brings `input` [tokens, size] (normed first when norm_weight) into the forms that the products need. */
static void prepare(struct chunk *chunk, const float *input, size_t size, const float *norm_weight,
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

static unsigned form_bit(const struct weight *weight)
{
    return 1u << weight->form;
}

/* --- embedding, rope, attention ------------------------------------------------------------------ */

static void embed_item(struct step *step, uint32_t index)
{
    const struct chunk *chunk = step->chunk;
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct weight *table = &model->embedding;
    model->kernels->dequantize(
        table->type, (const uint8_t *)table->data + (size_t)chunk->ids[index] * table->row_bytes,
        table->cols, session->hidden + (size_t)index * model->embedding_size);
    rope_angles(&model->rope, chunk->position + index,
                session->cos_sin + (size_t)index * model->rope.pair_count * 2);
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

/* Norm and rotation of `count` heads that lie behind each other. */
static void rotate_heads(const struct td_model *model, float *heads, uint32_t count,
                         const float *norm, const float *cos_sin)
{
    for (uint32_t h = 0; h < count; h++) {
        float *head = heads + (size_t)h * model->head_size;
        if (norm)
            model->kernels->rms_norm(head, norm, model->head_size, model->norm_epsilon, head);
        model->kernels->rope(head, cos_sin, (size_t)model->rope.pair_count * 2,
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
    const float *cos_sin = session->cos_sin + (size_t)index * model->rope.pair_count * 2;
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

/* Query heads of one token that share a kv head, or a part of them. Late tokens first: they are the longest,
 * and the short ones then even out the threads. */
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
    size_t at = cache_offset(session, chunk->layer_index, kv_head, 0);
    size_t q_at = ((size_t)token * model->head_count + head) * model->head_size;
    model->kernels->attend(session->query + q_at, session->keys + at, session->values + at,
                           session->kv_type, model->head_size, group, model->head_size,
                           chunk->position + token + 1, 1.0f / sqrtf((float)model->head_size), 0,
                           session->attended + q_at);
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

/* --- the layers ---------------------------------------------------------------------------------- */

static void attention_block(struct chunk *chunk)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct layer *layer = chunk->layer;
    size_t q_size = (size_t)model->head_count * model->head_size;
    size_t kv_size = (size_t)model->kv_head_count * model->head_size;
    prepare(chunk, session->hidden, model->embedding_size, layer->attention_norm, 0,
            form_bit(&layer->q) | form_bit(&layer->k) | form_bit(&layer->v));
    struct step qkv = {.chunk = chunk,
                       .products = {{&layer->q, session->query, q_size},
                                    {&layer->k, session->key, kv_size},
                                    {&layer->v, session->value, kv_size}},
                       .product_count = 3,
                       .token_count = chunk->token_count};
    run_products(&qkv);
    struct step place = {.chunk = chunk, .item = position_item, .item_count = chunk->token_count};
    step_run(&place, (q_size + 2 * kv_size) * sizeof(float) * chunk->token_count);
    attend(chunk);
    prepare(chunk, session->attended, q_size, NULL, 0, form_bit(&layer->o));
    struct step output = {.chunk = chunk,
                          .products = {{&layer->o, session->normed, model->embedding_size}},
                          .product_count = 1,
                          .token_count = chunk->token_count,
                          .add_to_hidden = true};
    run_products(&output);
}

/* SwiGLU (Shazeer 2020): down(silu(gate(x)) * up(x)). */
static void ffn_block(struct chunk *chunk)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    const struct layer *layer = chunk->layer;
    prepare(chunk, session->hidden, model->embedding_size, layer->ffn_norm, 0,
            form_bit(&layer->gate) | form_bit(&layer->up));
    struct step gate_up = {.chunk = chunk,
                           .products = {{&layer->gate, session->gate, model->ffn_size},
                                        {&layer->up, session->up, model->ffn_size}},
                           .product_count = 2,
                           .token_count = chunk->token_count,
                           .swiglu = true};
    run_products(&gate_up);
    prepare(chunk, session->gate, model->ffn_size, NULL, 0, form_bit(&layer->down));
    struct step down = {.chunk = chunk,
                        .products = {{&layer->down, session->normed, model->embedding_size}},
                        .product_count = 1,
                        .token_count = chunk->token_count,
                        .add_to_hidden = true};
    run_products(&down);
}

/* logits [rows, vocab] of the chunk's last `rows` tokens. */
static void output_block(struct chunk *chunk, float *logits, uint32_t rows)
{
    const struct td_session *session = chunk->session;
    const struct td_model *model = session->model;
    uint32_t begin = chunk->token_count - rows;
    prepare(chunk, session->hidden, model->embedding_size, model->output_norm, begin,
            form_bit(&model->output));
    struct step output = {.chunk = chunk,
                          .products = {{&model->output, logits, model->vocab_count}},
                          .product_count = 1,
                          .token_begin = begin,
                          .token_count = rows};
    run_products(&output);
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

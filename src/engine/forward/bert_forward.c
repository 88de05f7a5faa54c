/* The forward pass of an encoder (Devlin et al. 2018; Vaswani et al. 2017, section 3, norms after
 * the additions):
 *
 *   h = norm(token + type + position)                         type 1 in the second of a pair
 *   a layer:  h = norm(h + o(attention(q(h), k(h), v(h))))   every token of a text sees all of it
 *             h = norm(h + down(gelu(up(h))))                or down(silu(gate(h)) * up(h))
 *
 * The rows of all texts come one after another, so that a weight is read once for all of them. Each
 * step is a list of items that threads take from a counter. An item computes the same numbers
 * whichever thread takes it. Queries are stored head by head, keys and values in the pages of the
 * attention kernel, so that a block of a text's tokens goes through a page together. A run
 * allocates nothing. */
#include "engine/model/bert.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/memory.h"
#include "kernels/kv_page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As in a decoder's forward pass: the weights of an item stay in the first-level cache, while it
 * goes through runs of tokens whose inputs fit the second level. */
#define ITEM_BYTES (48u << 10)
#define ITEM_ROWS 32u
#define RUN_TOKENS 64u
#define QUERY_BLOCK 16u /* tokens of an attention item */
#define JOBS_MAX 3

struct row {
    int32_t id;
    uint32_t position;
    uint32_t page; /* the text's first page + position / KV_PAGE_TOKENS */
    uint32_t type; /* 0 or 1 */
};

/* Tokens of one text that attend together. */
struct query_block {
    uint32_t begin, count;     /* rows */
    uint32_t page, text_count; /* of the text: its first page and its tokens */
};

struct bert_workspace {
    const struct td_model *model;
    struct thread_pool *pool;
    uint32_t row_max, row_count, block_count;
    uint32_t page_max, page_count;
    size_t key_bytes, page_bytes; /* of one kv head's keys, and with its values, in a page */
    void *block;                  /* holds everything below */
    size_t block_bytes;
    struct row *rows;                 /* [row_max] */
    struct query_block *query_blocks; /* [row_max] */
    float *hidden;                    /* [rows, embedding] */
    float *product;                   /* [rows, embedding]: added to hidden */
    float *q, *k, *v;                 /* [rows, heads * head_size], as the products leave them */
    float *queries;                   /* [heads, row_max, head_size] */
    uint8_t *pages;                   /* [kv heads, page_max, page_bytes] */
    float *sums;                      /* [heads, row_max, value columns] */
    struct attend_state *states;      /* [heads, row_max] */
    float *gate, *up;                 /* [rows, ffn] */
    float *gathered;                  /* [rows, heads * head_size] */
    float *cos_sin;                   /* [rows, rope pairs, 2] */
    uint8_t *activations[ACTIVATION_FORM_COUNT]; /* [rows], of the widest input */
};

/* --- working memory --- */

static void carve_all(struct bert_workspace *workspace, struct carver *carver)
{
    const struct td_model *model = workspace->model;
    size_t rows = workspace->row_max, wide = model->embedding_size;
    size_t heads = (size_t)model->head_count * model->head_size;
    size_t kv_heads = (size_t)model->kv_head_count * model->head_size;
    workspace->rows = carve(carver, rows, sizeof(*workspace->rows));
    workspace->query_blocks = carve(carver, rows, sizeof(*workspace->query_blocks));
    workspace->hidden = carve(carver, rows * wide, sizeof(float));
    workspace->product = carve(carver, rows * wide, sizeof(float));
    workspace->q = carve(carver, rows * heads, sizeof(float));
    workspace->k = carve(carver, rows * kv_heads, sizeof(float));
    workspace->v = carve(carver, rows * kv_heads, sizeof(float));
    workspace->queries = carve(carver, rows * heads, sizeof(float));
    workspace->page_max = workspace->row_max / KV_PAGE_TOKENS + BERT_TEXTS_MAX;
    workspace->key_bytes = kv_keys_bytes(TD_KV_F32, model->head_size);
    workspace->page_bytes = workspace->key_bytes + kv_values_bytes(TD_KV_F32, model->head_size);
    workspace->pages =
        carve(carver, (size_t)workspace->page_max * model->kv_head_count, workspace->page_bytes);
    workspace->sums =
        carve(carver, rows * model->head_count, kv_value_columns(model->head_size) * sizeof(float));
    workspace->states = carve(carver, rows * model->head_count, sizeof(*workspace->states));
    workspace->gate = carve(carver, rows * model->ffn_size, sizeof(float));
    workspace->up = carve(carver, rows * model->ffn_size, sizeof(float));
    workspace->gathered = carve(carver, rows * heads, sizeof(float));
    workspace->cos_sin =
        carve(carver, rows * model->ropes[ROPE_GLOBAL].pair_count * 2, sizeof(float));
    size_t widest = wide > model->ffn_size ? wide : model->ffn_size;
    widest = heads > widest ? heads : widest;
    widest = (widest + 255) / 256 * 256; /* whole blocks of the widest form */
    for (int form = 0; form < ACTIVATION_FORM_COUNT; form++)
        workspace->activations[form] = carve(
            carver, rows, model->kernels->activation_bytes((enum activation_form)form, widest));
}

uint64_t bert_workspace_bytes(const struct td_model *model, uint32_t row_max)
{
    struct bert_workspace workspace = {.model = model, .row_max = row_max};
    struct carver carver = {0};
    carve_all(&workspace, &carver);
    return carver.overflow ? UINT64_MAX : carver.used;
}

enum td_status bert_workspace_new(const struct td_model *model, uint32_t row_max,
                                  struct thread_pool *pool, struct bert_workspace **out,
                                  struct td_error *err)
{
    ASSERT(model->encoder != NULL && row_max > 0);
    ASSERT(pool != NULL && out != NULL);
    *out = NULL;
    uint64_t bytes = bert_workspace_bytes(model, row_max);
    struct bert_workspace *workspace = calloc(1, sizeof(*workspace));
    if (workspace == NULL || bytes > SIZE_MAX / 2) {
        free(workspace);
        return error_set(err, TD_NO_MEMORY, "no memory for texts of %u tokens", row_max);
    }
    *workspace = (struct bert_workspace){
        .model = model, .pool = pool, .row_max = row_max, .block_bytes = (size_t)bytes};
    workspace->block = memory_map(bytes);
    if (workspace->block == NULL) {
        free(workspace);
        return error_set(err, TD_NO_MEMORY, "no memory for texts of %u tokens: %.0f MiB", row_max,
                         (double)bytes / 1048576.0);
    }
    struct carver carver = {.base = workspace->block};
    carve_all(workspace, &carver);
    *out = workspace;
    return TD_OK;
}

void bert_workspace_free(struct bert_workspace *workspace)
{
    if (workspace == NULL)
        return;
    memory_unmap(workspace->block, workspace->block_bytes);
    free(workspace);
}

/* --- steps --- */

struct job {
    const struct bert_linear *linear;
    float *y; /* [rows, rows of the weight] */
    uint32_t item_rows;
};

struct step {
    struct bert_workspace *workspace;
    const struct bert_layer *layer;
    void (*item)(const struct step *step, uint32_t index);
    uint32_t item_count;
    atomic_uint next;
    struct job jobs[JOBS_MAX];
    uint32_t job_count;
    const struct bert_norm *norm; /* applied to a row of product + hidden */
    const float *bias;            /* of that product */
    unsigned forms;               /* bit set of enum activation_form that the next products read */
};

static void step_thread(void *ctx)
{
    struct step *step = ctx;
    for (uint32_t i;
         (i = atomic_fetch_add_explicit(&step->next, 1, memory_order_relaxed)) < step->item_count;)
        step->item(step, i);
}

static void step_run(struct step *step, void (*item)(const struct step *, uint32_t), uint32_t count)
{
    step->item = item;
    step->item_count = count;
    atomic_init(&step->next, 0);
    if (count < 2 || thread_pool_count(step->workspace->pool) == 1)
        step_thread(step);
    else
        thread_pool_run(step->workspace->pool, step_thread, step);
}

static unsigned form_bit(const struct bert_linear *linear)
{
    return linear->weight.rows ? 1u << linear->weight.form : 0;
}

static void prepare(const struct bert_workspace *workspace, const float *x, size_t size,
                    unsigned forms, uint32_t row)
{
    const struct kernels *kernels = workspace->model->kernels;
    for (int form = 0; form < ACTIVATION_FORM_COUNT; form++) {
        if (!(forms & 1u << form))
            continue;
        size_t stride = kernels->activation_bytes((enum activation_form)form, size);
        kernels->activation_prepare((enum activation_form)form, x, size,
                                    workspace->activations[form] + row * stride);
    }
}

static uint32_t job_items(const struct job *job)
{
    return (job->linear->weight.rows + job->item_rows - 1) / job->item_rows;
}

static void product_item(const struct step *step, uint32_t index)
{
    const struct bert_workspace *workspace = step->workspace;
    const struct kernels *kernels = workspace->model->kernels;
    const struct job *job = step->jobs;
    for (; index >= job_items(job); job++)
        index -= job_items(job);
    const struct weight *weight = &job->linear->weight;
    uint32_t begin = index * job->item_rows;
    uint32_t end = weight->rows - begin < job->item_rows ? weight->rows : begin + job->item_rows;
    size_t stride = kernels->activation_bytes(weight->form, weight->cols);
    for (uint32_t row = 0; row < workspace->row_count; row += RUN_TOKENS) {
        uint32_t left = workspace->row_count - row;
        kernels->matmul(weight->type, weight->data, weight->row_bytes, weight->cols, begin, end,
                        workspace->activations[weight->form] + row * stride, stride,
                        left < RUN_TOKENS ? left : RUN_TOKENS, job->y + (size_t)row * weight->rows,
                        weight->rows);
    }
}

static void run_products(struct step *step)
{
    uint32_t items = 0, threads = thread_pool_count(step->workspace->pool);
    for (uint32_t i = 0; i < step->job_count; i++) {
        struct job *job = &step->jobs[i];
        uint32_t rows = (uint32_t)(ITEM_BYTES / job->linear->weight.row_bytes);
        uint32_t fair = job->linear->weight.rows / (threads * 4); /* four items for each thread */
        rows = rows < fair || fair == 0 ? rows : fair;
        job->item_rows = (rows + ITEM_ROWS - 1) / ITEM_ROWS * ITEM_ROWS;
        if (job->item_rows == 0)
            job->item_rows = ITEM_ROWS;
        items += job_items(job);
    }
    step_run(step, product_item, items);
}

/* --- the parts of a layer --- */

static void embed_item(const struct step *step, uint32_t index)
{
    const struct bert_workspace *workspace = step->workspace;
    const struct td_model *model = workspace->model;
    const struct bert *bert = model->encoder;
    const struct kernels *kernels = model->kernels;
    const struct row *row = &workspace->rows[index];
    size_t wide = model->embedding_size;
    float *hidden = workspace->hidden + index * wide, *part = workspace->product + index * wide;
    const struct weight *tables[] = {&model->embedding, &bert->types, &bert->positions};
    const uint32_t places[] = {(uint32_t)row->id, row->type, row->position};
    for (int i = 0; i < 3; i++) {
        const struct weight *table = tables[i];
        if (table->rows == 0)
            continue;
        const uint8_t *data = (const uint8_t *)table->data + places[i] * table->row_bytes;
        kernels->dequantize(table->type, data, table->cols, i == 0 ? hidden : part);
        if (i > 0)
            kernels->add(hidden, part, wide);
    }
    kernels->layer_norm(hidden, bert->embedding_norm.weight, bert->embedding_norm.bias, wide,
                        model->norm_epsilon, hidden);
    prepare(workspace, hidden, wide, step->forms, index);
    if (bert->positions.rows == 0)
        rope_angles(&model->ropes[ROPE_GLOBAL], row->position,
                    workspace->cos_sin + (size_t)index * model->ropes[ROPE_GLOBAL].pair_count * 2);
}

static void add_bias(const struct bert_workspace *workspace, float *row,
                     const struct bert_linear *linear)
{
    if (linear->bias)
        workspace->model->kernels->add(row, linear->bias, linear->weight.rows);
}

/* Rotates the heads of a row by the angles of its position, if the model has rope. */
static void turn_heads(const struct bert_workspace *workspace, float *heads, uint32_t count,
                       uint32_t row)
{
    const struct td_model *model = workspace->model;
    size_t pairs = model->ropes[ROPE_GLOBAL].pair_count;
    for (uint32_t h = 0; model->encoder->positions.rows == 0 && h < count; h++)
        model->kernels->rope(heads + (size_t)h * model->head_size,
                             workspace->cos_sin + row * pairs * 2, pairs * 2,
                             model->architecture->rope_interleaved);
}

static uint8_t *page_keys(const struct bert_workspace *workspace, uint32_t kv_head, uint32_t page)
{
    return workspace->pages +
           ((size_t)kv_head * workspace->page_max + page) * workspace->page_bytes;
}

/* Copies the queries, keys and values of a row to where attention reads them. */
static void place_item(const struct step *step, uint32_t index)
{
    const struct bert_workspace *workspace = step->workspace;
    const struct bert_layer *layer = step->layer;
    const struct td_model *model = workspace->model;
    const struct row *row = &workspace->rows[index];
    size_t size = model->head_size;
    float *q = workspace->q + (size_t)index * layer->q.weight.rows;
    float *k = workspace->k + (size_t)index * layer->k.weight.rows;
    float *v = workspace->v + (size_t)index * layer->v.weight.rows;
    add_bias(workspace, q, &layer->q);
    add_bias(workspace, k, &layer->k);
    add_bias(workspace, v, &layer->v);
    turn_heads(workspace, q, model->head_count, index);
    turn_heads(workspace, k, model->kv_head_count, index);
    for (uint32_t h = 0; h < model->head_count; h++)
        memcpy(workspace->queries + ((size_t)h * workspace->row_max + index) * size, q + h * size,
               size * sizeof(float));
    for (uint32_t h = 0; h < model->kv_head_count; h++) {
        uint8_t *keys = page_keys(workspace, h, row->page + row->position / KV_PAGE_TOKENS);
        model->kernels->kv_store(k + h * size, v + h * size, size, TD_KV_F32,
                                 row->position % KV_PAGE_TOKENS, keys, keys + workspace->key_bytes);
    }
}

/* Attention of one head for a block of a text's tokens, over all pages of the text. */
static void attend_item(const struct step *step, uint32_t index)
{
    const struct bert_workspace *workspace = step->workspace;
    const struct td_model *model = workspace->model;
    const struct query_block *block = &workspace->query_blocks[index / model->head_count];
    uint32_t head = index % model->head_count;
    uint32_t kv_head = head / (model->head_count / model->kv_head_count);
    size_t at = (size_t)head * workspace->row_max + block->begin;
    size_t columns = kv_value_columns(model->head_size);
    struct attend_task task = {.kv_type = TD_KV_F32,
                               .head_size = model->head_size,
                               .scale = model->attention_scale,
                               .q = workspace->queries + at * model->head_size,
                               .rows = block->count,
                               .states = workspace->states + at,
                               .sums = workspace->sums + at * columns};
    memset(task.sums, 0, block->count * columns * sizeof(float));
    for (uint32_t row = 0; row < block->count; row++)
        task.states[row] = (struct attend_state){-INFINITY, 0};
    for (uint32_t done = 0; done < block->text_count; done += KV_PAGE_TOKENS) {
        uint32_t left = block->text_count - done, page = block->page + done / KV_PAGE_TOKENS;
        task.keys = page_keys(workspace, kv_head, page);
        task.values = (const uint8_t *)task.keys + workspace->key_bytes;
        task.next_keys = left > KV_PAGE_TOKENS ? page_keys(workspace, kv_head, page + 1) : NULL;
        task.end = left < KV_PAGE_TOKENS ? left : KV_PAGE_TOKENS;
        model->kernels->attend(&task);
    }
}

static void gather_item(const struct step *step, uint32_t index)
{
    const struct bert_workspace *workspace = step->workspace;
    const struct td_model *model = workspace->model;
    size_t size = model->head_size, wide = (size_t)model->head_count * size;
    float *row = workspace->gathered + index * wide;
    for (uint32_t h = 0; h < model->head_count; h++) {
        size_t at = (size_t)h * workspace->row_max + index;
        memcpy(row + h * size, workspace->sums + at * kv_value_columns(size), size * sizeof(float));
        model->kernels->scale(row + h * size, 1.0f / workspace->states[at].total, size);
    }
    prepare(workspace, row, wide, step->forms, index);
}

/* hidden = norm(hidden + product + bias) */
static void norm_item(const struct step *step, uint32_t index)
{
    const struct bert_workspace *workspace = step->workspace;
    const struct td_model *model = workspace->model;
    size_t wide = model->embedding_size;
    float *hidden = workspace->hidden + index * wide;
    if (step->bias)
        model->kernels->add(hidden, step->bias, wide);
    model->kernels->add(hidden, workspace->product + index * wide, wide);
    model->kernels->layer_norm(hidden, step->norm->weight, step->norm->bias, wide,
                               model->norm_epsilon, hidden);
    prepare(workspace, hidden, wide, step->forms, index);
}

static void activate_item(const struct step *step, uint32_t index)
{
    const struct bert_workspace *workspace = step->workspace;
    const struct bert_layer *layer = step->layer;
    const struct kernels *kernels = workspace->model->kernels;
    size_t ffn = workspace->model->ffn_size;
    float *up = workspace->up + index * ffn, *gate = workspace->gate + index * ffn, *x = up;
    if (layer->up.bias)
        kernels->add(up, layer->up.bias, ffn);
    if (layer->gate.weight.rows == 0) {
        kernels->gelu(up, ffn);
    } else {
        if (layer->gate.bias)
            kernels->add(gate, layer->gate.bias, ffn);
        kernels->silu_multiply(gate, up, ffn);
        x = gate;
    }
    prepare(workspace, x, ffn, step->forms, index);
}

static unsigned input_forms(const struct bert_layer *layer)
{
    return form_bit(&layer->q) | form_bit(&layer->k) | form_bit(&layer->v);
}

/* forms_after: the forms that the next layer's products read. */
static void run_layer(struct bert_workspace *workspace, const struct bert_layer *layer,
                      unsigned forms_after)
{
    uint32_t rows = workspace->row_count;
    struct step step = {.workspace = workspace, .layer = layer};
    step.jobs[0] = (struct job){&layer->q, workspace->q, 0};
    step.jobs[1] = (struct job){&layer->k, workspace->k, 0};
    step.jobs[2] = (struct job){&layer->v, workspace->v, 0};
    step.job_count = 3;
    run_products(&step);
    step_run(&step, place_item, rows);
    step_run(&step, attend_item, workspace->block_count * workspace->model->head_count);
    step.forms = form_bit(&layer->o);
    step_run(&step, gather_item, rows);

    step.jobs[0] = (struct job){&layer->o, workspace->product, 0};
    step.job_count = 1;
    run_products(&step);
    step.norm = &layer->attention_norm;
    step.bias = layer->o.bias;
    step.forms = form_bit(&layer->up) | form_bit(&layer->gate);
    step_run(&step, norm_item, rows);

    step.jobs[0] = (struct job){&layer->up, workspace->up, 0};
    step.jobs[1] = (struct job){&layer->gate, workspace->gate, 0};
    step.job_count = layer->gate.weight.rows ? 2 : 1;
    run_products(&step);
    step.forms = form_bit(&layer->down);
    step_run(&step, activate_item, rows);

    step.jobs[0] = (struct job){&layer->down, workspace->product, 0};
    step.job_count = 1;
    run_products(&step);
    step.norm = &layer->output_norm;
    step.bias = layer->down.bias;
    step.forms = forms_after;
    step_run(&step, norm_item, rows);
}

/* --- a run --- */

static enum td_status place_text(struct bert_workspace *workspace, const struct bert_text *text,
                                 size_t number, struct td_error *err)
{
    const struct td_model *model = workspace->model;
    uint32_t begin = workspace->row_count;
    if (text->count == 0)
        return error_set(err, TD_INVALID, "text %zu has no tokens", number);
    if (text->count > model->context_size)
        return error_set(err, TD_LIMIT, "text %zu has %u tokens; the model reads at most %u",
                         number, text->count, model->context_size);
    if (text->count > workspace->row_max - begin)
        return error_set(err, TD_LIMIT, "texts of more than %u tokens together",
                         workspace->row_max);
    for (uint32_t i = 0; i < text->count; i++) {
        if (text->ids[i] < 0 || (uint32_t)text->ids[i] >= model->vocab_count)
            return error_set(err, TD_INVALID,
                             "text %zu, token %u is %d, outside the vocabulary of %u", number, i,
                             text->ids[i], model->vocab_count);
        workspace->rows[begin + i] = (struct row){text->ids[i], i, workspace->page_count,
                                                  text->second != 0 && i >= text->second &&
                                                      workspace->model->encoder->types.rows > 1};
    }
    for (uint32_t at = 0; at < text->count; at += QUERY_BLOCK) {
        uint32_t left = text->count - at;
        workspace->query_blocks[workspace->block_count++] =
            (struct query_block){.begin = begin + at,
                                 .count = left < QUERY_BLOCK ? left : QUERY_BLOCK,
                                 .page = workspace->page_count,
                                 .text_count = text->count};
    }
    workspace->row_count += text->count;
    workspace->page_count += (text->count + KV_PAGE_TOKENS - 1) / KV_PAGE_TOKENS;
    return TD_OK;
}

enum td_status bert_run(struct bert_workspace *workspace, const struct bert_text *texts,
                        size_t text_count, const atomic_bool *cancel, const float **out,
                        struct td_error *err)
{
    ASSERT(texts != NULL || text_count == 0);
    ASSERT(out != NULL);
    const struct td_model *model = workspace->model;
    const struct bert *bert = model->encoder;
    *out = NULL;
    workspace->row_count = workspace->block_count = workspace->page_count = 0;
    if (text_count > BERT_TEXTS_MAX)
        return error_set(err, TD_LIMIT, "%zu texts at once; at most %d", text_count,
                         BERT_TEXTS_MAX);
    for (size_t i = 0; i < text_count; i++) {
        enum td_status status = place_text(workspace, &texts[i], i, err);
        if (status != TD_OK)
            return status;
    }
    struct step embed = {.workspace = workspace, .forms = input_forms(&bert->layers[0])};
    step_run(&embed, embed_item, workspace->row_count);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        if (cancel && atomic_load_explicit(cancel, memory_order_relaxed))
            return error_set(err, TD_CANCELLED, "cancelled after %u layers", i);
        bool last = i + 1 == model->layer_count;
        run_layer(workspace, &bert->layers[i], last ? 0 : input_forms(&bert->layers[i + 1]));
    }
    *out = workspace->hidden;
    return TD_OK;
}

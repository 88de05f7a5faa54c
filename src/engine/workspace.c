/* Sizing and opening of working memory. The block is mapped, not allocated: rows that are never
 * used never cost memory. */
#include "engine/workspace.h"

#include "base/error.h"
#include "engine/adapter.h"
#include "engine/memory.h"

#include <stdlib.h>

#define BLOCK_ALIGN 64 /* a cache line, and the widest vector */

/* Hands out pieces of the block; with base NULL it only counts. */
struct carver {
    uint8_t *base;
    size_t used;
    bool overflow;
};

static void *carve(struct carver *carver, size_t count, size_t element_bytes)
{
    size_t bytes, begin = carver->used;
    if (__builtin_mul_overflow(count, element_bytes, &bytes) ||
        __builtin_add_overflow(bytes, BLOCK_ALIGN - 1, &bytes) ||
        __builtin_add_overflow(begin, bytes / BLOCK_ALIGN * BLOCK_ALIGN, &carver->used))
        carver->overflow = true;
    return carver->base && !carver->overflow ? carver->base + begin : NULL;
}

static void carve_experts(struct workspace *workspace, struct carver *carver)
{
    const struct td_model *model = workspace->model;
    struct workspace_experts *experts = &workspace->experts;
    size_t rows = workspace->row_max, count = model->expert_count;
    size_t pairs = rows * model->expert_used_count;
    if (count == 0)
        return;
    experts->scores = carve(carver, rows * count, sizeof(float));
    experts->weights = carve(carver, pairs, sizeof(float));
    experts->chosen = carve(carver, pairs, sizeof(uint32_t));
    experts->place_of = carve(carver, pairs, sizeof(uint32_t));
    experts->row_of = carve(carver, pairs, sizeof(uint32_t));
    experts->first_place = carve(carver, count + 1, sizeof(uint32_t));
    experts->active = carve(carver, count, sizeof(uint32_t));
    experts->output = carve(carver, pairs * model->embedding_size, sizeof(float));
}

/* `rows`: of inputs that are prepared at the same time. */
static void carve_activations(struct workspace *workspace, struct carver *carver, size_t rows)
{
    const struct td_model *model = workspace->model;
    size_t widest = model->embedding_size, heads = (size_t)model->head_count * model->head_size;
    widest = model->ffn_size > widest ? model->ffn_size : widest;
    widest = heads > widest ? heads : widest;
    widest = (widest + 255) / 256 * 256; /* whole blocks of the widest form */
    rows = (rows + KERNELS_PANEL_TOKENS - 1) / KERNELS_PANEL_TOKENS * KERNELS_PANEL_TOKENS;
    for (int form = 0; form < ACTIVATION_FORM_COUNT; form++)
        workspace->activations[form] = carve(
            carver, rows, model->kernels->activation_bytes((enum activation_form)form, widest));
}

static void carve_all(struct workspace *workspace, struct carver *carver)
{
    const struct td_model *model = workspace->model;
    size_t rows = workspace->row_max;
    size_t heads = (size_t)model->head_count * model->head_size;
    size_t kv_heads = (size_t)model->kv_head_count * model->head_size;
    workspace->rows = carve(carver, rows, sizeof *workspace->rows);
    workspace->output_rows = carve(carver, rows, sizeof *workspace->output_rows);
    workspace->hidden = carve(carver, rows * model->embedding_size, sizeof(float));
    workspace->normed = carve(carver, rows * model->embedding_size, sizeof(float));
    workspace->query = carve(carver, rows * heads, sizeof(float));
    workspace->key = carve(carver, rows * kv_heads, sizeof(float));
    workspace->value = carve(carver, rows * kv_heads, sizeof(float));
    workspace->attended = carve(carver, rows * heads, sizeof(float));
    size_t ffn_rows = rows * (model->expert_count ? model->expert_used_count : 1);
    workspace->gate = carve(carver, ffn_rows * model->ffn_size, sizeof(float));
    workspace->up = carve(carver, ffn_rows * model->ffn_size, sizeof(float));
    for (int i = 0; i < 2; i++)
        workspace->cos_sin[i] =
            carve(carver, rows * model->ropes[ROPE_GLOBAL].pair_count * 2, sizeof(float));
    carve_activations(workspace, carver, ffn_rows);
    workspace->input_max = ffn_rows;
    workspace->reduced = carve(carver, 3 * ffn_rows * ADAPTER_SET_WIDTH_MAX, sizeof(float));
    carve_experts(workspace, carver);
    workspace->logits =
        carve(carver, (size_t)workspace->logit_row_max * model->vocab_count, sizeof(float));
    workspace->candidates = carve(carver, model->vocab_count, sizeof *workspace->candidates);
}

static void apply_options(struct workspace *workspace, const struct workspace_options *options)
{
    workspace->row_max = options->row_max ? options->row_max : WORKSPACE_ROWS_DEFAULT;
    workspace->logit_row_max = options->logit_row_max;
}

uint64_t workspace_bytes(const struct td_model *model, const struct workspace_options *options)
{
    struct workspace workspace = {.model = model};
    struct carver carver = {0};
    apply_options(&workspace, options);
    carve_all(&workspace, &carver);
    return carver.overflow ? UINT64_MAX : carver.used;
}

enum td_status workspace_new(const struct td_model *model, const struct workspace_options *options,
                             struct thread_pool *threads, struct workspace **out,
                             struct td_error *err)
{
    *out = NULL;
    struct workspace *workspace = calloc(1, sizeof *workspace);
    if (workspace == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a workspace");
    workspace->model = model;
    workspace->threads = threads;
    apply_options(workspace, options);
    workspace->block_bytes = workspace_bytes(model, options);
    workspace->block = memory_map(workspace->block_bytes);
    if (workspace->block == NULL) {
        workspace_free(workspace);
        return error_set(err, TD_NO_MEMORY, "no memory for a workspace of %u rows",
                         options->row_max);
    }
    struct carver carver = {.base = workspace->block};
    carve_all(workspace, &carver);
    *out = workspace;
    return TD_OK;
}

void workspace_free(struct workspace *workspace)
{
    if (workspace == NULL)
        return;
    memory_unmap(workspace->block, workspace->block_bytes);
    free(workspace);
}

/* Sizes and opens working memory. carve_all lists everything once: it first counts the bytes and
 * then gives out the pieces, so the two cannot disagree. The block is mapped: rows that are never
 * used take no memory. */
#include "engine/forward/workspace.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "engine/model/adapter.h"
#include "engine/model/memory.h"
#include "kernels/kv_page.h"

#include <stdlib.h>

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

/* Queries of a tile: enough to make the conversion of a page to float cheap, and few enough that
 * they, their sums and the page stay in the second-level cache. */
#define TILE_QUERIES 96
#define TILE_TOKENS_MAX 64
/* Threads may share the spans of this many rows. More rows make enough items without that. */
#define SHARED_ROWS_MAX 4

static void carve_attention(struct workspace *workspace, struct carver *carver)
{
    const struct td_model *model = workspace->model;
    struct workspace_attention *attention = &workspace->attention;
    size_t rows = workspace->row_max, columns = kv_value_columns(model->head_size);
    uint32_t group = model->group_max;
    uint32_t tokens = group < TILE_QUERIES ? TILE_QUERIES / group : 1;
    attention->tile_tokens = tokens < TILE_TOKENS_MAX ? tokens : TILE_TOKENS_MAX;
    attention->spans_max = workspace->context_tokens / SPAN_TOKENS + 1;
    attention->shared_rows_max =
        workspace->row_max < SHARED_ROWS_MAX ? workspace->row_max : SHARED_ROWS_MAX;
    attention->tiles = carve(carver, rows, sizeof *attention->tiles);
    attention->runs = carve(carver, rows, sizeof *attention->runs);
    attention->leased = carve(carver, workspace->thread_count, sizeof *attention->leased);
    size_t queries = (size_t)attention->tile_tokens * group;
    size_t floats = (model->head_size + columns) * KV_PAGE_TOKENS +
                    queries * (model->head_size + 2 * columns + 4);
    attention->scratch_floats = (floats + 15) / 16 * 16;
    attention->scratch =
        carve(carver, workspace->thread_count * attention->scratch_floats, sizeof(float));
    size_t places = (size_t)attention->shared_rows_max * model->kv_head_count;
    attention->done = carve(carver, places, sizeof *attention->done);
    attention->partials =
        carve(carver, places * attention->spans_max * group * (columns + 2), sizeof(float));
}

/* rows: how many inputs are prepared at the same time. */
static void carve_activations(struct workspace *workspace, struct carver *carver, size_t rows)
{
    const struct td_model *model = workspace->model;
    size_t widest = model->embedding_size, heads = model->query_width;
    widest = model->ffn_size > widest ? model->ffn_size : widest;
    widest = model->dense_ffn_size > widest ? model->dense_ffn_size : widest;
    widest = model->shared_ffn_size > widest ? model->shared_ffn_size : widest;
    widest = heads > widest ? heads : widest;
    widest = model->layer_input_size > widest ? model->layer_input_size : widest;
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
    size_t heads = model->query_width, kv_heads = model->key_width;
    workspace->rows = carve(carver, rows, sizeof *workspace->rows);
    workspace->output_rows = carve(carver, rows, sizeof *workspace->output_rows);
    if (model->ssm_count != 0)
        workspace->parts = carve(carver, rows, sizeof *workspace->parts);
    workspace->hidden = carve(carver, rows * model->embedding_size, sizeof(float));
    workspace->normed = carve(carver, rows * model->embedding_size, sizeof(float));
    workspace->query = carve(carver, rows * heads, sizeof(float));
    workspace->key = carve(carver, rows * kv_heads, sizeof(float));
    workspace->value = carve(carver, rows * kv_heads, sizeof(float));
    workspace->attended = carve(carver, rows * heads, sizeof(float));
    size_t ffn_rows = rows * (model->expert_count ? model->expert_used_count : 1);
    size_t ffn = ffn_rows * model->ffn_size, dense = rows * model->dense_ffn_size;
    size_t shared = rows * model->shared_ffn_size, inputs = rows * model->layer_input_size;
    dense = shared > dense ? shared : dense;
    dense = inputs > dense ? inputs : dense;
    workspace->gate = carve(carver, dense > ffn ? dense : ffn, sizeof(float));
    workspace->up = carve(carver, dense > ffn ? dense : ffn, sizeof(float));
    for (int i = 0; i < 2; i++)
        workspace->cos_sin[i] =
            carve(carver, rows * model->ropes[i ? ROPE_LOCAL : ROPE_GLOBAL].pair_count * 2,
                  sizeof(float));
    workspace->layer_inputs = carve(carver, inputs * model->layer_count, sizeof(float));
    workspace->layer_tokens = carve(carver, inputs * model->layer_count, sizeof(float));
    carve_activations(workspace, carver, ffn_rows);
    workspace->input_max = ffn_rows;
    if (!workspace->bare)
        workspace->reduced = carve(carver, 3 * ffn_rows * ADAPTER_SET_WIDTH_MAX, sizeof(float));
    carve_attention(workspace, carver);
    carve_experts(workspace, carver);
    workspace->logits =
        carve(carver, (size_t)workspace->logit_row_max * model->vocab_count, sizeof(float));
    workspace->candidates = carve(carver, model->vocab_count, sizeof *workspace->candidates);
}

static void apply_options(struct workspace *workspace, const struct workspace_options *options,
                          uint32_t thread_count)
{
    workspace->thread_count = thread_count;
    workspace->row_max = options->row_max ? options->row_max : WORKSPACE_ROWS_DEFAULT;
    workspace->logit_row_max = options->logit_row_max;
    workspace->context_tokens =
        options->context_tokens ? options->context_tokens : workspace->model->context_size;
}

uint64_t workspace_bytes(const struct td_model *model, const struct workspace_options *options,
                         uint32_t thread_count)
{
    struct workspace workspace = {.model = model};
    struct carver carver = {0};
    apply_options(&workspace, options, thread_count);
    workspace.bare = options->bare;
    carve_all(&workspace, &carver);
    return carver.overflow ? UINT64_MAX : carver.used;
}

enum td_status workspace_new(const struct td_model *model, const struct workspace_options *options,
                             struct thread_pool *threads, struct workspace **out,
                             struct td_error *err)
{
    ASSERT(threads != NULL && out != NULL);
    *out = NULL;
    struct workspace *workspace = calloc(1, sizeof *workspace);
    if (workspace == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a workspace");
    workspace->model = model;
    workspace->threads = threads;
    apply_options(workspace, options, thread_pool_count(threads));
    workspace->block_bytes = workspace_bytes(model, options, workspace->thread_count);
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

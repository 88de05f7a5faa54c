/* Attention over pages. The work is cut into tiles (consecutive tokens of one sequence) times kv
 * heads. The queries of a tile go through the pages together: with many queries a page is converted
 * to float once for all of them.
 *
 * The softmax of a row runs over spans of SPAN_TOKENS positions, counted from the first position of
 * the sequence. Each span is computed alone, then the spans are joined in order. So threads can
 * share the spans of a few long rows (decoding) and get the same bits as one tile that walks
 * through all of them. Nothing depends on threads, tiles or batches. Within a span, pages go
 * upward. Positions that a row does not see (causality, a sliding window) are left out instead of
 * masked, so their content cannot matter. Pages outside a layer's window are not read. */
#include "engine/forward/attention.h"

#include "base/core/assertion.h"

#include <math.h>
#include <string.h>

/* With at least this many queries a page is first converted to float. Halves are converted quickly
 * for six queries at a time, so that pays later. */
#define LOAD_ROWS_MIN 8
#define LOAD_ROWS_MIN_F16 24
/* With fewer items for each thread, threads share the spans of a row. */
#define FAIR_ITEMS 4

struct range {
    uint32_t begin, end;
};

/* One tile and kv head on one thread. */
struct tile {
    const struct batch *batch;
    const struct sequence *sequence;
    const struct workspace_span *span; /* the rows of the tile */
    uint32_t kv_head, group;
    float *q;             /* [rows, head_size] */
    float *keys, *values; /* a page as float */
};

struct softmax {
    struct attend_state *states; /* [rows] */
    float *sums;                 /* [rows, columns] */
};

static size_t columns_of(const struct tile *tile)
{
    return kv_value_columns(tile->batch->layer->head_size);
}

/* The positions that a token of the tile sees. */
static struct range seen_by(const struct tile *tile, uint32_t token)
{
    uint32_t position = tile->batch->workspace->rows[tile->span->row + token].position;
    uint32_t window = tile->batch->layer->window;
    bool cut = window != 0 && position + 1 > window;
    return (struct range){cut ? position + 1 - window : 0, position + 1};
}

/* The part of [begin, end) that a token sees, counted from `begin`. Empty: begin == end. */
static struct range seen_of(const struct tile *tile, uint32_t token, uint32_t begin, uint32_t end)
{
    struct range seen = seen_by(tile, token);
    seen.begin = seen.begin > begin ? seen.begin : begin;
    seen.end = seen.end < end ? seen.end : end;
    if (seen.begin >= seen.end)
        return (struct range){0, 0};
    return (struct range){seen.begin - begin, seen.end - begin};
}

static void clear(const struct tile *tile, struct softmax *softmax)
{
    size_t rows = (size_t)tile->span->count * tile->group;
    for (size_t row = 0; row < rows; row++)
        softmax->states[row] = (struct attend_state){-INFINITY, 0};
    memset(softmax->sums, 0, rows * columns_of(tile) * sizeof *softmax->sums);
}

/* Attends to one page. Tokens that see the same part of it go together. */
static void attend_page(const struct tile *tile, uint32_t page, uint32_t begin, uint32_t end,
                        const struct softmax *softmax)
{
    const struct td_model *model = tile->batch->workspace->model;
    const struct sequence *sequence = tile->sequence;
    const struct kv_pool *pool = sequence->pool;
    uint32_t layer = tile->batch->layer_index, count = tile->span->count;
    size_t head_size = tile->batch->layer->head_size;
    bool more = page + 1 < sequence->page_count;
    struct attend_task task = {
        .keys = kv_page_keys(pool, sequence->pages[page], layer, tile->kv_head),
        .values = kv_page_values(pool, sequence->pages[page], layer, tile->kv_head),
        .next_keys =
            more ? kv_page_keys(pool, sequence->pages[page + 1], layer, tile->kv_head) : NULL,
        .kv_type = pool->kv_type,
        .head_size = head_size,
        .scale = model->attention_scale,
        .cap = model->attention_cap};
    uint32_t least = pool->kv_type == TD_KV_F16 ? LOAD_ROWS_MIN_F16 : LOAD_ROWS_MIN;
    bool many = count * tile->group >= least && pool->kv_type != TD_KV_F32;
    if (many || !kv_type_is_read_directly(pool->kv_type)) {
        uint32_t last = seen_of(tile, count - 1, begin, end).end;
        model->kernels->kv_load(pool->kv_type, task.keys, task.values, head_size,
                                last ? last : end - begin, tile->keys, tile->values);
        task.keys = tile->keys;
        task.values = tile->values;
        task.kv_type = TD_KV_F32;
    }
    for (uint32_t token = 0, same; token < count; token = same) {
        struct range seen = seen_of(tile, token, begin, end);
        for (same = token + 1; same < count; same++) {
            struct range other = seen_of(tile, same, begin, end);
            if (other.begin != seen.begin || other.end != seen.end)
                break;
        }
        if (seen.begin == seen.end)
            continue;
        size_t row = (size_t)token * tile->group;
        task.begin = seen.begin;
        task.end = seen.end;
        task.q = tile->q + row * head_size;
        task.rows = (size_t)(same - token) * tile->group;
        task.states = softmax->states + row;
        task.sums = softmax->sums + row * columns_of(tile);
        model->kernels->attend(&task);
    }
}

/* Computes the softmax of one span alone. */
static void attend_span(const struct tile *tile, uint32_t span, struct softmax *softmax)
{
    uint32_t begin = span * SPAN_TOKENS, end = begin + SPAN_TOKENS;
    uint32_t first = seen_by(tile, 0).begin, last = seen_by(tile, tile->span->count - 1).end;
    begin = first > begin ? first / KV_PAGE_TOKENS * KV_PAGE_TOKENS : begin;
    end = last < end ? last : end;
    clear(tile, softmax);
    for (uint32_t at = begin; at < end; at += KV_PAGE_TOKENS)
        attend_page(tile, at / KV_PAGE_TOKENS, at,
                    end - at < KV_PAGE_TOKENS ? end : at + KV_PAGE_TOKENS, softmax);
}

/* Joins a span to those before it, with the same rescaling as between pages. */
static void join_span(const struct tile *tile, const struct softmax *span, struct softmax *so_far)
{
    const struct td_model *model = tile->batch->workspace->model;
    size_t columns = columns_of(tile), rows = (size_t)tile->span->count * tile->group;
    for (size_t row = 0; row < rows; row++) {
        struct attend_state *state = &so_far->states[row], next = span->states[row];
        float *sums = so_far->sums + row * columns;
        const float *more = span->sums + row * columns;
        if (next.total == 0)
            continue; /* the row sees nothing of the span */
        if (state->total == 0) {
            *state = next;
            memcpy(sums, more, columns * sizeof *sums);
            continue;
        }
        float maximum = state->maximum > next.maximum ? state->maximum : next.maximum;
        float kept = expf(state->maximum - maximum), added = expf(next.maximum - maximum);
        if (kept != 1)
            model->kernels->scale(sums, kept, columns);
        model->kernels->add_scaled(sums, more, added, columns);
        *state = (struct attend_state){maximum, state->total * kept + next.total * added};
    }
}

static void give_out(const struct tile *tile, const struct softmax *softmax)
{
    const struct workspace *workspace = tile->batch->workspace;
    const struct td_model *model = workspace->model;
    size_t columns = columns_of(tile), size = tile->batch->layer->head_size;
    const float *sinks = tile->batch->layer->sinks;
    size_t head_count = tile->batch->layer->head_count;
    for (size_t token = 0; token < tile->span->count; token++)
        for (size_t g = 0; g < tile->group; g++) {
            size_t row = token * tile->group + g;
            size_t head =
                (tile->span->row + token) * head_count + (size_t)tile->kv_head * tile->group + g;
            float *out = workspace->attended + head * size;
            float total = softmax->states[row].total;
            /* A sink is a score without a value (Xiao et al. 2023, section 3.3). */
            if (sinks)
                total += expf(sinks[head % head_count] - softmax->states[row].maximum);
            memcpy(out, softmax->sums + row * columns, size * sizeof *out);
            model->kernels->scale(out, 1.0f / total, size);
        }
}

/* --- items --- */

/* Takes the working memory of one thread. No more items run at once than there are threads. */
static uint32_t lease_scratch(struct workspace *workspace)
{
    for (uint32_t i = 0;; i = (i + 1) % workspace->thread_count)
        if (!atomic_flag_test_and_set_explicit(&workspace->attention.leased[i],
                                               memory_order_acquire))
            return i;
}

static void return_scratch(struct workspace *workspace, uint32_t lease)
{
    atomic_flag_clear_explicit(&workspace->attention.leased[lease], memory_order_release);
}

static float *take(float **from, size_t count)
{
    float *piece = *from;
    *from += count;
    return piece;
}

/* Lays out the working memory of a thread and copies the queries into it. */
static void open_tile(struct tile *tile, struct softmax softmax[2], uint32_t lease)
{
    const struct workspace *workspace = tile->batch->workspace;
    const struct workspace_attention *attention = &workspace->attention;
    size_t rows = (size_t)attention->tile_tokens * tile->group, columns = columns_of(tile);
    size_t size = tile->batch->layer->head_size;
    float *from = attention->scratch + lease * attention->scratch_floats;
    tile->keys = take(&from, size * KV_PAGE_TOKENS);
    tile->values = take(&from, columns * KV_PAGE_TOKENS);
    tile->q = take(&from, rows * size);
    for (int i = 0; i < 2; i++) {
        softmax[i].sums = take(&from, rows * columns);
        softmax[i].states = (struct attend_state *)(void *)take(&from, rows * 2);
    }
    for (size_t token = 0; token < tile->span->count; token++) {
        size_t head = (tile->span->row + token) * tile->batch->layer->head_count +
                      (size_t)tile->kv_head * tile->group;
        memcpy(tile->q + token * tile->group * size, workspace->query + head * size,
               tile->group * size * sizeof(float));
    }
}

/* The spans that any token of a tile sees. */
static struct range spans_of(const struct tile *tile)
{
    uint32_t last = seen_by(tile, tile->span->count - 1).end;
    return (struct range){seen_by(tile, 0).begin / SPAN_TOKENS, (last - 1) / SPAN_TOKENS + 1};
}

/* Walks through all spans in order. */
static void walk_spans(struct tile *tile, struct softmax softmax[2])
{
    struct range spans = spans_of(tile);
    attend_span(tile, spans.begin, &softmax[0]);
    for (uint32_t span = spans.begin + 1; span < spans.end; span++) {
        attend_span(tile, span, &softmax[1]);
        join_span(tile, &softmax[1], &softmax[0]);
    }
    give_out(tile, &softmax[0]);
}

/* Computes one span of a token. The thread that ends last joins them all, in order. */
static void share_spans(struct tile *tile, struct softmax *softmax, uint32_t place, uint32_t index)
{
    const struct workspace *workspace = tile->batch->workspace;
    const struct workspace_attention *attention = &workspace->attention;
    struct range spans = spans_of(tile);
    size_t columns = columns_of(tile), row_floats = columns + 2,
           part_floats = tile->group * row_floats;
    float *parts = attention->partials + (size_t)place * attention->spans_max * part_floats;
    if (index >= spans.end - spans.begin)
        return;
    struct softmax part = {.sums = parts + index * part_floats};
    part.states = (struct attend_state *)(void *)(part.sums + tile->group * columns);
    attend_span(tile, spans.begin + index, &part);
    if (atomic_fetch_add_explicit(&attention->done[place], 1, memory_order_acq_rel) + 1 !=
        spans.end - spans.begin)
        return;
    clear(tile, softmax);
    for (uint32_t i = 0; i < spans.end - spans.begin; i++) {
        part.sums = parts + i * part_floats;
        part.states = (struct attend_state *)(void *)(part.sums + tile->group * columns);
        join_span(tile, &part, softmax);
    }
    give_out(tile, softmax);
}

/* Late tiles run first, because they are the longest. The short ones at the end keep all threads
 * busy. */
static void attend_item(struct step *step, uint32_t index)
{
    struct workspace *workspace = step->batch->workspace;
    const struct layer *layer = step->batch->layer;
    uint32_t span = index % step->span_count, place = index / step->span_count;
    uint32_t tile_index = workspace->attention.tile_count - 1 - place / layer->kv_head_count;
    const struct workspace_span *rows = &workspace->attention.tiles[tile_index];
    struct tile tile = {.batch = step->batch,
                        .sequence = step->batch->segments[rows->segment].sequence,
                        .span = rows,
                        .kv_head = place % layer->kv_head_count,
                        .group = layer->head_count / layer->kv_head_count};
    struct softmax softmax[2];
    uint32_t lease = lease_scratch(workspace);
    open_tile(&tile, softmax, lease);
    if (step->span_count == 1)
        walk_spans(&tile, softmax);
    else
        share_spans(&tile, &softmax[0], place, span);
    return_scratch(workspace, lease);
}

/* --- a pass --- */

static void add_span(struct workspace_span *spans, uint32_t *count, uint32_t segment, uint32_t row,
                     uint32_t rows)
{
    spans[(*count)++] = (struct workspace_span){segment, row, rows};
}

void attention_plan(struct batch *batch)
{
    ASSERT(batch->row_count <= batch->workspace->row_max);
    struct workspace *workspace = batch->workspace;
    struct workspace_attention *attention = &workspace->attention;
    attention->tile_count = attention->run_count = 0;
    for (uint32_t i = 0, row = 0; i < batch->segment_count; i++) {
        uint32_t end = row + batch->segments[i].count, tokens;
        for (uint32_t at = row; at < end; at += tokens) {
            tokens = end - at < attention->tile_tokens ? end - at : attention->tile_tokens;
            add_span(attention->tiles, &attention->tile_count, i, at, tokens);
        }
        for (; row < end; row += tokens) {
            tokens = RUN_TOKENS - workspace->rows[row].position % RUN_TOKENS;
            tokens = end - row < tokens ? end - row : tokens;
            add_span(attention->runs, &attention->run_count, i, row, tokens);
        }
    }
}

/* The number of spans of the longest row if threads should share spans, otherwise 1. */
static uint32_t spans_to_share(const struct batch *batch, uint32_t items)
{
    const struct workspace *workspace = batch->workspace;
    const struct workspace_attention *attention = &workspace->attention;
    uint32_t most = 1, window = batch->layer->window;
    if (batch->row_count > attention->shared_rows_max ||
        attention->tile_count != batch->row_count ||
        items >= FAIR_ITEMS * workspace->thread_count || items % workspace->thread_count == 0)
        return 1;
    for (uint32_t row = 0; row < batch->row_count; row++) {
        uint32_t seen = workspace->rows[row].position + 1, spans = (seen - 1) / SPAN_TOKENS + 1;
        if (window != 0 && seen > window)
            spans -= (seen - window) / SPAN_TOKENS;
        most = spans > most ? spans : most;
    }
    return most <= attention->spans_max ? most : 1;
}

void attention_run(struct batch *batch)
{
    struct workspace *workspace = batch->workspace;
    uint32_t kv_heads = batch->layer->kv_head_count;
    uint32_t items = workspace->attention.tile_count * kv_heads;
    struct step step = {
        .batch = batch, .item = attend_item, .span_count = spans_to_share(batch, items)};
    step.item_count = items * step.span_count;
    for (uint32_t i = 0; step.span_count > 1 && i < items; i++)
        atomic_store_explicit(&workspace->attention.done[i], 0, memory_order_relaxed);
    size_t kv_bytes = (size_t)kv_heads * batch->layer->head_size * 4, positions = 0;
    for (uint32_t i = 0; i < batch->row_count; i++)
        positions += workspace->rows[i].position + 1;
    step_run(&step, kv_bytes * positions);
}

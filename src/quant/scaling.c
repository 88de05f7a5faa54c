#include "quant/scaling.h"

#include "base/error.h"
#include "base/str.h"
#include "engine/model/architecture.h"
#include "quant/encode.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POWERS 21      /* 0, 0.05, ... 1 */
#define ROWS_LOOKED 96 /* rows of each matrix that the search rounds */
#define USERS_MAX 3
/* Scales stay in this range, so that nothing leaves what F16 holds. */
#define SCALE_LIMIT 64.0f

/* Matrices that share their inputs, and what makes these. */
struct group {
    size_t users[USERS_MAX]; /* items */
    unsigned user_count;
    size_t maker;      /* an item: a norm, or a matrix whose rows are the inputs */
    size_t maker_bias; /* or SIZE_MAX */
    bool maker_is_norm;
    uint32_t shared; /* heads that share a maker's row: query heads of a key head; else 1 */
    uint32_t head;   /* their size; 0 = columns and rows are the same */
};

struct scaling {
    float **owned;
    size_t owned_count, owned_capacity;
};

void scaling_free(struct scaling *scaling)
{
    for (size_t i = 0; scaling && i < scaling->owned_count; i++)
        free(scaling->owned[i]);
    if (scaling)
        free(scaling->owned);
    free(scaling);
}

/* NULL without memory. */
static float *own(struct scaling *scaling, size_t count)
{
    if (scaling->owned_count == scaling->owned_capacity) {
        size_t capacity = scaling->owned_capacity ? 2 * scaling->owned_capacity : 64;
        float **grown = realloc(scaling->owned, capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        scaling->owned = grown;
        scaling->owned_capacity = capacity;
    }
    float *values = calloc(count, sizeof *values);
    if (values)
        scaling->owned[scaling->owned_count++] = values;
    return values;
}

/* --- groups --- */

static size_t item_of(const struct quantize_plan *plan, unsigned layer, const char *part)
{
    char name[80];
    snprintf(name, sizeof name, "blk.%u.%s", layer, part);
    const struct gguf_tensor *tensor = gguf_find_tensor(plan->gguf, name);
    return tensor ? (size_t)(tensor - gguf_tensor_at(plan->gguf, 0)) : SIZE_MAX;
}

static bool add_user(const struct quantize_plan *plan, struct group *group, size_t item)
{
    if (item == SIZE_MAX || !plan->items[item].importance || plan->items[item].tensor->dims[2] != 1)
        return false;
    group->users[group->user_count++] = item;
    return true;
}

static bool is_norm(const struct quantize_plan *plan, size_t item)
{
    return item != SIZE_MAX && plan->items[item].tensor->type == TENSOR_F32;
}

/* q, k, v behind the norm. */
static bool attention_in(const struct quantize_plan *plan, unsigned layer, struct group *group)
{
    *group = (struct group){.maker = item_of(plan, layer, "attn_norm.weight"),
                            .maker_bias = item_of(plan, layer, "attn_norm.bias"),
                            .maker_is_norm = true,
                            .shared = 1};
    if (!is_norm(plan, group->maker) || group->maker_bias != SIZE_MAX)
        return false;
    if (add_user(plan, group, item_of(plan, layer, "attn_qkv.weight")))
        return true;
    return add_user(plan, group, item_of(plan, layer, "attn_q.weight")) &&
           add_user(plan, group, item_of(plan, layer, "attn_k.weight")) &&
           add_user(plan, group, item_of(plan, layer, "attn_v.weight"));
}

/* gate and up behind the norm; not where a router of experts reads the norm too. */
static bool ffn_in(const struct quantize_plan *plan, unsigned layer, struct group *group)
{
    *group = (struct group){.maker = item_of(plan, layer, "ffn_norm.weight"),
                            .maker_bias = SIZE_MAX,
                            .maker_is_norm = true,
                            .shared = 1};
    if (!is_norm(plan, group->maker) || item_of(plan, layer, "ffn_gate_inp.weight") != SIZE_MAX ||
        item_of(plan, layer, "ffn_norm.bias") != SIZE_MAX)
        return false;
    if (!add_user(plan, group, item_of(plan, layer, "ffn_up.weight")))
        return false;
    size_t gate = item_of(plan, layer, "ffn_gate.weight");
    return gate == SIZE_MAX || add_user(plan, group, gate);
}

/* down behind the rows of up: activation(gate) * up is linear in up. */
static bool ffn_out(const struct quantize_plan *plan, unsigned layer, struct group *group)
{
    *group = (struct group){.maker = item_of(plan, layer, "ffn_up.weight"),
                            .maker_bias = item_of(plan, layer, "ffn_up.bias"),
                            .shared = 1};
    if (group->maker == SIZE_MAX || group->maker_bias != SIZE_MAX ||
        item_of(plan, layer, "ffn_gate.weight") == SIZE_MAX)
        return false;
    return add_user(plan, group, item_of(plan, layer, "ffn_down.weight")) &&
           plan->items[group->maker].tensor->dims[1] ==
               plan->items[group->users[0]].tensor->dims[0];
}

/* o behind the rows of v; query heads that share a key head share a scale. */
static bool attention_out(const struct quantize_plan *plan, const struct mix_model *model,
                          unsigned layer, struct group *group)
{
    *group = (struct group){.maker = item_of(plan, layer, "attn_v.weight"),
                            .maker_bias = item_of(plan, layer, "attn_v.bias"),
                            .shared = model->group};
    if (group->maker == SIZE_MAX ||
        !add_user(plan, group, item_of(plan, layer, "attn_output.weight")))
        return false;
    uint64_t rows = plan->items[group->maker].tensor->dims[1];
    uint64_t cols = plan->items[group->users[0]].tensor->dims[0];
    if (group->shared == 0 || rows * group->shared != cols)
        return false;
    char key[128];
    struct td_str architecture = {0};
    uint32_t kv_heads = 0;
    gguf_get_string(plan->gguf, "general.architecture", &architecture);
    const struct architecture *traits = architecture_find(architecture);
    if (traits && traits->value_norm)
        return false; /* a norm stands between v and o */
    snprintf(key, sizeof key, STR_FMT ".attention.head_count_kv",
             STR_ARG(str_slice(architecture, 0, 64)));
    if (!gguf_get_u32(plan->gguf, key, &kv_heads) || kv_heads == 0 || rows % kv_heads != 0)
        return false;
    group->head = (uint32_t)(rows / kv_heads);
    return true;
}

/* --- scales --- */

/* The row of the maker that makes column `col`. */
static size_t maker_row(const struct group *group, size_t col)
{
    if (group->head == 0)
        return col;
    return col / ((size_t)group->head * group->shared) * group->head + col % group->head;
}

/* Mean size of the inputs, sqrt(E[x^2]), and of the weights, for each row of the maker. */
struct sizes {
    float *inputs, *weights; /* [count] */
    size_t count, cols;
};

static void measure_sizes(const struct quantize_plan *plan, const struct group *group,
                          struct sizes *sizes, float *row)
{
    const float *importance = plan->items[group->users[0]].importance;
    for (size_t i = 0; i < sizes->cols; i++)
        sizes->inputs[maker_row(group, i)] += importance[i] / (float)group->shared;
    for (size_t i = 0; i < sizes->count; i++)
        sizes->inputs[i] = sqrtf(sizes->inputs[i]);
    for (unsigned u = 0; u < group->user_count; u++) {
        const struct quantize_item *item = &plan->items[group->users[u]];
        uint64_t rows = item->tensor->dims[1], step = rows / ROWS_LOOKED + 1;
        for (uint64_t r = 0; r < rows; r += step) {
            quantize_read_row(item, r, row);
            for (size_t i = 0; i < sizes->cols; i++)
                sizes->weights[maker_row(group, i)] += fabsf(row[i]);
        }
    }
}

/* s[col] = inputs^power / weights^(1 - power) if `by_weights`, divided by their geometric mean. */
static void make_scales(const struct group *group, const struct sizes *sizes, float power,
                        bool by_weights, float *scales)
{
    double logs = 0;
    for (size_t i = 0; i < sizes->cols; i++) {
        size_t row = maker_row(group, i);
        float input = sizes->inputs[row] + 1e-6f, weight = sizes->weights[row] + 1e-6f;
        scales[i] = powf(input, power) * (by_weights ? powf(weight, power - 1) : 1.0f);
        logs += (double)logf(scales[i]);
    }
    float mean = (float)exp(logs / (double)sizes->cols);
    for (size_t i = 0; i < sizes->cols; i++) {
        scales[i] /= mean;
        scales[i] = scales[i] > SCALE_LIMIT       ? SCALE_LIMIT
                    : scales[i] < 1 / SCALE_LIMIT ? 1 / SCALE_LIMIT
                                                  : scales[i];
    }
}

/* One trial of scales, whose rows threads divide. */
struct trial {
    const struct quantize_plan *plan;
    const struct group *group;
    const float *scales; /* NULL = all 1 */
    size_t cols;
    uint64_t looked[USERS_MAX]; /* rows of each user */
    uint64_t total;
    atomic_ullong next, failed;
    double *errors; /* [total] */
};

/* Expected error of one row's output: sum of E[x^2] (w - stored(w s) / s)^2. */
static double row_error(const struct trial *trial, const struct quantize_item *item, uint64_t row,
                        float *x, float *back, float *importance, uint8_t *bytes)
{
    size_t cols = trial->cols;
    quantize_read_row(item, row, x);
    for (size_t i = 0; trial->scales && i < cols; i++) {
        x[i] *= trial->scales[i];
        importance[i] = item->importance[i] / (trial->scales[i] * trial->scales[i]);
    }
    const float *weights = trial->scales ? importance : item->importance;
    encode_row(item->type, x, weights, cols, bytes);
    kernels_get(TD_CPU_AUTO, NULL)->dequantize(item->type, bytes, cols, back);
    double error = 0;
    for (size_t i = 0; i < cols; i++) {
        float off = x[i] - back[i];
        error += (double)(weights[i] * off * off);
    }
    return error;
}

static void try_rows(void *ctx)
{
    struct trial *trial = ctx;
    float *memory = malloc(4 * trial->cols * sizeof *memory);
    if (memory == NULL) {
        atomic_store(&trial->failed, 1);
        return;
    }
    for (uint64_t i; (i = atomic_fetch_add(&trial->next, 1)) < trial->total;) {
        uint64_t index = i;
        unsigned user = 0;
        while (index >= trial->looked[user])
            index -= trial->looked[user++];
        const struct quantize_item *item = &trial->plan->items[trial->group->users[user]];
        uint64_t step = item->tensor->dims[1] / ROWS_LOOKED + 1;
        trial->errors[i] =
            row_error(trial, item, index * step, memory, memory + trial->cols,
                      memory + 2 * trial->cols, (uint8_t *)(memory + 3 * trial->cols));
    }
    free(memory);
}

static double run_trial(struct trial *trial, const float *scales, struct thread_pool *threads)
{
    trial->scales = scales;
    atomic_init(&trial->next, 0);
    thread_pool_run(threads, try_rows, trial);
    double sum = 0;
    for (uint64_t i = 0; i < trial->total; i++)
        sum += trial->errors[i];
    return sum;
}

/* --- folding --- */

/* Multiplies what an item already has; makes it if it has none. */
static bool fold(struct scaling *scaling, const float **to, size_t count, const float *factors)
{
    float *values = own(scaling, count);
    if (values == NULL)
        return false;
    for (size_t i = 0; i < count; i++)
        values[i] = factors[i] * (*to ? (*to)[i] : 1.0f);
    *to = values;
    return true;
}

static bool fold_group(struct scaling *scaling, struct quantize_plan *plan,
                       const struct group *group, const float *scales, size_t cols)
{
    size_t count = 0;
    float *inverse = malloc(cols * sizeof *inverse), *squares = malloc(cols * sizeof *squares);
    bool done = inverse && squares;
    for (size_t i = 0; done && i < cols; i++) {
        size_t row = maker_row(group, i);
        inverse[row] = 1.0f / scales[i];
        squares[i] = 1.0f / (scales[i] * scales[i]);
        count = row + 1 > count ? row + 1 : count;
    }
    for (unsigned u = 0; done && u < group->user_count; u++) {
        struct quantize_item *item = &plan->items[group->users[u]];
        float *importance = own(scaling, cols);
        done = importance && fold(scaling, &item->col_scale, cols, scales);
        for (size_t i = 0; done && i < cols; i++)
            importance[i] = item->importance[i] * squares[i];
        if (done)
            item->importance = importance;
    }
    struct quantize_item *maker = &plan->items[group->maker];
    if (done)
        done = fold(scaling, group->maker_is_norm ? &maker->col_scale : &maker->row_scale, count,
                    inverse);
    if (done && group->maker_bias != SIZE_MAX)
        done = fold(scaling, &plan->items[group->maker_bias].col_scale, count, inverse);
    free(inverse);
    free(squares);
    return done;
}

/* False without memory. */
static bool scale_group(struct scaling *scaling, struct quantize_plan *plan,
                        const struct group *group, struct thread_pool *threads,
                        struct scaling_result *result)
{
    size_t cols = (size_t)plan->items[group->users[0]].tensor->dims[0];
    struct sizes sizes = {.count = maker_row(group, cols - 1) + 1, .cols = cols};
    struct trial trial = {.plan = plan, .group = group, .cols = cols};
    for (unsigned u = 0; u < group->user_count; u++) {
        uint64_t rows = plan->items[group->users[u]].tensor->dims[1];
        uint64_t step = rows / ROWS_LOOKED + 1;
        trial.looked[u] = (rows + step - 1) / step;
        trial.total += trial.looked[u];
    }
    float *memory = calloc(5 * cols, sizeof *memory);
    trial.errors = calloc(trial.total, sizeof *trial.errors);
    bool done = memory && trial.errors;
    if (done) {
        sizes.inputs = memory;
        sizes.weights = memory + cols;
        float *row = memory + 2 * cols, *scales = memory + 3 * cols, *best = memory + 4 * cols;
        measure_sizes(plan, group, &sizes, row);
        double plain = run_trial(&trial, NULL, threads), least = plain;
        for (int i = 1; i < 2 * POWERS; i++) {
            make_scales(group, &sizes, (float)(i % POWERS) / (POWERS - 1), i >= POWERS, scales);
            double error = run_trial(&trial, scales, threads);
            if (error < least) {
                least = error;
                memcpy(best, scales, cols * sizeof *best);
            }
        }
        result->groups++;
        result->gain += plain > 0 ? 1 - least / plain : 0;
        if (least < plain) {
            result->scaled++;
            done = fold_group(scaling, plan, group, best, cols);
        }
    }
    done = done && !atomic_load(&trial.failed);
    free(memory);
    free(trial.errors);
    return done;
}

enum td_status scaling_search(struct quantize_plan *plan, struct thread_pool *threads,
                              void (*progress)(void *ctx, uint64_t done, uint64_t total), void *ctx,
                              struct scaling **out, struct scaling_result *result,
                              struct td_error *err)
{
    struct scaling *scaling = calloc(1, sizeof *scaling);
    struct mix_model model;
    bool done = scaling != NULL;
    *result = (struct scaling_result){0};
    mix_model_read(plan->gguf, true, &model);
    for (unsigned layer = 0; done && layer < model.layer_count; layer++) {
        struct group group;
        /* Makers after their own columns were scaled: v and up are users of the norms. */
        for (int kind = 0; done && kind < 4; kind++) {
            bool there = kind == 0   ? attention_in(plan, layer, &group)
                         : kind == 1 ? ffn_in(plan, layer, &group)
                         : kind == 2 ? ffn_out(plan, layer, &group)
                                     : attention_out(plan, &model, layer, &group);
            if (there)
                done = scale_group(scaling, plan, &group, threads, result);
        }
        if (progress)
            progress(ctx, layer + 1, model.layer_count);
    }
    if (result->groups)
        result->gain /= result->groups;
    if (!done) {
        scaling_free(scaling);
        return error_set(err, TD_NO_MEMORY, "no memory for scales");
    }
    *out = scaling;
    return TD_OK;
}

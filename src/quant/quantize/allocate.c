#include "quant/quantize/allocate.h"

#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "quant/encode/encode.h"

#include <math.h>
#include <stdlib.h>

/* Fewer bits first. IQ4_NL stands in for IQ4_XS where rows are no super-blocks (mix_fit). */
static const enum tensor_type ladder[ALLOCATE_TYPES] = {
    TENSOR_Q2_K, TENSOR_Q3_K, TENSOR_IQ4_XS, TENSOR_Q4_K, TENSOR_Q5_K, TENSOR_Q6_K, TENSOR_Q8_0};
#define PROBE TENSOR_Q4_K /* the type that divergence is measured with */
#define ROWS_LOOKED 128   /* rows of each tensor whose error is computed for each type */

void allocation_deinit(struct allocation *allocation)
{
    free(allocation->items);
    allocation->items = NULL;
}

/* --- errors of one tensor --- */

/* Rounds a row and gives what is read back. */
static void round_row(const struct quantize_item *item, enum tensor_type type, uint64_t row,
                      float *x, uint8_t *bytes, float *back)
{
    size_t cols = (size_t)item->tensor->dims[0];
    const float *importance = item->importance;
    if (importance)
        importance += row / item->tensor->dims[1] * cols;
    quantize_read_row(item, row, x);
    encode_row(type, x, importance, cols, bytes);
    kernels_get(TD_CPU_AUTO, NULL)->dequantize(type, bytes, cols, back);
}

static double type_error(const struct quantize_item *item, enum tensor_type type, float *memory)
{
    size_t cols = (size_t)item->tensor->dims[0];
    uint64_t rows = item->tensor->dims[1] * item->tensor->dims[2];
    uint64_t step = rows / ROWS_LOOKED + 1;
    float *x = memory, *back = memory + cols;
    double error = 0;
    for (uint64_t row = 0; row < rows; row += step) {
        const float *importance = item->importance;
        if (importance)
            importance += row / item->tensor->dims[1] * cols;
        round_row(item, type, row, x, (uint8_t *)(memory + 2 * cols), back);
        for (size_t i = 0; i < cols; i++) {
            double off = (double)x[i] - (double)back[i];
            error += off * off * (importance ? (double)importance[i] : 1);
        }
    }
    return error;
}

/* --- divergence with one tensor rounded --- */

/* The tensor as floats, rounded, in the place of the model's weights. */
struct exchange {
    const struct quantize_item *item;
    float *rounded; /* [rows, cols] */
    size_t cols;
    uint64_t rows;
};

static void exchange_weight(const struct exchange *exchange, struct weight *weight)
{
    const uint8_t *begin = exchange->item->tensor->data;
    const uint8_t *data = weight->data;
    if (data < begin || data >= begin + exchange->item->tensor->bytes)
        return;
    size_t row = (size_t)(data - begin) / weight->row_bytes;
    weight->data = exchange->rounded + row * exchange->cols;
    weight->expert_bytes =
        weight->expert_bytes / weight->row_bytes * exchange->cols * sizeof(float);
    weight->row_bytes = exchange->cols * sizeof(float);
    weight->type = TENSOR_F32;
    weight->form = ACTIVATION_F32;
}

static void exchange_all(struct td_model *model, const struct exchange *exchange)
{
    exchange_weight(exchange, &model->embedding);
    exchange_weight(exchange, &model->output);
    exchange_weight(exchange, &model->layer_tokens);
    for (uint32_t i = 0; i < model->layer_count; i++) {
        struct weight *weight;
        for (size_t w = 0; (weight = model_layer_weight(&model->layers[i], w)) != NULL; w++)
            exchange_weight(exchange, weight);
    }
}

static enum td_status probe(const struct quantize_item *item, struct td_model *model,
                            struct divergence *divergence, float *memory, double *kld,
                            struct td_error *err)
{
    struct exchange exchange = {.item = item,
                                .cols = (size_t)item->tensor->dims[0],
                                .rows = item->tensor->dims[1] * item->tensor->dims[2]};
    struct divergence_result result = {0};
    struct td_model kept = *model;
    struct layer *layers = malloc(model->layer_count * sizeof *layers);
    exchange.rounded = malloc(exchange.rows * exchange.cols * sizeof(float));
    enum td_status status = TD_OK;
    if (layers == NULL || exchange.rounded == NULL)
        status = error_set(err, TD_NO_MEMORY, "no memory for tensor '" STR_FMT "' as floats",
                           STR_ARG(item->tensor->name));
    if (status == TD_OK) {
        memcpy(layers, model->layers, model->layer_count * sizeof *layers);
        for (uint64_t row = 0; row < exchange.rows; row++) {
            float *to = exchange.rounded + row * exchange.cols;
            round_row(item, mix_fit(PROBE, exchange.cols), row, memory,
                      (uint8_t *)(memory + exchange.cols), to);
        }
        exchange_all(model, &exchange);
        const struct divergence_subject subject = {.model = model, .kv_type = TD_KV_F32};
        status = divergence_measure(divergence, &subject, &result, NULL, err);
        *model = kept;
        memcpy(model->layers, layers, model->layer_count * sizeof *layers);
    }
    *kld = result.kld_mean;
    free(layers);
    free(exchange.rounded);
    return status;
}

static enum td_status measure_item(const struct quantize_item *item, struct td_model *model,
                                   struct divergence *divergence, struct allocate_item *out,
                                   struct td_error *err)
{
    uint64_t cols = item->tensor->dims[0];
    float *memory = malloc(4 * (size_t)cols * sizeof *memory);
    double kld = 0;
    if (memory == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a row of %llu",
                         (unsigned long long)cols);
    enum td_status status = probe(item, model, divergence, memory, &kld, err);
    double at_probe = status == TD_OK ? type_error(item, mix_fit(PROBE, cols), memory) : 0;
    for (unsigned i = 0; status == TD_OK && i < ALLOCATE_TYPES; i++) {
        enum tensor_type type = mix_fit(ladder[i], cols);
        uint64_t bytes = quantize_item_bytes(item, type);
        unsigned at = out->type_count;
        double error = type_error(item, type, memory);
        double expected = at_probe > 0 ? kld * error / at_probe : 0;
        /* A type that is not smaller than the next better one is none to choose. */
        while (at > 0 && (out->bytes[at - 1] >= bytes || out->kld[at - 1] <= expected)) {
            if (out->kld[at - 1] <= expected && out->bytes[at - 1] <= bytes)
                break;
            at--;
        }
        if (at > 0 && out->kld[at - 1] <= expected)
            continue;
        out->types[at] = type;
        out->bytes[at] = bytes;
        out->kld[at] = expected;
        out->type_count = at + 1;
    }
    free(memory);
    return status;
}

enum td_status allocate_measure(struct allocation *allocation, const struct quantize_plan *plan,
                                struct td_model *model, struct divergence *divergence,
                                const atomic_bool *cancel,
                                void (*progress)(void *ctx, uint64_t done, uint64_t total),
                                void *ctx, struct td_error *err)
{
    enum td_status status = TD_OK;
    *allocation = (struct allocation){.item_count = plan->item_count};
    allocation->items = calloc(plan->item_count + 1, sizeof *allocation->items);
    if (allocation->items == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu tensors", plan->item_count);
    for (size_t i = 0; status == TD_OK && i < plan->item_count; i++) {
        const struct gguf_tensor *tensor = plan->items[i].tensor;
        struct quantize_item item = plan->items[i];
        /* The model's own mapping of the same file. */
        item.tensor = gguf_tensor_at(model->gguf, i);
        if (!mix_keeps(tensor->name, tensor->dims))
            status = measure_item(&item, model, divergence, &allocation->items[i], err);
        if (status == TD_OK && cancel && atomic_load(cancel))
            status = error_set(err, TD_CANCELLED, "cancelled");
        if (progress)
            progress(ctx, i + 1, plan->item_count);
    }
    return status;
}

/* --- choosing --- */

struct choice {
    unsigned *chosen; /* [item_count]: an index of types */
    uint64_t bytes;   /* of all tensors */
    double kld;
};

/* The best upgrade: the most divergence for a byte, over one step or several. False: none fits. */
static bool upgrade(const struct allocation *allocation, struct choice *choice, uint64_t bytes_max)
{
    size_t best_item = 0;
    unsigned best_type = 0;
    double best = 0;
    for (size_t i = 0; i < allocation->item_count; i++) {
        const struct allocate_item *item = &allocation->items[i];
        unsigned now = choice->chosen[i];
        for (unsigned t = now + 1; t < item->type_count; t++) {
            uint64_t more = item->bytes[t] - item->bytes[now];
            double rate = (item->kld[now] - item->kld[t]) / (double)more;
            if (choice->bytes + more <= bytes_max && rate > best) {
                best = rate;
                best_item = i;
                best_type = t;
            }
        }
    }
    if (best <= 0)
        return false;
    const struct allocate_item *item = &allocation->items[best_item];
    unsigned now = choice->chosen[best_item];
    choice->bytes += item->bytes[best_type] - item->bytes[now];
    choice->kld -= item->kld[now] - item->kld[best_type];
    choice->chosen[best_item] = best_type;
    return true;
}

static enum td_status begin(const struct allocation *allocation, const struct quantize_plan *plan,
                            struct choice *choice, struct td_error *err)
{
    *choice = (struct choice){.chosen = calloc(allocation->item_count + 1, sizeof(unsigned))};
    if (choice->chosen == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu tensors", allocation->item_count);
    for (size_t i = 0; i < allocation->item_count; i++) {
        const struct allocate_item *item = &allocation->items[i];
        choice->bytes += item->type_count
                             ? item->bytes[0]
                             : quantize_item_bytes(&plan->items[i], plan->items[i].type);
        choice->kld += item->type_count ? item->kld[0] : 0;
    }
    return TD_OK;
}

static void take(const struct allocation *allocation, const struct choice *choice,
                 struct quantize_plan *plan)
{
    for (size_t i = 0; i < allocation->item_count; i++) {
        const struct allocate_item *item = &allocation->items[i];
        if (item->type_count == 0)
            continue;
        plan->items[i].type = plan->items[i].wanted = item->types[choice->chosen[i]];
        plan->items[i].kept = plan->items[i].type == plan->items[i].tensor->type;
    }
}

enum td_status allocate_by_size(const struct allocation *allocation, struct quantize_plan *plan,
                                uint64_t tensor_bytes, double *kld, struct td_error *err)
{
    struct choice choice;
    enum td_status status = begin(allocation, plan, &choice, err);
    if (status == TD_OK && choice.bytes > tensor_bytes)
        status = error_set(err, TD_LIMIT,
                           "with the fewest bits the tensors still take %.1f MB, more than %.1f MB",
                           (double)choice.bytes / 1e6, (double)tensor_bytes / 1e6);
    while (status == TD_OK && upgrade(allocation, &choice, tensor_bytes))
        ;
    if (status == TD_OK)
        take(allocation, &choice, plan);
    *kld = choice.kld;
    free(choice.chosen);
    return status;
}

enum td_status allocate_by_kld(const struct allocation *allocation, struct quantize_plan *plan,
                               double kld_max, double *kld, struct td_error *err)
{
    struct choice choice;
    enum td_status status = begin(allocation, plan, &choice, err);
    while (status == TD_OK && choice.kld > kld_max && upgrade(allocation, &choice, UINT64_MAX))
        ;
    if (status == TD_OK && choice.kld > kld_max)
        status = error_set(err, TD_LIMIT,
                           "with the most bits the model still diverges by %.6f, more than %g",
                           choice.kld, kld_max);
    if (status == TD_OK)
        take(allocation, &choice, plan);
    *kld = choice.kld;
    free(choice.chosen);
    return status;
}

#include "quant/quantize/quantize.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "quant/encode/encode.h"

#include <stdlib.h>

#define QUANTIZATION_VERSION 2 /* of the block layouts; general.quantization_version */

static bool is_quantized(uint32_t type)
{
    return tensor_traits_get(type)->block_elements > 1;
}

static enum td_status find_importance(const struct quantize_plan *plan, struct quantize_item *item,
                                      struct td_error *err)
{
    const struct imatrix_entry *entry = imatrix_find(plan->imatrix, item->tensor->name);
    if (entry == NULL)
        return TD_OK;
    uint64_t cols = item->tensor->dims[0], experts = item->tensor->dims[2];
    bool fits = entry->cols == cols && entry->experts == experts;
    /* The older form has the values of all experts in one row. */
    bool old = entry->experts == 1 && entry->cols == cols * experts;
    if (!fits && !old)
        return error_set(err, TD_INVALID,
                         "the importance of '%s' is for %u columns and %u experts, the model has "
                         "%llu and %llu: it was made from another model",
                         entry->name, entry->cols, entry->experts, (unsigned long long)cols,
                         (unsigned long long)experts);
    item->importance = entry->importance;
    return TD_OK;
}

static enum td_status plan_item(struct quantize_plan *plan, const struct mix_model *model,
                                struct quantize_item *item, struct td_error *err)
{
    const struct gguf_tensor *tensor = item->tensor;
    if (tensor_traits_get(tensor->type) == NULL)
        return error_set(err, TD_UNSUPPORTED,
                         "%s: tensor '" STR_FMT "' has type %u, which is not "
                         "read here",
                         gguf_path(plan->gguf), STR_ARG(tensor->name), tensor->type);
    if (!plan->mix || mix_keeps(tensor->name, tensor->dims)) {
        item->kept = true;
        item->type = item->wanted = (enum tensor_type)tensor->type;
        return TD_OK;
    }
    item->wanted = mix_type(plan->mix, model, tensor->name);
    item->type = mix_fit(item->wanted, tensor->dims[0]);
    item->kept = item->type == tensor->type;
    if (is_quantized(tensor->type) && !item->kept)
        plan->requantized = (enum tensor_type)tensor->type;
    enum td_status status = find_importance(plan, item, err);
    plan->unweighed += plan->imatrix && !item->importance && is_quantized(item->type);
    return status;
}

enum td_status quantize_plan_init(struct quantize_plan *plan, const struct gguf *gguf,
                                  const struct mix *mix, const struct imatrix *imatrix,
                                  struct td_error *err)
{
    struct mix_model model;
    *plan = (struct quantize_plan){.gguf = gguf,
                                   .mix = mix,
                                   .imatrix = imatrix,
                                   .item_count = gguf_tensor_count(gguf),
                                   .requantized = TENSOR_F32};
    plan->items = calloc(plan->item_count + 1, sizeof *plan->items);
    if (plan->items == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu tensors", plan->item_count);
    mix_model_read(gguf, imatrix != NULL, &model);
    for (size_t i = 0; i < plan->item_count; i++) {
        plan->items[i].tensor = gguf_tensor_at(gguf, i);
        enum td_status status = plan_item(plan, &model, &plan->items[i], err);
        if (status != TD_OK)
            return status;
    }
    return TD_OK;
}

void quantize_plan_deinit(struct quantize_plan *plan)
{
    free(plan->items);
    plan->items = NULL;
}

uint64_t quantize_item_bytes(const struct quantize_item *item, enum tensor_type type)
{
    const struct tensor_traits *traits = tensor_traits_get(type);
    const uint64_t *dims = item->tensor->dims;
    return dims[0] / traits->block_elements * traits->block_bytes * dims[1] * dims[2] * dims[3];
}

uint64_t quantize_plan_bytes(const struct quantize_plan *plan)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < plan->item_count; i++)
        bytes += quantize_item_bytes(&plan->items[i], plan->items[i].type);
    return bytes;
}

void quantize_put_map(const struct quantize_plan *plan, struct buf *out)
{
    const char *between = "";
    for (size_t i = 0; i < plan->item_count; i++) {
        const struct quantize_item *item = &plan->items[i];
        if (mix_keeps(item->tensor->name, item->tensor->dims))
            continue;
        buf_printf(out, "%s" STR_FMT "=%s", between, STR_ARG(item->tensor->name),
                   tensor_traits_get(item->type)->name);
        between = ",";
    }
}

/* --- writing --- */

struct reading {
    const struct quantize_plan *plan;
    const struct quantize_options *options;
};

static bool is_edited(const struct quantize_options *options, size_t item)
{
    return options->edit && options->edited(options->edit_ctx, item);
}

void quantize_read_row(const struct quantize_item *item, uint64_t row, float *out)
{
    const struct gguf_tensor *tensor = item->tensor;
    size_t cols = (size_t)tensor->dims[0];
    size_t row_bytes =
        tensor->bytes / (size_t)(tensor->dims[1] * tensor->dims[2] * tensor->dims[3]);
    kernels_get(TD_CPU_AUTO, NULL)
        ->dequantize((enum tensor_type)tensor->type,
                     (const uint8_t *)tensor->data + (size_t)row * row_bytes, cols, out);
    for (size_t i = 0; item->col_scale && i < cols; i++)
        out[i] *= item->col_scale[i];
    for (size_t i = 0; item->row_scale && i < cols; i++)
        out[i] *= item->row_scale[row];
}

static void read_row(void *ctx, size_t index, uint64_t row, void *out)
{
    const struct reading *reading = ctx;
    const struct quantize_item *item = &reading->plan->items[index];
    quantize_read_row(item, row, out);
    if (is_edited(reading->options, index))
        reading->options->edit(reading->options->edit_ctx, index, row, out,
                               (size_t)item->tensor->dims[0]);
}

static void progress(void *ctx, uint64_t done, uint64_t total)
{
    const struct reading *reading = ctx;
    if (reading->options->progress)
        reading->options->progress(reading->options->progress_ctx, done, total);
}

static uint64_t put_pairs(const struct quantize_plan *plan, const struct quantize_options *options,
                          struct buf *pairs)
{
    static const char *const dropped[] = {"general.file_type",
                                          "general.quantization_version",
                                          "split.",
                                          "general.alignment",
                                          "tandem.quantize.",
                                          NULL};
    static const char *const replaced[] = {"split.", "general.alignment", NULL};
    uint64_t count = gguf_put_kept(pairs, plan->gguf, plan->mix ? dropped : replaced);
    if (options->pairs)
        buf_append_str(pairs, buf_view(options->pairs));
    count += options->pair_count;
    if (!plan->mix)
        return count; /* the types are those of the file */
    gguf_put_u32(pairs, "general.file_type", mix_file_type(plan->mix));
    gguf_put_u32(pairs, "general.quantization_version", QUANTIZATION_VERSION);
    gguf_put_string(pairs, "tandem.quantize.mix", str_from(mix_name(plan->mix)));
    count += 3;
    if (plan->requantized != TENSOR_F32) {
        gguf_put_string(pairs, "tandem.quantize.requantized_from",
                        str_from(tensor_traits_get(plan->requantized)->name));
        count++;
    }
    return count;
}

enum td_status quantize_write(const struct quantize_plan *plan,
                              const struct quantize_options *options, struct encode_result *result,
                              struct td_error *err)
{
    struct reading reading = {plan, options};
    struct encode_tensor *tensors = calloc(plan->item_count + 1, sizeof *tensors);
    if (tensors == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu tensors", plan->item_count);
    for (size_t i = 0; i < plan->item_count; i++) {
        const struct quantize_item *item = &plan->items[i];
        tensors[i].to = (struct gguf_write_tensor){
            item->tensor->name, item->type, item->tensor->dim_count, {0}};
        memcpy(tensors[i].to.dims, item->tensor->dims, sizeof item->tensor->dims);
        bool changed = is_edited(options, i) || item->col_scale || item->row_scale;
        tensors[i].raw = item->kept && !changed ? item->tensor->data : NULL;
        tensors[i].importance = item->importance;
    }
    struct buf pairs;
    buf_init(&pairs, GGUF_HEAD_BYTES_MAX);
    struct encode_job job = {.tensors = tensors,
                             .tensor_count = plan->item_count,
                             .read_row = read_row,
                             .progress = progress,
                             .ctx = &reading,
                             .pairs = &pairs,
                             .pair_count = put_pairs(plan, options, &pairs),
                             .force = options->force,
                             .cancel = options->cancel,
                             .threads = options->threads};
    enum td_status status = encode_file(&job, options->out, result, err);
    buf_deinit(&pairs);
    free(tensors);
    return status;
}

#include "quant/quantize/merge.h"

#include "base/core/error.h"
#include "base/core/str.h"
#include "engine/model/adapter.h"
#include "quant/encode/encode.h"

#include <stdio.h>
#include <stdlib.h>

/* One adapter's change of one tensor. Of the embedding the halves have changed places: a token's
 * row is row `row` of A^T, and B goes to the columns. */
struct change {
    size_t item;
    uint64_t rows; /* of one expert */
    uint32_t rank;
    float factor;
    bool embedding;
    float *a; /* [experts, rank, cols]; of the embedding [vocab, rank] */
    float *b; /* [experts, rows, rank]; of the embedding [cols, rank] */
};

struct merge {
    struct change *changes; /* [count] */
    size_t count;
    bool *edited; /* [item_count] */
    size_t item_count;
};

static bool find_item(const struct quantize_plan *plan, struct td_str name, size_t *out)
{
    for (size_t i = 0; i < plan->item_count; i++)
        if (str_equal(plan->items[i].tensor->name, name)) {
            *out = i;
            return true;
        }
    return false;
}

static enum td_status add_change(struct merge *merge, const struct quantize_plan *plan,
                                 const struct gguf *gguf, const struct gguf_tensor *a, float factor,
                                 struct td_error *err)
{
    char name[96];
    struct td_str stem = str_slice(a->name, 0, a->name.len - 7); /* without .lora_a */
    struct change *change = &merge->changes[merge->count];
    *change = (struct change){.embedding = str_equal(stem, STR("token_embd.weight"))};
    snprintf(name, sizeof name, STR_FMT ".lora_b", STR_ARG(stem));
    const struct gguf_tensor *b = gguf_find_tensor(gguf, name);
    if (!b || !find_item(plan, stem, &change->item))
        return error_set(err, TD_INVALID, "%s: '" STR_FMT "' does not belong to the model",
                         gguf_path(gguf), STR_ARG(a->name));
    if (change->embedding && !gguf_find_tensor(plan->gguf, "output.weight"))
        return error_set(err, TD_UNSUPPORTED,
                         "%s changes what tokens look up, and the model's output is the same "
                         "matrix: it cannot be merged; run it with --lora",
                         gguf_path(gguf));
    stem.len -= str_ends_with(stem, STR("weight")) ? strlen("weight") : 0;
    snprintf(name, sizeof name, STR_FMT "scale", STR_ARG(stem));
    if (gguf_find_tensor(plan->gguf, name))
        return error_set(err, TD_UNSUPPORTED,
                         "the model's tensor '%s' scales what %s changes: it cannot be merged; run "
                         "it with --lora",
                         name, gguf_path(gguf));
    change->rank = (uint32_t)b->dims[0];
    change->rows = b->dims[1];
    change->factor = factor / (float)change->rank;
    change->a = encode_to_floats(a);
    change->b = encode_to_floats(b);
    merge->count++;
    merge->edited[change->item] = true;
    return change->a && change->b ? TD_OK
                                  : error_set(err, TD_NO_MEMORY, "%s: no memory", gguf_path(gguf));
}

static enum td_status reserve(struct merge *merge, size_t more, struct td_error *err)
{
    size_t capacity = merge->count + more;
    struct change *grown = realloc(merge->changes, (capacity + 1) * sizeof *grown);
    if (!grown)
        return error_set(err, TD_NO_MEMORY, "no memory for %zu changes", capacity);
    merge->changes = grown;
    return TD_OK;
}

/* td_adapter_load has looked at every name, shape and value. */
static enum td_status add_adapter(struct merge *merge, const struct td_model *model,
                                  const struct quantize_plan *plan,
                                  const struct merge_adapter *from, struct td_error *err)
{
    struct td_adapter *adapter = NULL;
    struct gguf *gguf = NULL;
    enum td_status status = td_adapter_load(model, from->path, &adapter, err);
    if (status == TD_OK)
        status = gguf_open(from->path, false, &gguf, err);
    if (status == TD_OK)
        status = reserve(merge, gguf_tensor_count(gguf), err);
    for (size_t i = 0; status == TD_OK && i < gguf_tensor_count(gguf); i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        if (!str_ends_with(tensor->name, STR(".lora_a")))
            continue;
        status = add_change(merge, plan, gguf, tensor, from->scale, err);
        if (status == TD_OK) { /* alpha 0: the scale is the whole factor */
            struct change *change = &merge->changes[merge->count - 1];
            change->factor = adapter->alpha > 0 ? change->factor * adapter->alpha : from->scale;
        }
    }
    gguf_close(gguf);
    td_adapter_free(adapter);
    return status;
}

enum td_status merge_new(const struct td_model *model, const struct quantize_plan *plan,
                         const struct merge_adapter *adapters, size_t count, struct merge **out,
                         struct td_error *err)
{
    struct merge *merge = calloc(1, sizeof *merge);
    if (merge)
        merge->edited = calloc(plan->item_count + 1, sizeof *merge->edited);
    enum td_status status =
        merge && merge->edited ? TD_OK : error_set(err, TD_NO_MEMORY, "no memory for the adapters");
    if (status == TD_OK)
        merge->item_count = plan->item_count;
    for (size_t i = 0; status == TD_OK && i < count; i++)
        status = add_adapter(merge, model, plan, &adapters[i], err);
    if (status == TD_OK)
        *out = merge;
    else
        merge_free(merge);
    return status;
}

void merge_free(struct merge *merge)
{
    for (size_t i = 0; merge && i < merge->count; i++) {
        free(merge->changes[i].a);
        free(merge->changes[i].b);
    }
    if (merge) {
        free(merge->changes);
        free(merge->edited);
    }
    free(merge);
}

size_t merge_settle(const struct merge *merge, struct quantize_plan *plan)
{
    size_t count = 0;
    for (size_t i = 0; i < merge->item_count; i++) {
        struct quantize_item *item = &plan->items[i];
        count += merge->edited[i];
        if (merge->edited[i] && !encode_knows(item->type))
            item->type = mix_fit(TENSOR_Q8_0, item->tensor->dims[0]);
    }
    return count;
}

bool merge_edits(void *ctx, size_t item)
{
    return ((const struct merge *)ctx)->edited[item];
}

/* x[j] += factor * sum over r of b[row, r] a[r, j], of the row's expert. */
static void add_matrix(const struct change *change, uint64_t row, float *x, size_t cols)
{
    size_t expert = (size_t)(row / change->rows), rank = change->rank;
    const float *a = change->a + expert * rank * cols, *b = change->b + row * rank;
    for (size_t r = 0; r < rank; r++)
        for (size_t j = 0; j < cols; j++)
            x[j] += change->factor * b[r] * a[r * cols + j];
}

static void add_embedding(const struct change *change, uint64_t row, float *x, size_t cols)
{
    const float *a = change->a + row * change->rank;
    for (size_t j = 0; j < cols; j++)
        for (size_t r = 0; r < change->rank; r++)
            x[j] += change->factor * a[r] * change->b[j * change->rank + r];
}

void merge_edit(void *ctx, size_t item, uint64_t row, float *x, size_t cols)
{
    const struct merge *merge = ctx;
    for (size_t i = 0; i < merge->count; i++)
        if (merge->changes[i].item == item)
            (merge->changes[i].embedding ? add_embedding : add_matrix)(&merge->changes[i], row, x,
                                                                       cols);
}

#include "quant/quantize/scaling_groups.h"

#include "base/core/str.h"
#include "engine/model/architecture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- memory --- */

void scaling_forget(struct scaling *scaling, size_t count)
{
    while (scaling->owned_count > count)
        free(scaling->owned[--scaling->owned_count]);
}

void scaling_free(struct scaling *scaling)
{
    if (scaling == NULL)
        return;
    scaling_forget(scaling, 0);
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

static bool add_user(const struct quantize_plan *plan, struct scaling_group *group, size_t item)
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
static bool attention_in(const struct quantize_plan *plan, unsigned layer,
                         struct scaling_group *group)
{
    *group = (struct scaling_group){.maker = item_of(plan, layer, "attn_norm.weight"),
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
static bool ffn_in(const struct quantize_plan *plan, unsigned layer, struct scaling_group *group)
{
    *group = (struct scaling_group){.maker = item_of(plan, layer, "ffn_norm.weight"),
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
static bool ffn_out(const struct quantize_plan *plan, unsigned layer, struct scaling_group *group)
{
    *group = (struct scaling_group){.maker = item_of(plan, layer, "ffn_up.weight"),
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
                          unsigned layer, struct scaling_group *group)
{
    *group = (struct scaling_group){.maker = item_of(plan, layer, "attn_v.weight"),
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

bool scaling_group_find(const struct quantize_plan *plan, const struct mix_model *model,
                        unsigned layer, unsigned kind, struct scaling_group *group)
{
    switch (kind) {
    case 0:
        return attention_in(plan, layer, group);
    case 1:
        return ffn_in(plan, layer, group);
    case 2:
        return ffn_out(plan, layer, group);
    default:
        return attention_out(plan, model, layer, group);
    }
}

size_t scaling_group_row(const struct scaling_group *group, size_t col)
{
    if (group->head == 0)
        return col;
    return col / ((size_t)group->head * group->shared) * group->head + col % group->head;
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

bool scaling_fold(struct scaling *scaling, struct quantize_plan *plan,
                  const struct scaling_group *group, const float *scales, size_t cols)
{
    size_t count = 0;
    float *inverse = malloc(cols * sizeof *inverse), *squares = malloc(cols * sizeof *squares);
    bool done = inverse && squares;
    for (size_t i = 0; done && i < cols; i++) {
        size_t row = scaling_group_row(group, i);
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

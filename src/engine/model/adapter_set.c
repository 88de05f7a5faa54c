/* Sets of adapters. The members are sorted by their serial numbers, so that the order in which a
 * caller names them changes neither the sums nor the id. */
#include "engine/model/adapter.h"

#include "base/core/assertion.h"
#include "base/core/error.h"

#include <math.h>
#include <stdlib.h>

static enum td_status check_use(const struct td_model *model, const struct adapter_set *set,
                                const struct td_adapter_use *use, struct td_error *err)
{
    const struct td_adapter *adapter = use->adapter;
    if (adapter == NULL)
        return error_set(err, TD_INVALID, "an adapter of the set is NULL");
    if (adapter->model != model)
        return error_set(err, TD_INVALID, "adapter %s was loaded for another model than %s",
                         adapter->name, model->name);
    if (!isfinite(use->scale) || fabsf(use->scale) > TD_ADAPTER_SCALE_MAX)
        return error_set(err, TD_INVALID, "adapter %s: the scale is not in [-%g, %g]",
                         adapter->name, (double)TD_ADAPTER_SCALE_MAX, (double)TD_ADAPTER_SCALE_MAX);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->adapters[i] == adapter)
            return error_set(err, TD_INVALID, "adapter %s is named twice", adapter->name);
    if (use->scale != 0 && set->count == TD_ADAPTERS_MAX)
        return error_set(err, TD_LIMIT, "more than %d adapters at once", TD_ADAPTERS_MAX);
    return TD_OK;
}

static void insert(struct adapter_set *set, const struct td_adapter_use *use)
{
    uint32_t at = set->count++;
    for (; at > 0 && set->id.serials[at - 1] > use->adapter->serial; at--) {
        set->adapters[at] = set->adapters[at - 1];
        set->id.serials[at] = set->id.serials[at - 1];
        set->id.scales[at] = set->id.scales[at - 1];
    }
    set->adapters[at] = adapter_retain(use->adapter);
    set->id.serials[at] = use->adapter->serial;
    set->id.scales[at] = use->scale;
}

/* How many floats the A x of one row takes, for the matrix where that is most. */
static size_t width_of(const struct td_model *model, const struct adapter_set *set)
{
    size_t widest = 0;
    for (uint32_t m = 0; m < model->matrix_count; m++) {
        size_t width = 0;
        for (uint32_t i = 0; i < set->count; i++)
            if (set->adapters[i]->pairs[m].b.rows != 0)
                width += model->kernels->activation_bytes(ACTIVATION_F32,
                                                          set->adapters[i]->pairs[m].b.cols) /
                         sizeof(float);
        widest = width > widest ? width : widest;
    }
    return widest;
}

enum td_status adapter_set_new(const struct td_model *model, const struct td_adapter_use *uses,
                               size_t count, struct adapter_set **out, struct td_error *err)
{
    ASSERT(uses != NULL || count == 0);
    ASSERT(out != NULL);
    *out = NULL;
    if (count == 0)
        return TD_OK;
    struct adapter_set *set = calloc(1, sizeof *set);
    if (set == NULL)
        return error_set(err, TD_NO_MEMORY, "no memory for a set of adapters");
    atomic_init(&set->references, 1);
    enum td_status status = TD_OK;
    for (size_t i = 0; status == TD_OK && i < count; i++) {
        status = check_use(model, set, &uses[i], err);
        if (status == TD_OK && uses[i].scale != 0)
            insert(set, &uses[i]);
    }
    if (status == TD_OK && width_of(model, set) > ADAPTER_SET_WIDTH_MAX)
        status = error_set(err, TD_LIMIT, "the adapters' ranks add up to more than %d",
                           ADAPTER_SET_WIDTH_MAX);
    if (status != TD_OK || set->count == 0) {
        adapter_set_release(set);
        return status;
    }
    *out = set;
    return TD_OK;
}

struct adapter_set *adapter_set_retain(struct adapter_set *set)
{
    ASSERT(set == NULL || set->references > 0);
    if (set)
        atomic_fetch_add(&set->references, 1);
    return set;
}

void adapter_set_release(struct adapter_set *set)
{
    if (set == NULL || atomic_fetch_sub(&set->references, 1) > 1)
        return;
    for (uint32_t i = 0; i < set->count; i++)
        td_adapter_free((struct td_adapter *)(uintptr_t)set->adapters[i]);
    free(set);
}

const struct adapter_set_id *adapter_set_id_of(const struct adapter_set *set)
{
    static const struct adapter_set_id none;
    return set ? &set->id : &none;
}

float adapter_set_factor(const struct adapter_set *set, uint32_t index,
                         const struct adapter_pair *pair)
{
    float alpha = set->adapters[index]->alpha, scale = set->id.scales[index];
    return alpha == 0 ? scale : scale * alpha / (float)pair->b.cols;
}

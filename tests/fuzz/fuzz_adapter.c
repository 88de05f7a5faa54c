/* Any bytes as an adapter of a small model. It is refused with words, or every matrix that it
 * changes fits and can be read to its end. */
#include "../unit/engine/tiny_adapter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned walk(const struct weight *half)
{
    const uint8_t *bytes = half->data;
    size_t count = half->rows * half->row_bytes;
    return count ? (unsigned)bytes[0] + bytes[count - 1] : 0;
}

static unsigned check(const struct td_model *model, const struct td_adapter *adapter)
{
    unsigned sum = 0, changed = 0;
    for (uint32_t i = 0; i < model->matrix_count; i++) {
        const struct adapter_pair *pair = &adapter->pairs[i];
        bool embedding = i == model->embedding.number;
        if (pair->b.rows == 0)
            continue;
        if (pair->b.cols == 0 || pair->b.cols > ADAPTER_RANK_MAX ||
            (embedding ? pair->a.cols : pair->a.rows) != pair->b.cols ||
            (!embedding && pair->b.rows != model->matrices[i].rows))
            abort();
        sum += walk(&pair->a) + walk(&pair->b);
        changed++;
    }
    if (changed == 0 || adapter->info.name == NULL)
        abort();
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct td_model *model;
    static volatile unsigned sink;
    if (model == NULL && (model = tiny_model(1)) == NULL)
        abort();
    struct td_adapter *adapter;
    struct td_error err = {0};
    enum td_status status = adapter_load_memory(model, data, size, "fuzz", &adapter, &err);
    if ((status == TD_OK) != (adapter != NULL) || (status != TD_OK && err.message[0] == '\0'))
        abort();
    if (adapter) {
        struct adapter_set *set = NULL;
        sink = sink + check(model, adapter);
        if (adapter_set_new(model, &(struct td_adapter_use){adapter, 1}, 1, &set, &err) == TD_OK)
            adapter_set_release(set);
        td_adapter_free(adapter);
    }
    return 0;
}

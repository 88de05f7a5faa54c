/* A file of a confidence model: any bytes are refused with words, or become a model whose
 * probabilities are probabilities, and which is the same when it is written and read again. */
#include "router/judge/confidence_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(const struct confidence_model *model, const uint8_t *data, size_t size)
{
    struct confidence_features features;
    for (size_t i = 0; i < CONFIDENCE_FEATURE_COUNT; i++)
        features.value[i] = size > 0 ? (double)(int8_t)data[i % size] : 0;
    double whole = confidence_head_value(&model->whole, &features);
    double running = confidence_head_value(&model->running, &features);
    if (!(whole >= 0 && whole <= 1 && running >= 0 && running <= 1))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct confidence_model one, two;
    struct td_error err = {0};
    if (confidence_model_read((struct td_str){(const char *)data, size}, &one, &err) != TD_OK) {
        if (!*err.message)
            abort();
        return 0;
    }
    use(&one, data, size);
    struct buf text;
    buf_init(&text, 1u << 20);
    confidence_model_write(&one, &text);
    if (text.failed || confidence_model_read(buf_view(&text), &two, &err) != TD_OK ||
        strcmp(one.digest, two.digest) != 0 ||
        confidence_binding_difference(&one.binding, &two.binding) ||
        one.has_thresholds != two.has_thresholds)
        abort();
    buf_deinit(&text);
    return 0;
}

/* Any JSON as config.json (the first line) and any bytes as safetensors (the rest): refused with
 * words, or the last row of each tensor can be read, as floats and in the form of the file. */
#include "quant/convert/hf_weights.h"

#include "base/core/str.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static float read_last_row(const struct hf_weights *weights, size_t index)
{
    const struct hf_tensor *tensor = &weights->tensors[index];
    uint64_t rows = tensor->rows * (tensor->experts ? tensor->experts : 1);
    float *row = malloc((size_t)tensor->cols * sizeof *row), value = 0;
    if (rows == 0 || tensor->cols == 0)
        abort();
    if (row) {
        if (tensor->packing == HF_MXFP4)
            hf_weights_copy(weights, index, rows - 1, (uint8_t *)row);
        hf_weights_read(weights, index, rows - 1, row);
        value = row[tensor->cols - 1];
    }
    free(row);
    return value;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile float sink;
    struct td_str rest = {(const char *)data, size}, first = {NULL, 0};
    struct json *config = NULL;
    struct safetensors *files = NULL;
    struct td_error err = {0};
    str_next(&rest, '\n', &first);
    if (json_parse(first, &config, NULL) != TD_OK)
        return 0;
    const struct hf_family *family = hf_family_find(json_text(json_get(config, "model_type")));
    if (family && safetensors_open_memory(rest.data, rest.len, &files, NULL) == TD_OK) {
        struct hf_weights weights;
        enum td_status status = hf_weights_init(&weights, family, config, files, &err);
        if (status != TD_OK && err.message[0] == '\0')
            abort();
        for (size_t i = 0; status == TD_OK && i < weights.count; i++)
            sink = sink + read_last_row(&weights, i);
        hf_weights_deinit(&weights);
    }
    safetensors_close(files);
    json_free(config);
    return 0;
}

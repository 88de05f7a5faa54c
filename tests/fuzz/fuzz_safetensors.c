/* Any bytes as a safetensors file: refused with words, or every tensor can be read to its end. */
#include "quant/convert/safetensors.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static volatile float sink;
    struct safetensors *tensors = NULL;
    struct td_error err = {0};
    enum td_status status = safetensors_open_memory(data, size, &tensors, &err);
    if ((status == TD_OK) != (tensors != NULL) || (status != TD_OK && err.message[0] == '\0'))
        abort();
    for (size_t i = 0; tensors && i < safetensors_count(tensors); i++) {
        const struct safetensor *tensor = safetensors_at(tensors, i);
        if (safetensors_find(tensors, tensor->name) != tensor)
            abort();
        float value = 0;
        if (tensor->count && safetensor_is_float(tensor))
            safetensor_read(tensor, tensor->count - 1, 1, &value);
        sink = sink + value;
    }
    safetensors_close(tensors);
    return 0;
}

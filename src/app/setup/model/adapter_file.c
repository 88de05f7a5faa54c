/* Reads only the header of the file, so that a list of models can say what an adapter is for
 * without the model that it changes. */
#include "app/setup/model/adapter_file.h"

#include "base/core/str.h"
#include "base/json/json.h"
#include "engine/gguf/gguf.h"

#include <math.h>
#include <stdio.h>

static bool says(const struct gguf *gguf, const char *key, struct td_str expected)
{
    struct td_str value;
    return gguf_get_string(gguf, key, &value) && str_equal(value, expected);
}

/* The rank is the first dimension of every lora_b, [rank, out]. */
static void read_tensors(const struct gguf *gguf, struct adapter_file *out)
{
    out->tensor_count = gguf_tensor_count(gguf);
    for (size_t i = 0; i < out->tensor_count; i++) {
        const struct gguf_tensor *tensor = gguf_tensor_at(gguf, i);
        if (!str_ends_with(tensor->name, STR(".lora_b")) || tensor->dims[0] > UINT32_MAX)
            continue;
        out->matrix_count++;
        if (tensor->dims[0] > out->rank_max)
            out->rank_max = (uint32_t)tensor->dims[0];
    }
}

bool adapter_file_read(const char *path, struct adapter_file *out)
{
    struct gguf *gguf = NULL;
    struct td_str architecture;
    *out = (struct adapter_file){0};
    if (gguf_open(path, false, &gguf, NULL) != TD_OK)
        return false;
    bool found =
        says(gguf, "general.type", STR("adapter")) && says(gguf, "adapter.type", STR("lora"));
    if (found && gguf_get_string(gguf, "general.architecture", &architecture))
        snprintf(out->architecture, sizeof out->architecture, STR_FMT,
                 STR_ARG(str_slice(architecture, 0, sizeof out->architecture - 1)));
    if (found && (!gguf_get_f32(gguf, "adapter.lora.alpha", &out->alpha) || !isfinite(out->alpha)))
        out->alpha = 0;
    if (found)
        read_tensors(gguf, out);
    gguf_close(gguf);
    return out->matrix_count > 0;
}

struct json *adapter_file_to_json(const struct adapter_file *adapter)
{
    struct json *object = json_new_object();
    json_put(object, "type", json_new_cstr("lora"));
    json_put(object, "base_architecture",
             *adapter->architecture ? json_new_text(str_from(adapter->architecture))
                                    : json_new_null());
    json_put(object, "rank", json_new_int(adapter->rank_max));
    json_put(object, "alpha", json_new_double((double)adapter->alpha));
    json_put(object, "matrices", json_new_int((int64_t)adapter->matrix_count));
    json_put(object, "tensors", json_new_int((int64_t)adapter->tensor_count));
    return object;
}

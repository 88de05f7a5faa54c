#include "engine/model/model_keys.h"

#include "base/core/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum td_status model_fail(const struct td_model *model, struct td_error *err, enum td_status status,
                          const char *format, ...)
{
    va_list args;
    va_start(args, format);
    status = error_set_at(err, status, gguf_path(model->gguf), format, args);
    va_end(args);
    return status;
}

enum td_status model_key_bad(const struct td_model *model, struct td_error *err, const char *key,
                             const char *reason)
{
    return model_fail(model, err, TD_CORRUPT, "%s: %s", key, reason);
}

void model_key_name(const struct td_model *model, const char *suffix, char out[static 96])
{
    snprintf(out, 96, "%s.%s", model->architecture->name, suffix);
}

enum td_status model_key_u32(const struct td_model *model, const char *suffix, bool required,
                             uint32_t max, uint32_t *value, struct td_error *err)
{
    char key[96];
    model_key_name(model, suffix, key);
    if (!gguf_has(model->gguf, key))
        return required ? model_key_bad(model, err, key, "missing") : TD_OK;
    if (!gguf_get_u32(model->gguf, key, value))
        return model_key_bad(model, err, key, "not one unsigned integer");
    if (*value == 0 || *value > max)
        return model_fail(model, err, TD_CORRUPT, "%s: %u is not in [1, %u]", key, *value, max);
    return TD_OK;
}

enum td_status model_key_count(const struct td_model *model, const char *suffix, uint32_t max,
                               uint32_t *value, struct td_error *err)
{
    char key[96];
    model_key_name(model, suffix, key);
    if (gguf_get_u32(model->gguf, key, value) && *value == 0)
        return TD_OK;
    return model_key_u32(model, suffix, false, max, value, err);
}

enum td_status model_key_f32(const struct td_model *model, const char *suffix, bool required,
                             float min, float max, float *value, struct td_error *err)
{
    char key[96];
    model_key_name(model, suffix, key);
    if (!gguf_has(model->gguf, key))
        return required ? model_key_bad(model, err, key, "missing") : TD_OK;
    if (!gguf_get_f32(model->gguf, key, value))
        return model_key_bad(model, err, key, "not one finite float");
    if (*value < min || *value > max)
        return model_fail(model, err, TD_CORRUPT, "%s: %g is not in [%g, %g]", key, (double)*value,
                          (double)min, (double)max);
    return TD_OK;
}

uint32_t model_numbers_at(const struct model_numbers *numbers, uint32_t layer)
{
    uint32_t number = numbers->most;
    if (numbers->each)
        memcpy(&number, numbers->each + layer * sizeof number, sizeof number);
    return number;
}

enum td_status model_key_numbers(const struct td_model *model, const char *suffix, bool required,
                                 uint32_t max, struct model_numbers *numbers, struct td_error *err)
{
    char key[96];
    enum gguf_type type;
    const void *data;
    uint64_t count;
    model_key_name(model, suffix, key);
    if (model->architecture->encoder || !gguf_get_array(model->gguf, key, &type, &data, &count))
        return model_key_u32(model, suffix, required, max, &numbers->most, err);
    if ((type != GGUF_U32 && type != GGUF_I32) || count != model->layer_count)
        return model_key_bad(model, err, key, "not a number or one 32-bit integer a layer");
    *numbers = (struct model_numbers){data, 0};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = model_numbers_at(numbers, i);
        if (number > max)
            return model_fail(model, err, TD_CORRUPT, "%s[%u]: %u is not in [0, %u]", key, i,
                              number, max);
        numbers->most = number > numbers->most ? number : numbers->most;
    }
    return numbers->most ? TD_OK : model_key_bad(model, err, key, "0 in every layer");
}

enum td_status model_key_heads(const struct td_model *model, struct model_numbers *heads,
                               struct model_numbers *kv_heads, struct td_error *err)
{
    enum td_status status =
        model_key_numbers(model, "attention.head_count", true, HEADS_MAX, heads, err);
    *kv_heads = *heads;
    if (status == TD_OK)
        status =
            model_key_numbers(model, "attention.head_count_kv", false, HEADS_MAX, kv_heads, err);
    return status;
}

enum td_status model_check_heads(const struct td_model *model, uint32_t heads, uint32_t kv_heads,
                                 struct td_error *err)
{
    if (heads % kv_heads == 0)
        return TD_OK;
    return model_fail(model, err, TD_CORRUPT, "%u heads cannot share %u key-value heads", heads,
                      kv_heads);
}

#include "api/wire/token_ids.h"

bool token_id_read(const struct json *list, size_t index, const char *param,
                   const struct td_model *model, int32_t *id, struct fault *fault)
{
    uint32_t vocab = model ? td_model_get_info(model)->vocab_count : INT32_MAX;
    const struct json *value = json_at(list, index);
    int64_t number = json_int(value, -1);
    if (json_kind_of(value) != JSON_KIND_INT || number < 0 || number >= (int64_t)vocab)
        return fault_request(fault, param, "%s[%zu] is no token of a vocabulary of %u", param,
                             index, vocab);
    *id = (int32_t)number;
    return true;
}

/* Reads the lists of adapters that a request may bring: `lora` and tandem.adapters. */
#include "api/wire/openai_adapters.h"

#include "base/core/assertion.h"
#include "base/core/str.h"
#include "tandem/engine.h"

#include <stdio.h>

static bool read_scale(const struct json *item, const char *param, struct td_adapter_choice *out,
                       struct fault *fault)
{
    const struct json *scale = json_get(item, "scale");
    enum json_kind kind = json_kind_of(scale);
    if (kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL)
        return true;
    double number = json_number(scale, 2 * (double)TD_ADAPTER_SCALE_MAX);
    if (!(number >= -(double)TD_ADAPTER_SCALE_MAX && number <= (double)TD_ADAPTER_SCALE_MAX))
        return fault_request(fault, param, "the scale of an adapter must be a number from %g to %g",
                             -(double)TD_ADAPTER_SCALE_MAX, (double)TD_ADAPTER_SCALE_MAX);
    out->scale = (float)number;
    out->has_scale = true;
    return true;
}

static bool read_item(const struct json *item, const char *param, struct td_adapter_choice *out,
                      struct fault *fault)
{
    const struct json *name = json_get(item, "name"), *id = json_get(item, "id");
    if (json_kind_of(item) == JSON_KIND_TEXT)
        name = item;
    else if (json_kind_of(item) != JSON_KIND_OBJECT)
        return fault_request(fault, param, "an adapter is a name or an object, not %s",
                             json_kind_name(json_kind_of(item)));
    struct td_str text = json_text(name);
    if (text.len > 0 && !memchr(text.data, 0, text.len))
        out->name = json_cstr(name);
    else if (json_kind_of(id) == JSON_KIND_INT && json_int(id, -1) >= 0 &&
             json_int(id, -1) <= INT32_MAX)
        out->number = (uint32_t)json_int(id, 0);
    else
        return fault_request(fault, param, "an adapter needs a name, or an id of 0 or above");
    return name == item || read_scale(item, param, out, fault);
}

static bool same_adapter(const struct td_adapter_choice *a, const struct td_adapter_choice *b)
{
    if (a->name && b->name)
        return strcmp(a->name, b->name) == 0;
    return !a->name && !b->name && a->number == b->number;
}

bool openai_adapters_read(const struct json *list, const char *param, struct td_request *request,
                          struct fault *fault)
{
    ASSERT(param && request && fault);
    enum json_kind kind = json_kind_of(list);
    if (kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL)
        return true;
    if (kind != JSON_KIND_ARRAY)
        return fault_request(fault, param, "%s must be a list of adapters, not %s", param,
                             json_kind_name(kind));
    if (request->names_adapters)
        return fault_request(fault, param, "lora and tandem.adapters exclude each other");
    if (json_count(list) > TD_ADAPTERS_MAX)
        return fault_request(fault, param, "%zu adapters; at most %d are taken at once",
                             json_count(list), TD_ADAPTERS_MAX);
    request->names_adapters = true;
    for (size_t i = 0; i < json_count(list); i++) {
        struct td_adapter_choice choice = {0};
        char item_param[64];
        snprintf(item_param, sizeof item_param, "%.40s[%zu]", param, i);
        if (!read_item(json_at(list, i), item_param, &choice, fault))
            return false;
        for (size_t other = 0; other < request->adapter_count; other++)
            if (same_adapter(&request->adapters[other], &choice))
                return fault_request(fault, item_param, "an adapter is named twice");
        request->adapters[request->adapter_count++] = choice;
    }
    return true;
}

#include "tier/local/local_adapters.h"

#include "base/core/error.h"
#include "router/plan/policy.h"

size_t local_adapters_named(const struct tier_facts *facts, const struct td_request *request)
{
    return request->model && facts->adapter_count > 0 ? policy_find_adapter(facts, request->model)
                                                      : SIZE_MAX;
}

/* Index of the adapter that a choice means; SIZE_MAX when there is none. */
static size_t find_choice(const struct tier_facts *facts, const struct td_adapter_choice *choice)
{
    if (choice->name)
        return policy_find_adapter(facts, choice->name);
    return choice->number < facts->adapter_count ? choice->number : SIZE_MAX;
}

enum td_status local_adapters_choose(const struct tier_facts *facts,
                                     const struct tier_adapter *adapters,
                                     const struct td_model *model, const struct td_request *request,
                                     struct adapter_set **out, struct td_error *err)
{
    struct td_adapter_use uses[TD_ADAPTERS_MAX + 1];
    size_t count = 0, named = local_adapters_named(facts, request);
    if (named != SIZE_MAX)
        uses[count++] = (struct td_adapter_use){adapters[named].adapter, adapters[named].scale};
    for (size_t i = 0; i < request->adapter_count; i++) {
        const struct td_adapter_choice *choice = &request->adapters[i];
        size_t at = find_choice(facts, choice);
        if (at == SIZE_MAX)
            return error_set(err, TD_INVALID, "%s has no adapter '%.60s'", facts->name,
                             choice->name ? choice->name : "of that number");
        uses[count++] = (struct td_adapter_use){
            adapters[at].adapter, choice->has_scale ? choice->scale : adapters[at].scale};
    }
    bool silent = named == SIZE_MAX && !request->names_adapters;
    for (size_t i = 0; silent && i < facts->adapter_count && count <= TD_ADAPTERS_MAX; i++)
        if (adapters[i].always)
            uses[count++] = (struct td_adapter_use){adapters[i].adapter, adapters[i].scale};
    return adapter_set_new(model, uses, count, out, err);
}

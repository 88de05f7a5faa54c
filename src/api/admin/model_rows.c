/* Which names of models there are for a caller, routes first. */
#include "api/admin/model_rows.h"

#include "engine/embedding/embedding_service.h"

#include <string.h>

static void row_add(struct model_rows *list, const char *id, const char *kind,
                    const struct route *route, const struct tier_facts *facts)
{
    struct model_choice choice;
    if (!id || !*id || list->count == MODEL_ROWS_MAX)
        return;
    if (strcmp(kind, "embeddings") == 0 ? !model_names_allowed(&list->names, id)
                                        : !model_names_find(&list->names, id, &choice))
        return;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->rows[i].id, id) == 0)
            return;
    list->rows[list->count++] = (struct model_row){id, kind, route, facts};
}

void model_rows_collect(struct api *api, struct exchange_services *services,
                        struct model_rows *list)
{
    const struct policy *policy = services->policy;
    struct model_choice first;
    list->services = services;
    list->count = 0;
    for (size_t i = 0; i < services->tier_count && i < RUNGS_MAX; i++)
        list->facts[i] = services->tiers[i]->facts;
    list->names = (struct model_names){.policy = policy,
                                       .facts = list->facts,
                                       .tier_count = services->tier_count,
                                       .app = policy_find_app(policy, api->who.key)};
    if (api->who.stored && auth_terms(api->host->auth, api->who.key_id, &list->terms))
        list->names.models = list->terms.models;
    if (model_names_find(&list->names, NULL, &first))
        row_add(list, "auto", "route", first.route, NULL);
    for (size_t i = 0; i < policy->route_count; i++)
        row_add(list, policy->routes[i].name, "route", &policy->routes[i], NULL);
    for (size_t i = 0; i < policy->route_count; i++)
        for (const char *const *alias = policy->routes[i].aliases; alias && *alias; alias++)
            if (!strchr(*alias, '*'))
                row_add(list, *alias, "alias", &policy->routes[i], NULL);
    for (size_t i = 0; i < services->tier_count; i++)
        row_add(list, list->facts[i].name, "tier", NULL, &list->facts[i]);
    for (size_t i = 0; i < services->tier_count; i++) {
        row_add(list, list->facts[i].model, "model", NULL, &list->facts[i]);
        for (size_t m = 0; m < list->facts[i].model_count; m++)
            row_add(list, list->facts[i].models[m].name, "model", NULL, &list->facts[i]);
    }
    if (services->embeddings)
        row_add(list, td_model_get_info(embedding_service_model(services->embeddings))->name,
                "embeddings", NULL, NULL);
    for (size_t i = 0; i < services->tier_count; i++)
        for (size_t a = 0; a < list->facts[i].adapter_count; a++)
            row_add(list, list->facts[i].adapters[a], "adapter", NULL, &list->facts[i]);
}

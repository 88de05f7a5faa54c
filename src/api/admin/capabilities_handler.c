/* GET /tandem/v1/capabilities: what this server can do, for clients and consoles that adapt to it.
 *
 *   {"object": "capabilities", "version", "tiers": [{"name", "place", "provider", "up", "code",
 *    "models", "context_tokens", "region", "classes", "pseudonyms", "no_train", "no_retention",
 *    "can"}], "routes": [{"name", "aliases", "tiers"}], "endpoints", "limits", "privacy", "cache",
 *    "skew": [{"tiers", "differ", "compared", "policy", "ask"}], "device", "deferral", "network",
 *    "complete", "features", "missing"}
 *
 * "classes" are those of data that the tier may be sent as they are, "can" what it can beside text.
 * There are no addresses, keys or prices in it, and no names that the caller may not ask for. */
#include "api/admin/capability_state.h"
#include "api/admin/handlers.h"
#include "api/admin/model_rows.h"
#include "api/cache/answer_cache.h"
#include "api/deferral/deferral.h"
#include "api/http/reply.h"
#include "api/metrics/tier_condition.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "device/device.h"
#include "exchange/memory/skew_table.h"
#include "exchange/parts/shadow_pool.h"
#include "router/plan/model_names.h"
#include "tier/door.h"

#include <stdlib.h>

#define REPLY_BYTES_MAX (1u << 20)

static const struct {
    enum capability capability;
    const char *name;
} abilities[] = {
    {CAPABILITY_TOOLS, "tools"},           {CAPABILITY_SCHEMA, "json_schema"},
    {CAPABILITY_GRAMMAR, "grammar"},       {CAPABILITY_ADAPTERS, "adapters"},
    {CAPABILITY_COMPLETION, "completion"}, {CAPABILITY_IMAGE, "image"},
    {CAPABILITY_AUDIO, "audio"},           {CAPABILITY_FILE, "file"},
    {CAPABILITY_INFILL, "infill"},
};

static bool may_name(const struct model_rows *rows, const char *name)
{
    struct model_choice choice;
    return name && model_names_find(&rows->names, name, &choice);
}

static void push_text(struct json *list, const char *text)
{
    json_push(list, json_new_cstr(text));
}

static struct json *models_of(const struct model_rows *rows, const struct tier_facts *facts)
{
    struct json *list = json_new_array();
    if (may_name(rows, facts->model))
        push_text(list, facts->model);
    for (size_t i = 0; i < facts->model_count; i++)
        if (may_name(rows, facts->models[i].name))
            push_text(list, facts->models[i].name);
    return list;
}

static struct json *classes_of(const struct tier_facts *facts)
{
    struct json *list = json_new_array();
    for (int i = TD_CLASS_PUBLIC; i <= TD_CLASS_RESTRICTED; i++)
        if (egress_allowed((enum td_data_class)i, facts))
            push_text(list, names_class((enum td_data_class)i));
    return list;
}

static struct json *tier_of(const struct exchange_services *services, size_t tier,
                            const struct model_rows *rows)
{
    const struct tier_facts *facts = &rows->facts[tier];
    struct tier_condition condition;
    struct json *object = json_new_object(), *can = json_new_array();
    tier_condition_read(services, tier, &condition);
    json_put(object, "name", json_new_cstr(facts->name));
    json_put(object, "place", json_new_cstr(names_place(facts->place)));
    json_put(object, "provider", json_new_cstr(facts->provider ? facts->provider : "tandem"));
    json_put(object, "up", json_new_bool(condition.up && !condition.broken));
    json_put(object, "code", json_new_cstr(condition.code));
    json_put(object, "models", models_of(rows, facts));
    if (facts->context_tokens)
        json_put(object, "context_tokens", json_new_int(facts->context_tokens));
    json_put(object, "region", json_new_cstr(facts->region));
    json_put(object, "classes", classes_of(facts));
    json_put(object, "pseudonyms", json_new_bool(facts->pseudonyms));
    json_put(object, "no_train", json_new_bool(!(facts->lacks & CAPABILITY_NO_TRAIN)));
    json_put(object, "no_retention", json_new_bool(!(facts->lacks & CAPABILITY_NO_RETENTION)));
    for (size_t i = 0; i < sizeof abilities / sizeof *abilities; i++)
        if (!(facts->lacks & abilities[i].capability))
            push_text(can, abilities[i].name);
    json_put(object, "can", can);
    return object;
}

static struct json *route_of(const struct route *route)
{
    struct json *object = json_new_object(), *tiers = json_new_array(), *names = json_new_array();
    for (size_t i = 0; i < route->tier_count; i++)
        push_text(tiers, route->tiers[i]);
    for (const char *const *alias = route->aliases; alias && *alias; alias++)
        push_text(names, *alias);
    json_put(object, "name", json_new_cstr(route->name));
    json_put(object, "aliases", names);
    json_put(object, "tiers", tiers);
    return object;
}

/* Those without a further name; /v1 stands for the spelling without it. */
static struct json *endpoints_of(const struct api *api)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < api->endpoint_count; i++) {
        const char *path = api->endpoints[i].path;
        bool plain = api->endpoints[i].method == HTTP_POST && !strchr(path, '*');
        bool again = strncmp(path, "/openai/", 8) == 0 ||
                     (strncmp(path, "/v1", 3) != 0 && strncmp(path, "/api/", 5) != 0 &&
                      strncmp(path, "/tandem/", 8) != 0);
        if (plain && !again)
            push_text(list, path);
        else if (api->endpoints[i].method == HTTP_POST && strncmp(path, "/v1beta/", 8) == 0)
            push_text(list, path);
    }
    return list;
}

static struct json *limits_of(const struct api_host *host, const struct exchange_services *services)
{
    struct json *object = json_new_object();
    json_put(object, "body_bytes_max", json_new_int((int64_t)host->body_bytes_max));
    json_put(object, "answer_bytes_max", json_new_int((int64_t)host->answer_bytes_max));
    json_put(object, "file_bytes_max",
             json_new_int(host->files ? (int64_t)host->file_bytes_max : 0));
    json_put(object, "deadline_ms", json_new_int(services->deadline_ms));
    return object;
}

static struct json *privacy_of(const struct api_host *host,
                               const struct exchange_services *services)
{
    struct json *object = json_new_object(), *classes = json_new_array();
    for (int i = TD_CLASS_PUBLIC; i <= TD_CLASS_RESTRICTED; i++)
        push_text(classes, names_class((enum td_data_class)i));
    json_put(object, "classes", classes);
    json_put(object, "pseudonyms", json_new_bool(services->pseudonyms != NULL));
    json_put(object, "zero_retention", json_new_bool(host->zero_retention));
    json_put(object, "confined", json_new_bool(host->sandbox != NULL));
    json_put(object, "responses_kept", json_new_bool(host->history != NULL));
    return object;
}

/* Whether a question may wait for a connection, and whether it does so unasked. */
static struct json *deferral_of(const struct api_host *host)
{
    if (!host->deferral)
        return json_new_null();
    struct json *object = json_new_object();
    bool allows = deferral_options(host->deferral)->otherwise == DEFER_ALLOW;
    json_put(object, "default", json_new_cstr(allows ? "allow" : "never"));
    return object;
}

/* Pairs of tiers that say something else too often (docs/evidence.md). */
static struct json *skew_of(const struct exchange_services *services, const struct model_rows *rows)
{
    static const char *const policies[] = {"warn", "keep", "part"};
    struct skew_signal skew = {.count = 0};
    struct json *list = json_new_array();
    if (services->shadow_pool)
        skew_table_read(shadow_pool_skew(services->shadow_pool), rows->facts,
                        services->tier_count < RUNGS_MAX ? services->tier_count : RUNGS_MAX, &skew);
    for (size_t i = 0; i < skew.count; i++) {
        const struct skew_pair *pair = &skew.pairs[i];
        struct json *object = json_new_object(), *tiers = json_new_array();
        for (int side = 0; side < 2; side++)
            push_text(tiers, rows->facts[pair->tiers[side]].name);
        json_put(object, "tiers", tiers);
        json_put(object, "differ", json_new_double(pair->differ));
        json_put(object, "compared", json_new_int((int64_t)pair->compared));
        json_put(object, "policy", json_new_cstr(policies[services->skew_policy]));
        json_put(object, "ask", json_new_cstr("update"));
        json_push(list, object);
    }
    return list;
}

static struct json *all_of(struct api *api, struct exchange_services *services,
                           struct model_rows *rows)
{
    const struct policy *policy = services->policy;
    struct capability_state state;
    struct json *object = json_new_object(), *tiers = json_new_array(), *routes = json_new_array();
    model_rows_collect(api, services, rows);
    for (size_t i = 0; i < services->tier_count && i < RUNGS_MAX; i++)
        json_push(tiers, tier_of(services, i, rows));
    for (size_t i = 0; i < policy->route_count; i++)
        if (may_name(rows, policy->routes[i].name))
            json_push(routes, route_of(&policy->routes[i]));
    json_put(object, "object", json_new_cstr("capabilities"));
    json_put(object, "version", json_new_cstr(TANDEM_VERSION));
    json_put(object, "tiers", tiers);
    json_put(object, "routes", routes);
    json_put(object, "endpoints", endpoints_of(api));
    json_put(object, "limits", limits_of(api->host, services));
    json_put(object, "privacy", privacy_of(api->host, services));
    json_put(object, "skew", skew_of(services, rows));
    json_put(object, "cache", json_new_bool(services->asked != NULL));
    if (services->device)
        json_put(object, "device", capability_device(services->device));
    json_put(object, "deferral", deferral_of(api->host));
    capability_state_read(services, &state);
    capability_state_put(services, &state, object);
    return object;
}

void capabilities_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault;
    struct model_rows *rows = calloc(1, sizeof *rows);
    if (!rows) {
        fault_no_memory(&fault);
        api_reply_fault(api, request, &fault);
        return;
    }
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct json *object = all_of(api, services, rows);
    api->host->release(api->host->ctx, services);
    free(rows);
    api_reply_value(api, request, object, REPLY_BYTES_MAX);
}

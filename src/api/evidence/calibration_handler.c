/* GET /tandem/v1/calibration?since_wall_ms=MS: which models answer here, and what their confidence
 * is worth.
 *
 *   {"object": "calibration",
 *    "tiers": [{"name", "place", "provider", "model", "version", "fault",
 *               "judged_by": "calibration", "confidence_model", "file", "rule" or "nothing",
 *               "samples", "thresholds": [{"risk", "threshold" (null: nothing may be kept)}],
 *               "kept_from": the confidence that the default route asks for (null: nothing is kept,
 *               or no gate looks),
 *               "file": {"architecture", "quantization", "bytes", "parameters", "context_tokens",
 *                        "layers", "renderer", "fingerprint"} or null}],
 *    "routes": [{"name", "tiers", "risk", "early_min" (of gate g2; null: it is off)}],
 *    "loaded", "memory_bytes": of the engines,
 *    "answers", "versions": of the ledger (admin/ledger_desk.h)}
 *
 * Whoever draws reliability and risk takes them from the answers: whole curves are more than the
 * few numbers that a server would choose. */
#include "api/admin/ledger_desk.h"
#include "api/admin/lookup.h"
#include "api/evidence/handlers.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/json/json.h"
#include "engine/session/scheduler.h"
#include "router/judge/confidence_model.h"
#include "router/plan/tier_gates.h"
#include "tandem/engine.h"
#include "tier/tier.h"

#include <string.h>

#define REPLY_BYTES_MAX ((size_t)4 << 20)

/* What the engine knows of the tier's file; NULL of servers, and of a second local model. */
static struct json *file_json(const struct exchange_services *services,
                              const struct tier_facts *facts)
{
    const struct td_model_info *info =
        services->model && !facts->provider ? td_model_get_info(services->model) : NULL;
    if (!info || (facts->model && strcmp(facts->model, info->name) != 0))
        return json_new_null();
    struct json *object = json_new_object();
    json_put(object, "architecture", json_new_cstr(info->architecture));
    json_put(object, "quantization", json_new_cstr(info->quantization));
    json_put(object, "bytes", json_new_int((int64_t)info->file_bytes));
    json_put(object, "parameters", json_new_int((int64_t)info->parameter_count));
    json_put(object, "context_tokens", json_new_int(info->context_tokens));
    json_put(object, "layers", json_new_int(info->layer_count));
    json_put(object, "renderer", json_new_cstr(info->chat_renderer));
    json_put(object, "fingerprint", json_new_cstr(info->fingerprint));
    return object;
}

static const char *judged_by(const struct tier_facts *facts)
{
    return facts->has_thresholds               ? "calibration"
           : facts->confidence_model           ? "confidence_model"
           : facts->confidence_temperature > 0 ? "file"
           : facts->uncalibrated               ? "nothing"
                                               : "rule";
}

static struct json *thresholds_json(const struct tier_facts *facts)
{
    struct json *list = json_new_array();
    for (int i = 0; facts->has_thresholds && i < RISK_LEVEL_COUNT; i++) {
        struct json *row = json_new_object();
        json_put(row, "risk", json_new_double(confidence_risks[i]));
        json_put(row, "threshold", json_new_double(facts->threshold[i]));
        json_push(list, row);
    }
    return list;
}

/* What the default route asks of its answers. */
static struct json *kept_from(const struct exchange_services *services,
                              const struct tier_facts *facts)
{
    struct gate_settings own;
    tier_gates_of(&services->policy->routes[0].gates, facts, facts->adapts_always, &own);
    return own.g3_on && !own.uncalibrated ? json_new_double(own.g3_confidence_min)
                                          : json_new_null();
}

static struct json *tier_json(const struct exchange_services *services,
                              const struct tier_facts *facts)
{
    const struct confidence_model *model = facts->confidence_model;
    struct json *object = json_new_object();
    json_put(object, "name", json_new_cstr(facts->name));
    json_put(object, "place", json_new_cstr(names_place(facts->place)));
    json_put(object, "provider", json_new_cstr(facts->provider ? facts->provider : "tandem"));
    json_put(object, "model", json_new_cstr(facts->model));
    json_put(object, "version", json_new_cstr(facts->model_version));
    json_put(object, "fault", json_new_cstr(facts->model_fault ? facts->model_fault->text : NULL));
    json_put(object, "judged_by", json_new_cstr(facts->people ? "nothing" : judged_by(facts)));
    json_put(object, "samples", model ? json_new_int(model->samples) : json_new_null());
    json_put(object, "thresholds", thresholds_json(facts));
    json_put(object, "kept_from", kept_from(services, facts));
    json_put(object, "file", file_json(services, facts));
    return object;
}

static struct json *route_json(const struct route *route)
{
    struct json *object = json_new_object(), *tiers = json_new_array();
    for (size_t i = 0; i < route->tier_count; i++)
        json_push(tiers, json_new_cstr(route->tiers[i]));
    json_put(object, "name", json_new_cstr(route->name));
    json_put(object, "tiers", tiers);
    json_put(object, "risk", json_new_double(confidence_risks[route->gates.risk]));
    json_put(object, "early_min",
             route->gates.g2_on ? json_new_double(route->gates.g2_confidence_min)
                                : json_new_null());
    return object;
}

static void put_memory(const struct exchange_services *services, struct json *object)
{
    int64_t loaded = 0, bytes = 0;
    for (size_t i = 0; i < services->scheduler_count; i++) {
        struct scheduler_load load = scheduler_get_load(services->schedulers[i]);
        loaded += load.loaded;
        bytes += load.loaded ? (int64_t)load.memory_bytes : 0;
    }
    json_put(object, "loaded", json_new_int(loaded));
    json_put(object, "memory_bytes", json_new_int(bytes));
}

/* An api_found_fn. */
static void reply(struct api *api, struct http_request *request, struct json *value, void *ctx)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct json *tiers = json_new_array(), *routes = json_new_array();
    (void)ctx;
    for (size_t i = 0; i < services->tier_count; i++)
        json_push(tiers, tier_json(services, &services->tiers[i]->facts));
    for (size_t i = 0; i < services->policy->route_count; i++)
        json_push(routes, route_json(&services->policy->routes[i]));
    json_put(value, "object", json_new_cstr("calibration"));
    json_put(value, "tiers", tiers);
    json_put(value, "routes", routes);
    put_memory(services, value);
    api->host->release(api->host->ctx, services);
    api_reply_value(api, request, value, REPLY_BYTES_MAX);
}

void calibration_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct ledger_question question = {.what = LEDGER_ASKED_CALIBRATION};
    if (!query_check(api, request, "since_wall_ms") ||
        !query_wall_ms(api, request, "since_wall_ms", &question.since_wall_ms))
        return;
    if (api->host->ledger_desk) {
        exchanges_ask(api, request, &question, reply, NULL);
    } else { /* the models are there all the same */
        struct json *value = json_new_object();
        json_put(value, "answers", json_new_array());
        json_put(value, "versions", json_new_array());
        reply(api, request, value, NULL);
    }
}

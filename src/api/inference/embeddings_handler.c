/* POST /v1/embeddings: vectors of texts or token ids, by the model of this device. Nothing leaves
 * it, so it takes texts of every class. Protected classes (tier/sandbox.h) go to the confined
 * worker. The ledger and the metrics have the calls under the route "embeddings".
 *
 * A struct embedding_call lives until its job ends, the client leaves or the server stops. */
#include "api/http/access.h"
#include "api/http/call.h"
#include "api/http/metrics.h"
#include "api/http/reply.h"
#include "api/inference/exchange_reply.h"
#include "api/inference/handlers.h"
#include "api/wire/embeddings_request.h"
#include "base/clock.h"
#include "base/crypto.h"
#include "base/json.h"
#include "base/log.h"
#include "base/names.h"
#include "base/str.h"
#include "engine/embedding/embedding.h"
#include "engine/embedding/embedding_service.h"
#include "ledger/ledger.h"
#include "privacy/scan/privacy.h"
#include "tier/sandbox.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUTE_NAME "embeddings"
#define ID_BYTES 28

struct embedding_call {
    struct api_call base; /* first */
    struct exchange_services *services;
    struct http_request *http;     /* NULL once replied or gone */
    struct embedding_job *job;     /* NULL once it ended */
    struct sandbox_call *confined; /* in its place; NULL once it ended */
    struct embeddings_request request;
    enum td_data_class data_class;
    double start_ms;
    char tier[64];
    char tenant[AUTH_TENANT_BYTES]; /* "" = none is told apart */
    char id[ID_BYTES];
    struct tracing tracing;
};

static const struct td_model_info *info_of(const struct exchange_services *services)
{
    return td_model_get_info(embedding_service_model(services->embeddings));
}

static void call_free(struct embedding_call *call)
{
    if (call->job)
        embedding_cancel(call->job);
    if (call->confined)
        sandbox_cancel(call->confined);
    call->base.api->host->release(call->base.api->host->ctx, call->services);
    api_call_end(&call->base);
    embeddings_request_deinit(&call->request);
    free(call);
}

/* --- the record --- */

static void count_call(const struct embedding_call *call, enum exchange_end end,
                       uint64_t token_count, double total_ms)
{
    struct metrics *metrics = call->base.api->host->metrics;
    uint32_t shard = call->base.api->shard;
    char tier[METRICS_LABELS_BYTES] = "", labels[METRICS_LABELS_BYTES] = "";
    metrics_label(tier, "tier", call->tier);
    snprintf(labels, sizeof labels, "%s", tier);
    metrics_label(labels, "route", ROUTE_NAME);
    metrics_label(labels, "status", names_end(end));
    metrics_add(metrics, shard, METRICS_EXCHANGES, labels, 1);
    exchange_reply_count_class(call->base.api, ROUTE_NAME, call->data_class, end);
    metrics_add(metrics, shard, METRICS_PROMPT_TOKENS, tier, (double)token_count);
    if (total_ms > 0)
        metrics_observe(metrics, shard, METRICS_TOTAL_SECONDS, tier, total_ms / 1e3);
}

/* The texts are not recorded even where prompts are, because texts of vectors are bulk data. */
static void record_call(const struct embedding_call *call, enum td_status status,
                        uint64_t token_count, const char *error)
{
    const struct api_host *host = call->base.api->host;
    if (!host->ledger)
        return;
    const char *model = info_of(call->services)->name;
    double total_ms = clock_monotonic_ms(NULL) - call->start_ms;
    struct ledger_attempt attempt = {
        .tier = call->tier,
        .model = model,
        .place = names_place(TD_PLACE_DEVICE),
        .outcome = status == TD_OK          ? ATTEMPT_ANSWERED
                   : status == TD_CANCELLED ? ATTEMPT_CANCELLED
                                            : ATTEMPT_FAILED,
        .error = error,
        .confidence = NAN,
        .prompt_tokens = (uint32_t)token_count,
        .total_ms = total_ms,
    };
    struct ledger_exchange record = {
        .id = call->id,
        .wall_ms = clock_wall_ms(NULL),
        .user = host->zero_retention ? NULL : call->request.user,
        .tenant = *call->tenant ? call->tenant : NULL,
        .route = ROUTE_NAME,
        .requested_model = call->request.model,
        .tier = call->tier,
        .model = model,
        .place = names_place(TD_PLACE_DEVICE),
        .data_class = names_class(call->data_class),
        .status = status == TD_OK          ? ENDED_OK
                  : status == TD_CANCELLED ? ENDED_CANCELLED
                                           : ENDED_FAILED,
        .trace_id = host->zero_retention ? NULL : call->tracing.trace.id,
        .request_id = host->zero_retention ? NULL : call->tracing.request_id,
        .standing = status == TD_OK ? ANSWER_FULL : ANSWER_NONE,
        .confidence = NAN,
        .prompt_tokens = (uint32_t)token_count,
        .ttft_ms = NAN,
        .total_ms = total_ms,
        .attempts = &attempt,
        .attempt_count = 1,
    };
    struct td_error err = {0};
    if (ledger_put(host->ledger, &record, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "ledger_put_failed", "exchange=%s error=\"%s\"", call->id,
                  err.message);
}

/* --- ends --- */

static void call_cancelled(struct embedding_call *call)
{
    record_call(call, TD_CANCELLED, 0, NULL);
    count_call(call, ENDED_CANCELLED, 0, 0);
}

static void call_gone(void *ctx)
{
    struct embedding_call *call = ctx;
    api_count_code(call->base.api, 499);
    call_cancelled(call);
    call_free(call);
}

static void call_stop(struct api_call *base)
{
    struct embedding_call *call = (struct embedding_call *)base;
    struct fault fault;
    fault_stopping(&fault);
    call_cancelled(call);
    api_reply_fault(base->api, call->http, &fault);
    call_free(call);
}

static void on_done(void *ctx, enum td_status status, const struct embedding_answer *answer,
                    const struct td_error *err)
{
    struct embedding_call *call = ctx;
    struct api *api = call->base.api;
    call->job = NULL;
    call->confined = NULL;
    double total_ms = clock_monotonic_ms(NULL) - call->start_ms;
    record_call(call, status, answer ? answer->token_count : 0, answer ? NULL : err->message);
    count_call(call, answer ? ENDED_OK : ENDED_FAILED, answer ? answer->token_count : 0, total_ms);
    http_reply_header(call->http, "x-tandem-tier", call->tier);
    http_reply_header(call->http, "x-tandem-place", names_place(TD_PLACE_DEVICE));
    http_reply_header(call->http, "x-tandem-exchange", call->id);
    if (answer) {
        struct buf body;
        buf_init(&body, EMBEDDINGS_ANSWER_BYTES_MAX);
        embeddings_write(&call->request, answer, info_of(call->services)->name, &body);
        api_reply_json(api, call->http, 200, &body);
        buf_deinit(&body);
    } else {
        struct fault fault;
        fault_from_status(&fault, status, err->message, "input");
        api_reply_fault(api, call->http, &fault);
    }
    call_free(call);
}

/* --- the request --- */

/* The tier whose name or model was asked for; NULL when the name means something else. "auto" and
 * the embedding model's own name mean the device's. */
static const char *find_tier(const struct exchange_services *services, const char *model)
{
    const char *own = info_of(services)->name;
    bool any = strcmp(model, "auto") == 0 || strcmp(model, own) == 0;
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        if (facts->place == TD_PLACE_DEVICE && (any || strcmp(model, facts->name) == 0 ||
                                                (facts->model && strcmp(model, facts->model) == 0)))
            return facts->name;
    }
    return any ? "local" : NULL;
}

static bool choose_tier(struct embedding_call *call, struct fault *fault)
{
    if (!call->services->embeddings) {
        fault_set(fault, 503, "server_error", "no_tier_available",
                  "there is no model on this device to embed with; set engine.embedding_model");
        fault->no_retry = true;
        return false;
    }
    const char *tier = find_tier(call->services, call->request.model);
    snprintf(call->tier, sizeof call->tier, "%s", tier ? tier : "");
    if (tier)
        return true;
    fault_set(fault, 404, "invalid_request_error", "model_not_found",
              "'%.200s' has no embeddings here; ask for 'auto' or '%s'", call->request.model,
              info_of(call->services)->name);
    snprintf(fault->param, sizeof fault->param, "model");
    return false;
}

static void raise_class(struct embedding_call *call, enum td_data_class data_class)
{
    if (data_class > call->data_class)
        call->data_class = data_class;
}

/* Nobody can read token ids here, so they are taken for restricted. */
static bool classify(struct embedding_call *call, struct fault *fault)
{
    const char *declared = http_request_header(call->http, "x-tandem-data-class");
    enum td_data_class data_class;
    if (declared && !names_class_parse(str_from(declared), &data_class))
        return fault_request(fault, "x-tandem-data-class",
                             "x-tandem-data-class: unknown data class '%.40s'", declared);
    if (declared)
        raise_class(call, data_class);
    raise_class(call, call->services->text_class);
    for (size_t i = 0; i < call->request.input_count; i++) {
        const struct embedding_input *input = &call->request.inputs[i];
        raise_class(call, input->id_count
                              ? TD_CLASS_RESTRICTED
                              : privacy_classify(call->services->scanner, input->text, NULL));
    }
    return true;
}

static bool submit(struct embedding_call *call, struct fault *fault)
{
    struct api *api = call->base.api;
    struct td_error err = {0};
    uint8_t random[(ID_BYTES - 4) / 2];
    struct embedding_request job = {.inputs = call->request.inputs,
                                    .input_count = call->request.input_count,
                                    .caller = api->who.caller,
                                    .loop = api->loop,
                                    .on_done = on_done,
                                    .ctx = call};
    struct sandbox *sandbox = api->host->sandbox;
    enum td_status status = crypto_random(random, sizeof random, &err);
    call->tracing = api->tracing;
    memcpy(call->tenant, api->who.tenant, sizeof call->tenant);
    memcpy(call->id, "em_", 3);
    crypto_hex(random, sizeof random, call->id + 3);
    if (status == TD_OK && sandbox && sandbox_is_for(call->data_class))
        status = sandbox_embed(sandbox, &job, info_of(call->services)->embedding_size,
                               &call->confined, &err);
    else if (status == TD_OK)
        status = embedding_submit(call->services->embeddings, &job, &call->job, &err);
    if (status == TD_OK)
        return true;
    fault_from_status(fault, status, err.message, NULL);
    return false;
}

void embeddings_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct embedding_call *call = calloc(1, sizeof *call);
    if (!call) {
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another request", NULL);
        api_reply_fault(api, request, &fault);
        return;
    }
    call->http = request;
    call->start_ms = clock_monotonic_ms(NULL);
    api_call_begin(api, &call->base, call_stop, true);
    call->services = api->host->acquire(api->host->ctx);
    const struct embedding_service *service = call->services->embeddings;
    const struct td_model *model = service ? embedding_service_model(service) : NULL;
    if (!embeddings_request_parse(http_request_body(request), model, &call->request, &fault) ||
        !choose_tier(call, &fault) || !classify(call, &fault) || !submit(call, &fault)) {
        api_reply_fault(api, request, &fault);
        call_free(call);
        return;
    }
    http_request_on_gone(request, call_gone, call);
}

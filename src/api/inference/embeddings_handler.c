/* POST /v1/embeddings and what else is answered by vectors (struct embedding_form): vectors of
 * texts or token ids, by the model of this device. Nothing leaves it, so it takes texts of every
 * class. Protected classes (tier/local/sandbox.h) go to the confined worker. The ledger and the
 * metrics have the calls under the form's route.
 *
 * A struct embedding_call lives until its job ends, its deadline passes, the client leaves or the
 * server stops. */
#include "api/dialects/gemini/gemini_embeddings.h"
#include "api/dialects/llama/llama_embeddings.h"
#include "api/dialects/ollama/ollama_embeddings.h"
#include "api/http/call.h"
#include "api/http/reply.h"
#include "api/inference/call_deadline.h"
#include "api/inference/handlers.h"
#include "api/inference/local_record.h"
#include "api/wire/embeddings_request.h"
#include "api/wire/rerank_request.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/embedding/embedding.h"
#include "engine/embedding/embedding_service.h"
#include "privacy/scan/privacy.h"
#include "router/plan/model_names.h"
#include "tier/local/sandbox.h"

#include <stdio.h>
#include <stdlib.h>

struct embedding_call {
    struct api_call base; /* first */
    const struct embedding_form *form;
    struct exchange_services *services;
    struct http_request *http;     /* NULL once replied or gone */
    struct embedding_job *job;     /* NULL once it ended */
    struct sandbox_call *confined; /* in its place; NULL once it ended */
    struct embeddings_request request;
    struct call_deadline deadline;
    struct local_record record;
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
    call_deadline_stop(&call->deadline, call->base.api);
    local_record_leave(&call->record);
    call->base.api->host->release(call->base.api->host->ctx, call->services);
    api_call_end(&call->base);
    embeddings_request_deinit(&call->request);
    free(call);
}

/* --- ends --- */

static void call_gone(void *ctx)
{
    struct embedding_call *call = ctx;
    api_count_code(call->base.api, 499);
    local_record_end(&call->record, TD_CANCELLED, 0, NULL);
    call_free(call);
}

static void call_stop(struct api_call *base)
{
    struct embedding_call *call = (struct embedding_call *)base;
    struct fault fault;
    fault_stopping(&fault);
    local_record_end(&call->record, TD_CANCELLED, 0, NULL);
    api_reply_fault(base->api, call->http, &fault);
    call_free(call);
}

/* Records the call and writes the answer, which is NULL after a failure. The call is gone then. */
static void call_end(struct embedding_call *call, enum td_status status,
                     const struct embedding_answer *answer, const char *error)
{
    struct api *api = call->base.api;
    local_record_end(&call->record, status, answer ? answer->token_count : 0, error);
    local_record_headers(&call->record, call->http);
    if (answer) {
        struct buf body;
        buf_init(&body, EMBEDDINGS_ANSWER_BYTES_MAX);
        call->form->write(&call->request, answer, info_of(call->services)->name,
                          clock_monotonic_ms(NULL) - call->record.start_ms, &body);
        api_reply_json(api, call->http, 200, &body);
        buf_deinit(&body);
    } else {
        struct fault fault;
        fault_from_status(&fault, status, error, call->form->input);
        api_reply_fault(api, call->http, &fault);
    }
    call_free(call);
}

static void on_done(void *ctx, enum td_status status, const struct embedding_answer *answer,
                    const struct td_error *err)
{
    struct embedding_call *call = ctx;
    call->job = NULL;
    call->confined = NULL;
    call_end(call, status, answer, answer ? NULL : err->message);
}

static void on_deadline(void *ctx)
{
    struct embedding_call *call = ctx;
    struct td_error err = {0};
    enum td_status status = call_deadline_passed(&call->deadline, &err);
    call_end(call, status, NULL, err.message);
}

/* --- the request --- */

static bool is_alias(const struct exchange_services *services, const char *model)
{
    const char *const *alias = services->embedding_aliases;
    while (alias && *alias && !model_names_match(*alias, model))
        alias++;
    return alias && *alias;
}

/* The tier whose name or model was asked for; NULL when the name means something else. "auto", the
 * embedding model's own name and its aliases mean the device's. */
static const char *find_tier(const struct exchange_services *services, const char *model)
{
    const char *own = info_of(services)->name;
    bool any = strcmp(model, "auto") == 0 || strcmp(model, own) == 0 || is_alias(services, model);
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
    if (embedding_service_ranks(call->services->embeddings) && call->form != &rerank_form)
        return fault_request(fault, "model",
                             "the model on this device ranks documents and makes no vectors: ask "
                             "/v1/rerank, or let the operator set engine.embedding_model");
    const char *tier = find_tier(call->services, call->request.model);
    snprintf(call->record.tier, sizeof call->record.tier, "%s", tier ? tier : "");
    if (tier)
        return true;
    fault_set(
        fault, 404, "invalid_request_error", "model_not_found",
        "'%.200s' has no embeddings here; ask for 'auto' or '%s', or let the operator add the "
        "name to engine.embedding_aliases",
        call->request.model, info_of(call->services)->name);
    snprintf(fault->param, sizeof fault->param, "model");
    return false;
}

/* Ids of another tokenizer would give vectors of something else, and nothing would show it. Clients
 * that count with OpenAI's tokenizer (LangChain) send its ids to a model of any name. */
static bool check_ids(const struct embedding_call *call, struct fault *fault)
{
    const char *own = info_of(call->services)->name;
    bool named = strcmp(call->request.model, own) == 0;
    for (size_t i = 0; i < call->request.input_count && !named; i++)
        if (call->request.inputs[i].id_count)
            return fault_request(fault, call->form->input,
                                 "token ids are of one tokenizer, and the name '%.100s' does not "
                                 "say of which: send text, or ids of '%.100s' with that name as "
                                 "model",
                                 call->request.model, own);
    return true;
}

/* Nobody can read token ids here, so they are taken for restricted. */
static bool classify(struct embedding_call *call, struct fault *fault)
{
    if (!local_record_declare(&call->record, call->http, call->services->text_class, fault))
        return false;
    for (size_t i = 0; i < call->request.input_count; i++) {
        const struct embedding_input *input = &call->request.inputs[i];
        local_record_raise(&call->record,
                           input->id_count
                               ? TD_CLASS_RESTRICTED
                               : privacy_classify(call->services->scanner, input->text, NULL));
    }
    return true;
}

static bool submit(struct embedding_call *call, struct fault *fault)
{
    struct api *api = call->base.api;
    struct td_error err = {0};
    struct embedding_request job = {.inputs = call->request.inputs,
                                    .input_count = call->request.input_count,
                                    .caller = api->who.caller,
                                    .loop = api->loop,
                                    .on_done = on_done,
                                    .ctx = call};
    struct sandbox *sandbox = api->host->sandbox;
    enum td_status status =
        local_record_begin(&call->record, api, call->form->route, call->form->id_prefix, &err);
    call->record.model = info_of(call->services)->name;
    call->record.requested_model = call->request.model;
    call->record.user = call->request.user;
    if (status == TD_OK && sandbox && sandbox_is_for(call->record.data_class))
        status = sandbox_embed(sandbox, &job, info_of(call->services)->embedding_size,
                               &call->confined, &err);
    else if (status == TD_OK)
        status = embedding_submit(call->services->embeddings, &job, &call->job, &err);
    if (status == TD_OK)
        return true;
    fault_from_status(fault, status, err.message, NULL);
    return false;
}

/* named: the model that the path names, or "". */
static void handle(struct api *api, struct http_request *request, struct td_str named,
                   const struct embedding_form *form)
{
    struct fault fault = {0};
    struct embedding_call *call = calloc(1, sizeof *call);
    if (!call) {
        fault_no_memory(&fault);
        api_reply_fault(api, request, &fault);
        return;
    }
    call->form = form;
    call->http = request;
    call->record.start_ms = clock_monotonic_ms(NULL);
    api_call_begin(api, &call->base, call_stop, true);
    call->services = api->host->acquire(api->host->ctx);
    const struct embedding_service *service = call->services->embeddings;
    const struct td_model *model = service ? embedding_service_model(service) : NULL;
    if (!embeddings_request_read(form, http_request_body(request), named, model, &call->request,
                                 &fault) ||
        !choose_tier(call, &fault) || !check_ids(call, &fault) || !classify(call, &fault) ||
        !local_record_enter(&call->record, api, request, call->request.model, &fault) ||
        !call_deadline_start(&call->deadline, api, request, call->services->deadline_ms,
                             on_deadline, call, &fault) ||
        !submit(call, &fault)) {
        api_reply_fault(api, request, &fault);
        call_free(call);
        return;
    }
    http_request_on_gone(request, call_gone, call);
}

void embeddings_handle(struct api *api, struct http_request *request, const char *rest)
{
    handle(api, request, endpoint_part(rest), &embedding_form_openai);
}

void rerank_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, STR(""), &rerank_form);
}

void gemini_handle_embed(struct api *api, struct http_request *request, const char *rest)
{
    handle(api, request, endpoint_subject(rest), &gemini_embeddings_form);
}

void gemini_handle_embed_batch(struct api *api, struct http_request *request, const char *rest)
{
    handle(api, request, endpoint_subject(rest), &gemini_embeddings_form_batch);
}

void ollama_handle_embed(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, STR(""), &ollama_embeddings_form);
}

void ollama_handle_embeddings(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, STR(""), &ollama_embeddings_form_prompt);
}

void llama_handle_embedding(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    handle(api, request, STR(""), &llama_embeddings_form);
}

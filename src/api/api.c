/* The table of endpoints, and a request's way to its handler: host, origin, path, method, key. All
 * of it is in the head, so that nobody else's body is kept.
 *
 * An endpoint is a row here: method, path, handler, whose things it shows, and the form of its
 * errors where that is not OpenAI's. A handler that does not reply at once keeps a call
 * (http/call.h), which this file stops when the server does. */
#include "api/api.h"

#include "api/admin/handlers.h"
#include "api/console/handlers.h"
#include "api/deferral/handlers.h"
#include "api/dialects/gemini/gemini_response.h"
#include "api/dialects/messages/messages_response.h"
#include "api/dialects/ollama/ollama_response.h"
#include "api/drill/handlers.h"
#include "api/evidence/handlers.h"
#include "api/files/handlers.h"
#include "api/http/access.h"
#include "api/http/access_note.h"
#include "api/http/call.h"
#include "api/http/reply.h"
#include "api/http/tracing.h"
#include "api/http/trim.h"
#include "api/inference/handlers.h"
#include "api/metrics/handlers.h"
#include "api/review/handlers.h"
#include "api/telemetry/access_log.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/time/clock.h"
#include "exchange/parts/shadow_pool.h"
#include "ledger/record/ledger.h"

#include <stdio.h>
#include <stdlib.h>

#define OPENAI NULL
#define MESSAGES (&messages_fault_form)
#define GEMINI (&gemini_fault_form)
#define OLLAMA (&ollama_fault_form)

/* A row without an owner does not compile. */
#define ROW(method, path, handler, owner, faults)           \
    {                                                       \
        HTTP_##method, path, handler, OWNER_##owner, faults \
    }

/* With and without /v1: Open WebUI and Continue users configure both kinds of base URL. Google's
 * clients call /v1beta, some of them /v1. /openai is where Azure has OpenAI's API: its deployments
 * are models here. */
static const struct api_endpoint endpoints[] = {
    ROW(POST, "/v1/chat/completions", chat_handle, TENANT, OPENAI),
    ROW(POST, "/chat/completions", chat_handle, TENANT, OPENAI),
    ROW(POST, "/v1/chat/completions/input_tokens", chat_handle_count, ALL, OPENAI),
    ROW(POST, "/v1/chat/completions/control", llama_handle_control, ALL, OPENAI),
    ROW(POST, "/v1/messages", messages_handle, TENANT, MESSAGES),
    ROW(POST, "/v1/messages/count_tokens", messages_handle_count, ALL, MESSAGES),
    ROW(POST, "/v1/responses", responses_handle, TENANT, OPENAI),
    ROW(POST, "/responses", responses_handle, TENANT, OPENAI),
    ROW(POST, "/v1/responses/input_tokens", responses_handle_count, TENANT, OPENAI),
    ROW(POST, "/v1/responses/compact", responses_handle_compact, TENANT, OPENAI),
    ROW(POST, "/responses/compact", responses_handle_compact, TENANT, OPENAI),
    ROW(GET, "/v1/responses/*/input_items", responses_handle_items, TENANT, OPENAI),
    ROW(GET, "/responses/*/input_items", responses_handle_items, TENANT, OPENAI),
    ROW(POST, "/v1/responses/*/cancel", responses_handle_cancel, TENANT, OPENAI),
    ROW(POST, "/responses/*/cancel", responses_handle_cancel, TENANT, OPENAI),
    ROW(GET, "/v1/responses/*", responses_handle_one, TENANT, OPENAI),
    ROW(GET, "/responses/*", responses_handle_one, TENANT, OPENAI),
    ROW(DELETE, "/v1/responses/*", responses_handle_delete, TENANT, OPENAI),
    ROW(DELETE, "/responses/*", responses_handle_delete, TENANT, OPENAI),
    ROW(POST, "/v1/conversations", conversations_handle_new, TENANT, OPENAI),
    ROW(GET, "/v1/conversations/*/items/*", conversations_handle_item, TENANT, OPENAI),
    ROW(DELETE, "/v1/conversations/*/items/*", conversations_handle_drop, TENANT, OPENAI),
    ROW(GET, "/v1/conversations/*/items", conversations_handle_items, TENANT, OPENAI),
    ROW(POST, "/v1/conversations/*/items", conversations_handle_add, TENANT, OPENAI),
    ROW(GET, "/v1/conversations/*", conversations_handle_one, TENANT, OPENAI),
    ROW(POST, "/v1/conversations/*", conversations_handle_change, TENANT, OPENAI),
    ROW(DELETE, "/v1/conversations/*", conversations_handle_delete, TENANT, OPENAI),
    ROW(POST, "/v1/completions", completions_handle, TENANT, OPENAI),
    ROW(POST, "/completions", completions_handle, TENANT, OPENAI),
    ROW(POST, "/v1/embeddings", embeddings_handle, TENANT, OPENAI),
    ROW(POST, "/embeddings", embeddings_handle, TENANT, OPENAI),
    ROW(POST, "/v1/files", files_handle_upload, TENANT, OPENAI),
    ROW(GET, "/v1/files", files_handle_list, TENANT, OPENAI),
    ROW(GET, "/v1/files/*/content", files_handle_content, TENANT, OPENAI),
    ROW(GET, "/v1/files/*", files_handle_one, TENANT, OPENAI),
    ROW(DELETE, "/v1/files/*", files_handle_delete, TENANT, OPENAI),
    ROW(POST, "/v1/batches", batches_handle_new, TENANT, OPENAI),
    ROW(GET, "/v1/batches", batches_handle_list, TENANT, OPENAI),
    ROW(POST, "/v1/batches/*/cancel", batches_handle_cancel, TENANT, OPENAI),
    ROW(GET, "/v1/batches/*", batches_handle_one, TENANT, OPENAI),
    ROW(POST, "/v1/moderations", moderations_handle, TENANT, OPENAI),
    ROW(POST, "/moderations", moderations_handle, TENANT, OPENAI),
    ROW(POST, "/v1/rerank", rerank_handle, TENANT, OPENAI),
    ROW(POST, "/v2/rerank", rerank_handle, TENANT, OPENAI),
    ROW(POST, "/rerank", rerank_handle, TENANT, OPENAI),
    ROW(POST, "/reranking", rerank_handle, TENANT, OPENAI),
    ROW(POST, "/v1/reranking", rerank_handle, TENANT, OPENAI),
    ROW(POST, "/openai/deployments/*/chat/completions", chat_handle, TENANT, OPENAI),
    ROW(POST, "/openai/deployments/*/completions", completions_handle, TENANT, OPENAI),
    ROW(POST, "/openai/deployments/*/embeddings", embeddings_handle, TENANT, OPENAI),
    ROW(POST, "/openai/v1/chat/completions", chat_handle, TENANT, OPENAI),
    ROW(POST, "/openai/v1/completions", completions_handle, TENANT, OPENAI),
    ROW(POST, "/openai/v1/embeddings", embeddings_handle, TENANT, OPENAI),
    ROW(POST, "/openai/v1/responses", responses_handle, TENANT, OPENAI),
    ROW(POST, "/openai/responses", responses_handle, TENANT, OPENAI),
    ROW(GET, "/openai/v1/models", models_handle_list, ALL, OPENAI),
    ROW(GET, "/openai/models", models_handle_list, ALL, OPENAI),
    ROW(GET, "/openai/v1/models/*", models_handle_one, ALL, OPENAI),
    ROW(GET, "/openai/models/*", models_handle_one, ALL, OPENAI),
    ROW(POST, "/v1beta/models/*:generateContent", gemini_handle, TENANT, GEMINI),
    ROW(POST, "/v1beta/models/*:streamGenerateContent", gemini_handle_stream, TENANT, GEMINI),
    ROW(POST, "/v1beta/models/*:countTokens", gemini_handle_count, ALL, GEMINI),
    ROW(POST, "/v1beta/models/*:embedContent", gemini_handle_embed, TENANT, GEMINI),
    ROW(POST, "/v1beta/models/*:batchEmbedContents", gemini_handle_embed_batch, TENANT, GEMINI),
    ROW(GET, "/v1beta/models", gemini_handle_models, ALL, GEMINI),
    ROW(GET, "/v1beta/models/*", gemini_handle_model, ALL, GEMINI),
    ROW(POST, "/v1/models/*:generateContent", gemini_handle, TENANT, GEMINI),
    ROW(POST, "/v1/models/*:streamGenerateContent", gemini_handle_stream, TENANT, GEMINI),
    ROW(POST, "/v1/models/*:countTokens", gemini_handle_count, ALL, GEMINI),
    ROW(POST, "/v1/models/*:embedContent", gemini_handle_embed, TENANT, GEMINI),
    ROW(POST, "/v1/models/*:batchEmbedContents", gemini_handle_embed_batch, TENANT, GEMINI),
    ROW(GET, "/v1/models", models_handle_list, ALL, OPENAI),
    ROW(GET, "/models", models_handle_list, ALL, OPENAI),
    ROW(GET, "/v1/models/*", models_handle_one, ALL, OPENAI),
    ROW(GET, "/models/*", models_handle_one, ALL, OPENAI),
    ROW(POST, "/api/chat", ollama_handle_chat, TENANT, OLLAMA),
    ROW(POST, "/api/generate", ollama_handle_generate, TENANT, OLLAMA),
    ROW(POST, "/api/embed", ollama_handle_embed, TENANT, OLLAMA),
    ROW(POST, "/api/embeddings", ollama_handle_embeddings, TENANT, OLLAMA),
    ROW(GET, "/api/tags", ollama_handle_tags, ALL, OLLAMA),
    ROW(POST, "/api/show", ollama_handle_show, ALL, OLLAMA),
    ROW(GET, "/api/ps", ollama_handle_ps, ALL, OLLAMA),
    ROW(GET, "/api/version", ollama_handle_version, ALL, OLLAMA),
    ROW(POST, "/api/pull", ollama_handle_pull, OPERATOR, OLLAMA),
    ROW(POST, "/completion", llama_handle_completion, TENANT, OPENAI),
    ROW(POST, "/infill", llama_handle_infill, TENANT, OPENAI),
    ROW(POST, "/embedding", llama_handle_embedding, TENANT, OPENAI),
    ROW(POST, "/tokenize", llama_handle_tokenize, ALL, OPENAI),
    ROW(POST, "/detokenize", llama_handle_detokenize, ALL, OPENAI),
    ROW(POST, "/apply-template", llama_handle_template, ALL, OPENAI),
    ROW(GET, "/props", llama_handle_props, ALL, OPENAI),
    ROW(GET, "/slots", llama_handle_slots, OPERATOR, OPENAI),
    ROW(GET, "/lora-adapters", llama_handle_adapters, ALL, OPENAI),
    ROW(POST, "/tandem/v1/classify", classify_handle, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/classify", classify_handle_sets, ALL, OPENAI),
    ROW(GET, "/tandem/v1/exchanges", exchanges_handle_list, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/exchanges/*", exchanges_handle_one, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/shadows", shadows_handle_list, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/report", report_handle, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/ramps", ramps_handle_list, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/ramps/*", ramps_handle_restart, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/alarms", alarms_handle, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/drill", drill_handle, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/keys", keys_handle_list, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/keys", keys_handle_new, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/keys/*/rotate", keys_handle_rotate, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/keys/*", keys_handle_one, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/keys/*", keys_handle_change, OPERATOR, OPENAI),
    ROW(DELETE, "/tandem/v1/keys/*", keys_handle_revoke, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/tenants/*", tenants_handle_change, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/feedback", feedback_handle, TENANT, OPENAI),
    ROW(POST, "/tandem/v1/consents", consents_handle_grant, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/consents", consents_handle_list, TENANT, OPENAI),
    ROW(DELETE, "/tandem/v1/consents/*", consents_handle_revoke, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/review/tickets", review_handle_list, TENANT, OPENAI),
    ROW(POST, "/tandem/v1/review/take", review_handle_take, TENANT, OPENAI),
    ROW(POST, "/tandem/v1/review/tickets/*", review_handle_step, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/review/tickets/*", review_handle_one, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/review/answers/*", review_handle_answer, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/capabilities", capabilities_handle, ALL, OPENAI),
    ROW(GET, "/tandem/v1/capabilities/events", capabilities_handle_events, ALL, OPENAI),
    ROW(GET, "/tandem/v1/live", live_handle, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/deferred", deferred_handle_list, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/deferred/*", deferred_handle_one, TENANT, OPENAI),
    ROW(DELETE, "/tandem/v1/deferred/*", deferred_handle_drop, TENANT, OPENAI),
    ROW(POST, "/tandem/v1/forget", forget_handle, TENANT, OPENAI),
    ROW(POST, "/tandem/v1/privacy/check", privacy_handle_check, TENANT, OPENAI),
    ROW(GET, "/tandem/v1/egress", egress_handle, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/calibration", calibration_handle, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/calibration/run", desk_handle_run, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/calibration/run", desk_handle_start, OPERATOR, OPENAI),
    ROW(DELETE, "/tandem/v1/calibration/run", desk_handle_cancel, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/calibration/keep", desk_handle_keep, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/config", desk_handle_config, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/config", desk_handle_apply, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/config/schema", desk_handle_schema, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/config/check", desk_handle_check, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/replay", replay_handle, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/store", store_handle_list, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/store/default", store_handle_choose, OPERATOR, OPENAI),
    ROW(GET, "/tandem/v1/store/pull", store_handle_state, OPERATOR, OPENAI),
    ROW(POST, "/tandem/v1/store/pull", store_handle_pull, OPERATOR, OPENAI),
    ROW(DELETE, "/tandem/v1/store/pull", store_handle_cancel, OPERATOR, OPENAI),
    ROW(GET, "/healthz", health_handle_live, NOBODY, OPENAI),
    ROW(GET, "/health", health_handle_live, NOBODY, OPENAI),
    ROW(GET, "/v1/health", health_handle_live, NOBODY, OPENAI),
    ROW(GET, "/readyz", health_handle_ready, NOBODY, OPENAI),
    ROW(GET, "/metrics", metrics_handle, OPERATOR, OPENAI),
    ROW(GET, "/console/session", session_handle_show, NOBODY, OPENAI),
    ROW(POST, "/console/session", session_handle_open, NOBODY, OPENAI),
    ROW(DELETE, "/console/session", session_handle_close, NOBODY, OPENAI),
    ROW(GET, "/console/*", console_handle_file, NOBODY, OPENAI),
    ROW(GET, "/", console_handle_page, NOBODY, OPENAI),
};

enum { ENDPOINT_COUNT = sizeof endpoints / sizeof *endpoints };

struct api *api_new(struct loop *loop, const struct api_host *host, uint32_t shard)
{
    ASSERT(loop && host);
    struct api *api = calloc(1, sizeof *api);
    uint64_t seed;
    if (!api || rng_system_seed(&seed, NULL) != TD_OK) {
        free(api);
        return NULL;
    }
    rng_init(&api->rng, seed);
    api->loop = loop;
    api->host = host;
    api->shard = shard;
    api->endpoints = endpoints;
    api->endpoint_count = ENDPOINT_COUNT;
    api->ask = api_ask;
    return api;
}

void api_cancel(struct api *api)
{
    api_call_stop_all(api);
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    if (services->shadow_pool)
        shadow_pool_cancel(services->shadow_pool, api->loop);
    api->host->release(api->host->ctx, services);
}

void api_drain(struct api *api)
{
    api_call_stop_idle(api);
}

void api_free(struct api *api)
{
    if (!api)
        return;
    api_cancel(api);
    loop_timer_free(api->loop, api->trim);
    free(api);
}

uint32_t api_active(const struct api *api)
{
    return api->running;
}

/* net/ refuses before a handler runs: bad framing, too large, too many connections. */
void api_refuse(void *ctx, const struct http_refusal *refusal, struct td_str *body)
{
    /* Must outlive this call: net/ sends it before it calls again, and each loop has its thread. */
    static _Thread_local char text[2048];
    const char *reason = refusal->reason;
    int code = refusal->code;
    struct fault fault;
    fault_set(&fault, code, code >= 500 ? "server_error" : "invalid_request_error",
              code == 413   ? "body_too_large"
              : code == 415 ? "unsupported_encoding"
                            : "bad_request",
              "%s%s", reason && *reason ? reason : "the request was refused",
              code == 413 ? "; server.body_bytes_max says how large one may be" : "");
    if (refusal->header)
        snprintf(fault.param, sizeof fault.param, "%s", refusal->header);
    struct buf json;
    buf_init(&json, sizeof text);
    api_fault_form(ctx, refusal->path ? refusal->path : "")->write(&fault, &json);
    *body = STR("");
    if (!json.failed) {
        memcpy(text, json.data, json.len);
        *body = (struct td_str){text, json.len};
    }
    buf_deinit(&json);
}

/* --- routing --- */

static void reply_wrong_method(struct api *api, struct http_request *request,
                               enum http_method right)
{
    const char *allow = right == HTTP_POST     ? "POST, OPTIONS"
                        : right == HTTP_DELETE ? "DELETE, OPTIONS"
                                               : "GET, HEAD, OPTIONS";
    struct fault fault;
    http_reply_header(request, "allow", allow);
    fault_set(&fault, 405, "invalid_request_error", "method_not_allowed", "this path takes only %s",
              allow);
    api_reply_fault(api, request, &fault);
}

/* How well a path fits a request's: one that its own ends with, as with a base URL that has /v1
 * twice; one that goes on from it, the shortest first; one whose last part it has, as
 * /v1/messages/batches has that of /v1/batches. Of a part before the end, only of the same API. */
static size_t rank_path(const char *path, const char *one)
{
    size_t len = strlen(one), begin = strcspn(path + 1, "/") + 1;
    const char *last = strrchr(one, '/');
    struct td_str asked = str_from(path);
    if (last == one)
        return 0;
    if (str_ends_with(asked, str_from(one)))
        return 2000 + len;
    if (asked.len > begin + 1 && str_starts_with(str_from(one), asked))
        return 1000 - len;
    bool same_api = strncmp(path, one, begin + 1) == 0;
    return str_ends_with(asked, str_from(last)) || (same_api && strstr(path, last)) ? len : 0;
}

/* The path that a request may have meant: the one that fits best, or the nearest by its letters.
 * Paths with names in them are left out. */
static const char *nearest_path(const char *path, const char *but)
{
    const char *known[ENDPOINT_COUNT], *best = NULL;
    size_t count = 0, most = 0;
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        const char *one = endpoints[i].path;
        if (strchr(one, '*') || (but && strcmp(one, but) == 0))
            continue;
        known[count++] = one;
        size_t rank = rank_path(path, one);
        if (rank > most)
            best = one, most = rank;
    }
    return best ? best : str_nearest(str_from(path), known, count);
}

static void reply_unknown_path(struct api *api, struct http_request *request)
{
    struct fault fault;
    char path[256], more[128] = "";
    snprintf(path, sizeof path, "%s", http_request_path(request));
    const char *first = nearest_path(path, NULL);
    const char *second = first ? nearest_path(path, first) : NULL;
    if (second)
        snprintf(more, sizeof more, " or '%.100s'", second);
    fault_set(&fault, 404, "invalid_request_error", "unknown_url",
              "no such path: '%.200s'; did you mean '%.100s'%s? docs/api.md lists all paths", path,
              first ? first : "/v1/chat/completions", more);
    api_reply_fault(api, request, &fault);
}

/* What a request's head was found to be; kept with the request until all is over. */
struct admission {
    struct access_note note;             /* first, for access_note_exchange */
    const struct api_endpoint *endpoint; /* NULL = refused */
    const char *path;                    /* of the row that was asked for, refused or not */
    const char *rest;
    struct tracing tracing;
    struct auth_who who;
};

/* The row for a request; NULL when it was refused and answered here. */
static const struct api_endpoint *find_endpoint(struct api *api, struct http_request *request,
                                                struct admission *admission)
{
    enum http_method method = http_request_method(request);
    const struct api_endpoint *other = NULL;
    for (size_t i = 0; i < ENDPOINT_COUNT; i++) {
        const struct api_endpoint *endpoint = &endpoints[i];
        if (!endpoint_matches(endpoint->path, http_request_path(request), &admission->rest))
            continue;
        admission->path = endpoint->path;
        if (endpoint->method == method || (endpoint->method == HTTP_GET && method == HTTP_HEAD))
            return access_check_owner(api, request, endpoint) ? endpoint : NULL;
        other = endpoint;
    }
    if (other)
        reply_wrong_method(api, request, other->method);
    else
        reply_unknown_path(api, request);
    return NULL;
}

static void reply_no_memory(struct api *api, struct http_request *request)
{
    struct fault fault;
    fault_no_memory(&fault);
    api_reply_fault(api, request, &fault);
}

enum http_body_use api_admit(void *ctx, struct http_request *request)
{
    struct api *api = ctx;
    api_begin_event(api);
    tracing_begin(api, request);
    struct admission *admission = http_request_note(request, sizeof *admission);
    if (!admission)
        reply_no_memory(api, request);
    if (!admission || !access_check_host(api, request) || !access_check_origin(api, request))
        return HTTP_BODY_DROP;
    if (http_request_method(request) == HTTP_OPTIONS) {
        access_reply_preflight(api, request);
        return HTTP_BODY_DROP;
    }
    admission->endpoint = find_endpoint(api, request, admission);
    admission->tracing = api->tracing;
    admission->who = api->who;
    if (admission->endpoint && admission->endpoint->handler == files_handle_upload)
        return files_admit_upload(api, request);
    /* What anybody may ask for is said in the head. */
    bool reads = admission->endpoint && admission->endpoint->method == HTTP_POST &&
                 admission->endpoint->owner != OWNER_NOBODY;
    return reads ? HTTP_BODY_KEEP : HTTP_BODY_DROP;
}

void api_ask(struct api *api, struct http_request *request, const struct auth_who *who)
{
    api_begin_event(api);
    tracing_begin(api, request);
    struct admission *admission = http_request_note(request, sizeof *admission);
    for (size_t i = 0; admission && i < ENDPOINT_COUNT && !admission->endpoint; i++)
        if (endpoints[i].method == HTTP_POST &&
            endpoint_matches(endpoints[i].path, http_request_path(request), &admission->rest))
            admission->endpoint = &endpoints[i];
    if (admission && admission->endpoint)
        admission->path = admission->endpoint->path;
    http_inside_begin(request);
    if (!admission) {
        reply_no_memory(api, request);
    } else if (!admission->endpoint) {
        reply_unknown_path(api, request);
    } else {
        admission->tracing = api->tracing;
        admission->who = *who;
        api_handle(api, request);
    }
}

void api_handle(void *ctx, struct http_request *request)
{
    struct api *api = ctx;
    api_begin_event(api);
    struct admission *admission = http_request_note(request, sizeof *admission);
    if (!admission) {
        reply_no_memory(api, request);
        return;
    }
    ASSERT(admission->endpoint); /* api_admit answers all others */
    api->tracing = admission->tracing;
    api->who = admission->who;
    if (!trim_weigh(api, http_request_body(request).len)) {
        reply_no_memory(api, request);
        return;
    }
    admission->endpoint->handler(api, request, admission->rest);
}

#define ACCESS_LINE_BYTES_MAX 4096

void api_end(void *ctx, const struct http_request *request, const struct http_outcome *outcome)
{
    struct api *api = ctx;
    const struct admission *admission = http_request_noted(request);
    struct access_note note = admission->note;
    struct buf text;
    if (!api->host->access_log)
        return;
    note.keeps_nothing |= api->host->zero_retention;
    buf_init(&text, ACCESS_LINE_BYTES_MAX);
    const struct access_line line = {.note = &note,
                                     .request = request,
                                     .outcome = outcome,
                                     .path = admission->path,
                                     .trace = &admission->tracing.trace,
                                     .who = &admission->who,
                                     .wall_ms = clock_wall_ms(NULL),
                                     .now_ms = clock_monotonic_ns(NULL) / 1000000};
    access_note_write(&line, &text);
    if (!text.failed)
        access_log_put(api->host->access_log, buf_view(&text));
    buf_deinit(&text);
}

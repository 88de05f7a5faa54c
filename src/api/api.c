/* A request's way through this file: CORS and origin, key, route, method, handler. Every refusal
 * is in OpenAI's shape, because every client of this server parses that, but those of
 * /v1/messages, whose clients parse Anthropic's.
 *
 * A browser may send a POST to 127.0.0.1 from any page without asking (a "simple request"). A
 * page that was not allowed could so spend the user's money; therefore a request with an Origin
 * that is neither this server's own nor configured is refused before anything runs. Programs send
 * no Origin. */
#include "api/api.h"

#include "api/http/api_internal.h"

#include "api/http/metrics.h"
#include "api/wire/messages_response.h"
#include "base/crypto.h"
#include "base/str.h"
#include "exchange/parts/shadow_pool.h"
#include "ledger/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct route_row {
    enum http_method method;
    const char *path; /* a final "*" matches one non-empty rest without '/' */
    bool open;        /* no key needed */
    api_handler_fn *handler;
};

/* With and without /v1: Open WebUI and Continue users configure both kinds of base URL. */
static const struct route_row routes[] = {
    {HTTP_POST, "/v1/chat/completions", false, chat_handle},
    {HTTP_POST, "/chat/completions", false, chat_handle},
    {HTTP_POST, "/v1/messages", false, messages_handle},
    {HTTP_POST, "/v1/messages/count_tokens", false, messages_handle_count},
    {HTTP_POST, "/v1/responses", false, responses_handle},
    {HTTP_POST, "/responses", false, responses_handle},
    {HTTP_POST, "/v1/completions", false, completions_handle},
    {HTTP_POST, "/completions", false, completions_handle},
    {HTTP_POST, "/v1/embeddings", false, embeddings_handle},
    {HTTP_POST, "/embeddings", false, embeddings_handle},
    {HTTP_GET, "/v1/models", false, models_handle_list},
    {HTTP_GET, "/models", false, models_handle_list},
    {HTTP_GET, "/v1/models/*", false, models_handle_one},
    {HTTP_GET, "/models/*", false, models_handle_one},
    {HTTP_GET, "/tandem/v1/exchanges", false, exchanges_handle_list},
    {HTTP_GET, "/tandem/v1/exchanges/*", false, exchanges_handle_one},
    {HTTP_GET, "/tandem/v1/shadows", false, shadows_handle_list},
    {HTTP_GET, "/tandem/v1/ramps", false, ramps_handle_list},
    {HTTP_POST, "/tandem/v1/ramps/*", false, ramps_handle_restart},
    {HTTP_GET, "/tandem/v1/alarms", false, alarms_handle},
    {HTTP_POST, "/tandem/v1/feedback", false, feedback_handle},
    {HTTP_POST, "/tandem/v1/consents", false, consents_handle_grant},
    {HTTP_GET, "/tandem/v1/consents", false, consents_handle_list},
    {HTTP_DELETE, "/tandem/v1/consents/*", false, consents_handle_revoke},
    {HTTP_POST, "/tandem/v1/forget", false, forget_handle},
    {HTTP_GET, "/healthz", true, health_handle_live},
    {HTTP_GET, "/health", true, health_handle_live},
    {HTTP_GET, "/readyz", true, health_handle_ready},
    {HTTP_GET, "/metrics", false, health_handle_metrics},
    {HTTP_GET, "/", true, health_handle_hello},
};

struct api *api_new(struct loop *loop, const struct api_host *host, uint32_t shard)
{
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
    return api;
}

void api_cancel(struct api *api)
{
    chat_cancel_all(api);
    completions_cancel_all(api);
    embeddings_cancel_all(api);
    exchanges_cancel_all(api);
    forget_cancel_all(api);
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    if (services->shadow_pool)
        shadow_pool_cancel(services->shadow_pool, api->loop);
    api->host->release(api->host->ctx, services);
}

void api_free(struct api *api)
{
    if (!api)
        return;
    api_cancel(api);
    ledger_reader_close(api->reader);
    free(api);
}

uint32_t api_active(const struct api *api)
{
    return api->chat_count + api->completion_count + api->embedding_count;
}

/* --- replies --- */

void api_count_code(struct api *api, int code)
{
    char labels[METRICS_LABELS_BYTES] = "", text[16];
    snprintf(text, sizeof text, "%d", code);
    metrics_label(labels, "code", text);
    metrics_add(api->host->metrics, api->shard, METRICS_REQUESTS, labels, 1);
}

void api_reply_text(struct api *api, struct http_request *request, int code, const char *type,
                    struct td_str body)
{
    api_count_code(api, code);
    http_reply(request, code, type, body);
}

void api_reply_json(struct api *api, struct http_request *request, int code, struct buf *body)
{
    if (body->failed) {
        struct fault fault;
        fault_set(&fault, 500, "server_error", "answer_too_large",
                  "the answer is larger than this server can send whole; ask for a stream");
        api_reply_fault(api, request, &fault);
        return;
    }
    api_reply_text(api, request, code, "application/json", buf_view(body));
}

static bool speaks_messages(const char *path)
{
    return str_starts_with(str_from(path), STR("/v1/messages"));
}

void api_reply_fault(struct api *api, struct http_request *request, const struct fault *fault)
{
    struct buf body;
    buf_init(&body, 16384);
    if (speaks_messages(http_request_path(request)))
        messages_write_fault(fault, &body);
    else
        fault_write(fault, &body);
    if (fault->no_retry)
        http_reply_header(request, "x-should-retry", "false");
    if (fault->retry_after_s) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%u", fault->retry_after_s);
        http_reply_header(request, "retry-after", seconds);
    }
    api_reply_text(api, request, fault->code, "application/json", buf_view(&body));
    buf_deinit(&body);
}

/* net/ refuses before a handler runs: bad framing, too large, too many connections. */
void api_refuse(void *ctx, int code, const char *reason, struct td_str *body)
{
    /* Must outlive this call: net/ sends it before it calls again, and each loop has its thread. */
    static _Thread_local char text[2048];
    struct fault fault;
    (void)ctx;
    fault_set(&fault, code, code >= 500 ? "server_error" : "invalid_request_error",
              code == 413 ? "body_too_large" : "bad_request", "%s",
              reason && *reason ? reason : "the request was refused");
    struct buf json;
    buf_init(&json, sizeof text);
    fault_write(&fault, &json);
    *body = STR("");
    if (!json.failed) {
        memcpy(text, json.data, json.len);
        *body = (struct td_str){text, json.len};
    }
    buf_deinit(&json);
}

/* --- who may ask --- */

static bool origin_configured(const struct api_host *host, const char *origin)
{
    for (const char *const *at = host->cors_origins; at && *at; at++)
        if (strcmp(*at, "*") == 0 || strcmp(*at, origin) == 0)
            return true;
    return false;
}

/* Can a stranger's page have such a host? A name with a dot can be the stranger's own, made to
 * resolve to this machine once his page has loaded (DNS rebinding): the browser then calls it the
 * same origin. An address, "localhost" and a name without a dot cannot be. */
static bool host_is_ours_alone(const char *host)
{
    if (*host == '[')
        return true; /* an IPv6 address */
    size_t len = strcspn(host, ":");
    if (!memchr(host, '.', len) ||
        (len > 10 && strncasecmp(host + len - 10, ".localhost", 10) == 0))
        return true;
    return strspn(host, "0123456789.") == len;
}

static bool origin_is_own(const struct http_request *request, const char *origin)
{
    const char *host = http_request_header(request, "Host");
    const char *scheme_end = strstr(origin, "://");
    return host && scheme_end && strcmp(scheme_end + 3, host) == 0 && host_is_ours_alone(host);
}

/* False when the request was answered here. */
static bool check_origin(struct api *api, struct http_request *request)
{
    const char *origin = http_request_header(request, "Origin");
    if (!origin)
        return true;
    if (origin_configured(api->host, origin)) {
        http_reply_header(request, "access-control-allow-origin", origin);
        http_reply_header(request, "vary", "origin");
        http_reply_header(request, "access-control-expose-headers",
                          "x-tandem-tier, x-tandem-place, x-tandem-confidence, x-tandem-exchange, "
                          "x-tandem-disclosure, x-request-id");
        return true;
    }
    if (origin_is_own(request, origin))
        return true;
    struct fault fault;
    fault_set(&fault, 403, "permission_error", "origin_not_allowed",
              "pages of this origin may not use this server; allow it in server.cors_origins");
    api_reply_fault(api, request, &fault);
    return false;
}

static void reply_preflight(struct api *api, struct http_request *request)
{
    http_reply_header(request, "access-control-allow-methods", "GET, POST, DELETE, OPTIONS");
    const char *asked = http_request_header(request, "Access-Control-Request-Headers");
    http_reply_header(request, "access-control-allow-headers",
                      asked && strlen(asked) < 1024 ? asked : "authorization, content-type");
    http_reply_header(request, "access-control-max-age", "600");
    api_reply_text(api, request, 204, "text/plain", STR(""));
}

static bool check_key(struct api *api, struct http_request *request)
{
    if (auth_allows(api->host->auth, http_request_header(request, "Authorization"),
                    http_request_header(request, "x-api-key"),
                    http_request_header(request, "api-key")))
        return true;
    struct fault fault;
    fault_set(&fault, 401, "authentication_error", "invalid_api_key",
              "this server needs an API key: send it as 'Authorization: Bearer KEY'");
    http_reply_header(request, "www-authenticate", "Bearer");
    api_reply_fault(api, request, &fault);
    return false;
}

void api_find_caller(const struct api *api, const struct http_request *request,
                     char out[static AUTH_DIGEST_BYTES])
{
    if (!auth_digest(api->host->auth, http_request_header(request, "Authorization"),
                     http_request_header(request, "x-api-key"),
                     http_request_header(request, "api-key"), out))
        snprintf(out, AUTH_DIGEST_BYTES, "%s", http_request_peer(request));
}

const char *api_find_header(void *http, const char *name)
{
    return http_request_header(http, name);
}

/* --- routing --- */

static bool path_matches(const char *pattern, const char *path, const char **rest)
{
    size_t len = strlen(pattern);
    *rest = "";
    if (pattern[len - 1] != '*')
        return strcmp(pattern, path) == 0;
    if (strncmp(pattern, path, len - 1) != 0)
        return false;
    *rest = path + len - 1;
    return **rest != '\0';
}

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

static void set_request_id(struct api *api, struct http_request *request)
{
    /* A sequence under a per-process random start: unique enough to find a log line, no secret. */
    static _Thread_local uint64_t salt;
    if (!salt && crypto_random(&salt, sizeof salt, NULL) != TD_OK)
        salt = (uint64_t)(uintptr_t)api;
    char id[40];
    snprintf(id, sizeof id, "req_%016llx",
             (unsigned long long)(salt + api->request_count * UINT64_C(0x9e3779b97f4a7c15)));
    api->request_count++;
    http_reply_header(request, "x-request-id", id);
    if (speaks_messages(http_request_path(request)))
        http_reply_header(request, "request-id", id); /* where Anthropic's clients look for it */
}

void api_handle(void *ctx, struct http_request *request)
{
    struct api *api = ctx;
    set_request_id(api, request);
    if (!check_origin(api, request))
        return;
    enum http_method method = http_request_method(request);
    if (method == HTTP_OPTIONS) {
        reply_preflight(api, request);
        return;
    }
    const char *path = http_request_path(request);
    const struct route_row *other = NULL;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        const char *rest;
        if (!path_matches(routes[i].path, path, &rest))
            continue;
        if (routes[i].method != method && !(routes[i].method == HTTP_GET && method == HTTP_HEAD)) {
            other = &routes[i];
            continue;
        }
        if (routes[i].open || check_key(api, request))
            routes[i].handler(api, request, rest);
        return;
    }
    if (other) {
        reply_wrong_method(api, request, other->method);
        return;
    }
    struct fault fault;
    fault_set(&fault, 404, "invalid_request_error", "unknown_url",
              "no such path: '%.200s'; see /v1/chat/completions, /v1/responses, /v1/messages, "
              "/v1/completions, /v1/embeddings, "
              "/v1/models, /tandem/v1/exchanges, /tandem/v1/feedback, "
              "/tandem/v1/alarms, /tandem/v1/shadows, /tandem/v1/ramps",
              path);
    api_reply_fault(api, request, &fault);
}

/* Host, origin, key and caller of a request.
 *
 * A browser may send a POST to 127.0.0.1 from any page without asking (a "simple request"). A page
 * that was not allowed could spend the user's money in this way. Therefore a request with an Origin
 * is refused before anything runs, unless the Origin is this server's own or configured. Programs
 * send no Origin. */
#include "api/http/access.h"

#include "api/http/host_name.h"
#include "api/http/origin.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "api/http/session.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"

#include <stdio.h>

/* Of a key in a query; a longer one is none. */
#define QUERY_KEY_BYTES 512

static bool origin_configured(const struct api_host *host, const char *origin)
{
    for (const char *const *at = host->cors_origins; at && *at; at++)
        if (strcmp(*at, "*") == 0 || strcmp(*at, origin) == 0)
            return true;
    return host->local_origins && origin_is_local(origin);
}

bool access_check_host(struct api *api, struct http_request *request)
{
    const char *header = http_request_header(request, "Host"), *local = http_request_local(request);
    if (!header || !host_name_matters(api->host, local) || /* browsers send one */
        host_name_is_ours(api->host, header, local))
        return true;
    struct fault fault;
    fault_set(&fault, 403, "permission_error", "host_not_allowed",
              "'%.200s' is no name of this server: use its address or localhost, or add the name "
              "to server.allowed_hosts",
              header);
    api_reply_fault(api, request, &fault);
    return false;
}

static bool origin_is_own(const struct api *api, const struct http_request *request,
                          const char *origin)
{
    const char *host = http_request_header(request, "Host");
    const char *name = strncmp(origin, "http://", 7) == 0    ? origin + 7
                       : strncmp(origin, "https://", 8) == 0 ? origin + 8
                                                             : NULL;
    return host && name && strcmp(name, host) == 0 &&
           host_name_is_ours(api->host, host, http_request_local(request));
}

/* Whether a browser says that a page of somebody else's made it ask for this: an image, a script.
 * Such requests have no Origin, and a link that a person followed is not one of them. Old browsers
 * say nothing, and neither do programs. */
static bool is_for_strangers_page(const struct http_request *request)
{
    const char *site = http_request_header(request, "Sec-Fetch-Site");
    const char *mode = http_request_header(request, "Sec-Fetch-Mode");
    return site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 &&
           !(mode && strcmp(mode, "navigate") == 0);
}

static bool refuse_strangers_page(struct api *api, struct http_request *request)
{
    struct fault fault;
    fault_set(&fault, 403, "permission_error", "site_not_allowed",
              "pages of other sites may not load anything from this server; allow their origin in "
              "server.cors_origins");
    api_reply_fault(api, request, &fault);
    return false;
}

bool access_check_origin(struct api *api, struct http_request *request)
{
    const char *origin = http_request_header(request, "Origin");
    const struct api_host *host = api->host;
    if (!origin) {
        bool lets_in = host->local_origins || (host->cors_origins && *host->cors_origins);
        return lets_in || !is_for_strangers_page(request) || refuse_strangers_page(api, request);
    }
    if (origin_configured(api->host, origin)) {
        http_reply_header(request, "access-control-allow-origin", origin);
        http_reply_header(request, "vary", "origin");
        http_reply_header(request, "access-control-expose-headers",
                          "x-tandem-tier, x-tandem-place, x-tandem-confidence, x-tandem-exchange, "
                          "x-tandem-disclosure, x-tandem-not-run, x-tandem-cache, "
                          "x-tandem-cache-similarity, x-tandem-verification, age, x-request-id, "
                          "traceparent");
        return true;
    }
    if (origin_is_own(api, request, origin))
        return true;
    struct fault fault;
    fault_set(&fault, 403, "permission_error", "origin_not_allowed",
              "pages of this origin may not use this server; allow it in server.cors_origins%s",
              origin_is_local(origin) ? ", or all local ones by server.local_origins" : "");
    api_reply_fault(api, request, &fault);
    return false;
}

void access_reply_preflight(struct api *api, struct http_request *request)
{
    http_reply_header(request, "access-control-allow-methods", "GET, POST, DELETE, OPTIONS");
    const char *asked = http_request_header(request, "Access-Control-Request-Headers");
    http_reply_header(request, "access-control-allow-headers",
                      asked && strlen(asked) < 1024 ? asked : "authorization, content-type");
    /* Chrome asks before a page of a public address reaches an inner one; who may was decided by
     * the origin. */
    if (http_request_header(request, "Access-Control-Request-Private-Network"))
        http_reply_header(request, "access-control-allow-private-network", "true");
    http_reply_header(request, "access-control-max-age", "600");
    api_reply_text(api, request, 204, "text/plain", STR(""));
}

bool access_has_key(const struct http_request *request)
{
    static const char *const headers[] = {"Authorization", "x-api-key", "api-key",
                                          "x-goog-api-key"};
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (http_request_header(request, headers[i]))
            return true;
    return false;
}

static bool refuse_key(struct api *api, struct http_request *request)
{
    struct fault fault;
    fault_set(
        &fault, 401, "authentication_error", "invalid_api_key",
        access_has_key(request)
            ? "this server does not take this API key: it is wrong, was revoked or has expired"
            : "this server needs an API key: send it as 'Authorization: Bearer KEY'");
    http_reply_header(request, "www-authenticate", "Bearer");
    api_reply_fault(api, request, &fault);
    return false;
}

static bool refuse_tenant(struct api *api, struct http_request *request)
{
    struct fault fault;
    fault_set(&fault, 403, "permission_error", "operator_only",
              "this is about all clients of the server, so it takes an operator's key: %s",
              auth_has_operators(api->host->auth)
                  ? "one of those that server.operator_keys_env or operator_keys_file names, or "
                    "that 'tandem keys add --operator' made"
                  : "there is none yet; make one with 'tandem keys add --operator', or name one "
                    "with server.operator_keys_env or server.operator_keys_file");
    api_reply_fault(api, request, &fault);
    return false;
}

/* Google's clients have a header of their own for the key, or on their own paths the query's `key`.
 * Nothing here writes a query to a log or a record. */
static bool find_by_googles(struct api *api, struct http_request *request, bool in_query)
{
    char key[QUERY_KEY_BYTES];
    const char *header = http_request_header(request, "x-goog-api-key");
    if (header || !in_query)
        return auth_find(api->host->auth, NULL, header, NULL, &api->who);
    bool found = query_text(request, STR("key"), key, sizeof key) && *key &&
                 auth_find(api->host->auth, NULL, key, NULL, &api->who);
    crypto_wipe(key, sizeof key);
    return found;
}

/* A page of another port of this machine has the cookie, too: browsers do not tell ports apart. But
 * the header beside it is one that no page sends elsewhere without asking, and whoever asks was
 * refused by its origin. */
static bool find_by_session(struct api *api, struct http_request *request)
{
    char key_id[SPENDING_KEY_ID_BYTES];
    const struct api_host *host = api->host;
    const char *site = http_request_header(request, "Sec-Fetch-Site");
    return host->logins && host->key && http_request_header(request, "x-tandem-console") &&
           (!site || strcmp(site, "same-origin") == 0) &&
           session_read(host->key, http_request_header(request, "Cookie"),
                        clock_wall_ms(NULL) / 1000, key_id) &&
           auth_find_id(host->auth, key_id, &api->who);
}

/* Where no keys are required everybody is the operator, and addresses keep conversations apart. */
static bool find_who(struct api *api, struct http_request *request, bool in_query)
{
    struct auth *auth = api->host->auth;
    bool open = auth_is_open(auth);
    api->who = (struct auth_who){.operates = open};
    const char *client = open ? NULL : http_request_client(request);
    if (!open)
        return auth_find(auth, http_request_header(request, "Authorization"),
                         http_request_header(request, "x-api-key"),
                         http_request_header(request, "api-key"), &api->who) ||
               find_by_googles(api, request, in_query) ||
               (client && auth_find_certificate(auth, client, &api->who)) ||
               (!access_has_key(request) && find_by_session(api, request));
    snprintf(api->who.caller, sizeof api->who.caller, "%s", http_request_peer(request));
    return true;
}

bool access_check_owner(struct api *api, struct http_request *request,
                        const struct api_endpoint *endpoint)
{
    enum api_owner owner = endpoint->owner;
    bool known = find_who(api, request, endpoint->faults && endpoint->faults->key_in_query);
    if (owner == OWNER_NOBODY)
        return true;
    if (!known)
        return refuse_key(api, request);
    bool may = owner == OWNER_ALL || owner == OWNER_TENANT || api->who.operates;
    return may || refuse_tenant(api, request);
}

bool access_find_owner(const struct api *api, const char *owner, const char *key_id,
                       struct auth_who *who)
{
    struct auth *auth = api->host->auth;
    bool open = auth_is_open(auth);
    *who = (struct auth_who){.operates = open};
    if (open && !*key_id) {
        snprintf(who->caller, sizeof who->caller, "%.*s", (int)sizeof who->caller - 1, owner);
        return true;
    }
    return !open && *key_id && auth_find_id(auth, key_id, who) && strcmp(who->tenant, owner) == 0;
}

const char *access_view(const struct auth_who *who)
{
    return who->operates ? NULL : who->tenant;
}

bool access_give(const struct api *api, struct arena *arena, struct td_request *out)
{
    struct auth_who *who = arena_alloc(arena, sizeof *who);
    if (!who)
        return false;
    *who = api->who;
    out->caller = who->caller;
    out->key = *who->key ? who->key : NULL;
    out->key_id = *who->key ? who->key_id : NULL;
    out->tenant = *who->tenant ? who->tenant : NULL;
    return true;
}

const char *access_find_header(void *http, const char *name)
{
    return http_request_header(http, name);
}

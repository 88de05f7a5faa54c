/* Who works in the console: GET /console/session says it, POST with a key in the header opens a
 * session, DELETE closes it.
 *
 * The key stands in a header and not in a body, because bodies of strangers are not kept. A session
 * is a cookie that scripts cannot read. It counts only beside the header x-tandem-console, which a
 * page of another origin cannot send (http/access.c). Where no keys are needed there is nothing to
 * open. */
#include "api/console/handlers.h"
#include "api/http/access.h"
#include "api/http/login_limit.h"
#include "api/http/reply.h"
#include "api/http/session.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/key_terms.h"
#include "base/time/clock.h"

#include <stdio.h>

#define REPLY_BYTES_MAX 4096
#define COOKIE_BYTES (SESSION_TEXT_BYTES + 120)

/* What a key can do today, in the console's words: "admin" sees and changes everything, an
 * "operator" the same with a key of the store, a "reviewer" answers its tenant's tickets, a
 * "viewer" asks and sees its own. "" = nobody that is known. */
static const char *role_of(const struct api *api)
{
    const struct auth_who *who = &api->who;
    struct key_terms terms = {.reviews = false};
    if (who->operates)
        return who->stored ? "operator" : "admin";
    if (!*who->key_id)
        return "";
    return auth_terms(api->host->auth, who->key_id, &terms) && terms.reviews ? "reviewer"
                                                                             : "viewer";
}

static void reply_session(struct api *api, struct http_request *request)
{
    const char *role = role_of(api);
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("console_session"));
    json_put(object, "version", json_new_cstr(TANDEM_VERSION));
    json_put(object, "needs_key", json_new_bool(!auth_is_open(api->host->auth)));
    json_put(object, "role", json_new_cstr(*role ? role : NULL));
    http_reply_header(request, "cache-control", "no-store");
    api_reply_value(api, request, object, REPLY_BYTES_MAX);
}

/* A console that is switched off has no sessions. */
static bool is_on(struct api *api, struct http_request *request)
{
    if (api->host->logins && api->host->key)
        return true;
    struct fault fault;
    fault_set(&fault, 404, "invalid_request_error", "console_off",
              "the console is off (server.console)");
    api_reply_fault(api, request, &fault);
    return false;
}

/* Browsers write the origin of a POST, so it says whether the page came over TLS. */
static void set_cookie(struct http_request *request, const char *value, unsigned seconds)
{
    char cookie[COOKIE_BYTES];
    const char *origin = http_request_header(request, "Origin");
    snprintf(cookie, sizeof cookie,
             SESSION_COOKIE "=%s; Max-Age=%u; Path=/; HttpOnly; SameSite=Strict%s", value, seconds,
             origin && strncmp(origin, "https:", 6) == 0 ? "; Secure" : "");
    http_reply_header(request, "set-cookie", cookie);
}

static void refuse_often(struct api *api, struct http_request *request, uint32_t wait_s)
{
    char seconds[16];
    struct fault fault;
    snprintf(seconds, sizeof seconds, "%u", wait_s);
    http_reply_header(request, "retry-after", seconds);
    fault_set(&fault, 429, "rate_limit_error", "too_many_logins",
              "too many wrong keys came from this address; try again in %u seconds", wait_s);
    api_reply_fault(api, request, &fault);
}

/* Whoever shows a key here may do so a few times. Without one there is nothing to guess. */
static bool may_try(struct api *api, struct http_request *request)
{
    const char *peer = http_request_peer(request);
    uint64_t now_ms = clock_monotonic_ns(NULL) / 1000000;
    if (!is_on(api, request))
        return false;
    if (!access_has_key(request))
        return true;
    uint32_t wait_s = login_limit_wait_s(api->host->logins, peer, now_ms);
    if (wait_s) {
        refuse_often(api, request, wait_s);
        return false;
    }
    if (!*role_of(api))
        login_limit_note(api->host->logins, peer, now_ms);
    return true;
}

void session_handle_show(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    if (may_try(api, request))
        reply_session(api, request);
}

void session_handle_open(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    if (!may_try(api, request))
        return;
    if (!*role_of(api)) {
        struct fault fault;
        fault_set(&fault, 401, "authentication_error", "invalid_api_key",
                  access_has_key(request)
                      ? "this server does not take this API key: it is wrong, was revoked or has "
                        "expired"
                      : "send an API key as 'Authorization: Bearer KEY' to open a session");
        api_reply_fault(api, request, &fault);
        return;
    }
    /* A session makes no other one: it ends when it is 12 hours old. */
    if (*api->who.key_id && access_has_key(request)) {
        char value[SESSION_TEXT_BYTES];
        session_write(api->host->key, api->who.key_id, clock_wall_ms(NULL) / 1000, value);
        set_cookie(request, value, SESSION_SECONDS);
    }
    reply_session(api, request);
}

void session_handle_close(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    if (!is_on(api, request))
        return;
    set_cookie(request, "", 0);
    api->who = (struct auth_who){.operates = auth_is_open(api->host->auth)};
    reply_session(api, request);
}

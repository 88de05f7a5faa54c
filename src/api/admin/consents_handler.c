/* Consents: POST /tandem/v1/consents grants one, GET lists them, DELETE /tandem/v1/consents/ID
 * revokes one.
 *
 * A tenant sees only its own, and so does the operator. Where no key is required, an address counts
 * as a tenant.
 *
 *   {"scope": "ROUTE or *", "expires": SECONDS_SINCE_1970, "user": "...", "id": "..."}
 *
 * `id` and `user` are optional. */
#include "api/admin/handlers.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "exchange/private/consents.h"

#include <stdlib.h>

#define REPLY_BYTES_MAX (16u << 20)

/* The one consent of that id, as an object. */
static void reply_one(struct api *api, struct http_request *request, struct consents *consents,
                      const char *id)
{
    struct json *list = consents_list(consents, api->who.caller, id, clock_wall_ms(NULL));
    struct json *object = json_clone(json_at(list, 0));
    json_free(list);
    json_put(object, "object", json_new_cstr("consent"));
    api_reply_value(api, request, object, REPLY_BYTES_MAX);
}

static bool read_wish(const struct json *body, struct consent *out, struct fault *fault)
{
    static const char *const texts[] = {"id", "scope", "user"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const struct json *value = json_get(body, texts[i]);
        struct td_str text = json_text(value);
        enum json_kind kind = json_kind_of(value);
        bool absent = kind == JSON_KIND_ABSENT || kind == JSON_KIND_NULL;
        if (!absent && (kind != JSON_KIND_TEXT || memchr(text.data, '\0', text.len)))
            return fault_request(fault, texts[i], "%s must be a text", texts[i]);
    }
    int64_t expires = json_int(json_get(body, "expires"), -1);
    if (expires < 0 || expires > INT64_MAX / 1000)
        return fault_request(fault, "expires",
                             "expires must be a whole number of seconds since 1970");
    *out = (struct consent){.id = json_cstr(json_get(body, "id")),
                            .scope = json_cstr(json_get(body, "scope")),
                            .user = json_cstr(json_get(body, "user")),
                            .expires_ms = (uint64_t)expires * 1000};
    return true;
}

void consents_handle_grant(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct td_error err = {0};
    struct json *body;
    struct consent wish;
    char id[CONSENT_ID_BYTES_MAX + 1];
    if (!api_read_body(api, request, &body))
        return;
    if (!read_wish(body, &wish, &fault)) {
        json_free(body);
        api_reply_fault(api, request, &fault);
        return;
    }
    wish.caller = api->who.caller;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    enum td_status status =
        consents_grant(services->consents, &wish, clock_wall_ms(NULL), id, &err);
    json_free(body);
    if (status == TD_OK)
        reply_one(api, request, services->consents, id);
    else
        api_reply_status(api, request, status, &err, NULL);
    api->host->release(api->host->ctx, services);
}

void consents_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("list"));
    json_put(object, "data",
             consents_list(services->consents, api->who.caller, NULL, clock_wall_ms(NULL)));
    api->host->release(api->host->ctx, services);
    api_reply_value(api, request, object, REPLY_BYTES_MAX);
}

void consents_handle_revoke(struct api *api, struct http_request *request, const char *rest)
{
    struct td_error err = {0};
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    enum td_status status =
        consents_revoke(services->consents, api->who.caller, rest, clock_wall_ms(NULL), &err);
    if (status == TD_OK)
        reply_one(api, request, services->consents, rest);
    else
        api_reply_status(api, request, status, &err, NULL);
    api->host->release(api->host->ctx, services);
}

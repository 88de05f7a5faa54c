/* API keys for the operator, in the form of key_desk.h:
 *
 *   GET    /tandem/v1/keys             all, and the tenants that have limits
 *   POST   /tandem/v1/keys             makes one of {"name", "tenant", "operator", "expires",
 *                                      limits}; the answer alone has "key"
 *   GET    /tandem/v1/keys/KEY         one, by its id or its name
 *   POST   /tandem/v1/keys/KEY         changes what it names; null lifts a limit
 *   POST   /tandem/v1/keys/KEY/rotate  a new "key": {"overlap_s": 3600}
 *   DELETE /tandem/v1/keys/KEY         revokes it
 *   POST   /tandem/v1/tenants/NAME     changes the limits of a tenant
 *
 * Each request has a connection of its own to the store: this is rare, and the keeper of keys sees
 * by that what has changed. A change is in force when its answer comes. */
#include "api/admin/handlers.h"
#include "api/admin/key_desk.h"
#include "api/http/reply.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>

#define REPLY_BYTES_MAX (64u << 20)
#define OVERLAP_S_MAX (365 * 86400)

struct desk_call {
    struct api *api;
    struct http_request *request;
    struct key_desk desk;
    struct json *body; /* NULL = none came */
    char subject[STORED_KEY_NAME_BYTES];
    bool fresh; /* this server has no store yet */
    struct exchange_services *services;
    const char *tiers[RUNGS_MAX]; /* their names */
};

static void reply_error(struct desk_call *call, enum td_status status, const struct td_error *err,
                        const char *param)
{
    api_reply_status(call->api, call->request, status, err, param);
}

static void close_call(struct desk_call *call)
{
    key_store_close(call->desk.store);
    json_free(call->body);
    call->api->host->release(call->api->host->ctx, call->services);
}

static void name_tiers(struct desk_call *call)
{
    call->services = call->api->host->acquire(call->api->host->ctx);
    call->desk.tiers = call->tiers;
    for (size_t i = 0; i < call->services->tier_count && i < RUNGS_MAX; i++)
        call->tiers[call->desk.tier_count++] = call->services->tiers[i]->facts.name;
}

/* What stands in the path where the pattern has "*". A longer name is none of ours. */
static bool read_subject(struct desk_call *call, const char *rest)
{
    struct td_str part = endpoint_part(rest);
    if (part.len >= sizeof call->subject)
        return false;
    snprintf(call->subject, sizeof call->subject, STR_FMT, STR_ARG(part));
    return true;
}

static bool read_body(struct desk_call *call)
{
    struct td_str body = str_trim(http_request_body(call->request));
    struct fault fault;
    if (body.len == 0)
        return true;
    if (!api_read_body(call->api, call->request, &call->body))
        return false;
    if (json_kind_of(call->body) == JSON_KIND_OBJECT)
        return true;
    fault_request(&fault, NULL, "the body must be an object");
    api_reply_fault(call->api, call->request, &fault);
    return false;
}

/* False when the request was answered here. */
static bool open_call(struct desk_call *call, struct api *api, struct http_request *request,
                      const char *rest, bool create)
{
    struct td_error err = {0};
    const struct api_host *host = api->host;
    *call = (struct desk_call){.api = api, .request = request, .desk.auth = host->auth};
    name_tiers(call);
    if (!read_body(call)) {
        close_call(call);
        return false;
    }
    enum td_status status =
        host->keys_path && host->auth
            ? TD_OK
            : error_set(&err, TD_UNSUPPORTED, "this server has no state folder to keep keys in");
    if (status == TD_OK && rest && !read_subject(call, rest))
        status = error_set(&err, TD_NOT_FOUND, "no key has that id or name");
    if (status == TD_OK)
        status = key_store_open(host->keys_path, create, &call->desk.store, &err);
    call->fresh = status == TD_NOT_FOUND && !create && !rest;
    if (status == TD_OK || call->fresh)
        return true;
    reply_error(call, status, &err, NULL);
    close_call(call);
    return false;
}

/* Puts the change in force, shows the key and ends the call. */
static void finish(struct desk_call *call, enum td_status status, const struct stored_key *key,
                   const char *text, const char *param, struct td_error *err)
{
    struct json *object = NULL;
    const struct api_host *host = call->api->host;
    if (status == TD_OK)
        status = auth_load(host->auth, call->desk.store, host->meters, err);
    if (status == TD_OK)
        status = key_desk_show(&call->desk, key, text, &object, err);
    if (status == TD_OK)
        api_reply_value(call->api, call->request, object, REPLY_BYTES_MAX);
    else
        reply_error(call, status, err, param);
    close_call(call);
}

void keys_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct desk_call call;
    struct td_error err = {0};
    struct json *list = NULL;
    if (!open_call(&call, api, request, NULL, false))
        return;
    enum td_status status = call.fresh ? TD_OK : key_desk_list(&call.desk, &list, &err);
    if (call.fresh) {
        list = json_new_object();
        json_put(list, "object", json_new_cstr("list"));
        json_put(list, "data", json_new_array());
        json_put(list, "tenants", json_new_array());
    }
    if (status == TD_OK)
        api_reply_value(api, request, list, REPLY_BYTES_MAX);
    else
        reply_error(&call, status, &err, NULL);
    close_call(&call);
}

/* The first key shuts out whoever needed none, and a second tenant's key takes the rights of the
 * operator from the only one: so somebody has to be the operator by name before. */
static bool would_lock_out(struct desk_call *call)
{
    struct fault fault;
    if (auth_has_operators(call->api->host->auth) ||
        json_bool(json_get(call->body, "operator"), false))
        return false;
    fault_set(&fault, 409, "invalid_request_error", "operator_first",
              "with this key nobody would be the operator any more: make the operator's key first, "
              "with \"operator\": true");
    api_reply_fault(call->api, call->request, &fault);
    return true;
}

void keys_handle_new(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct desk_call call;
    struct stored_key key;
    struct td_error err = {0};
    char text[KEY_TEXT_BYTES] = "";
    const char *param = NULL;
    if (!open_call(&call, api, request, NULL, true))
        return;
    if (would_lock_out(&call)) {
        close_call(&call);
        return;
    }
    enum td_status status = key_desk_add(&call.desk, call.body, &key, text, &param, &err);
    finish(&call, status, &key, text, param, &err);
    crypto_wipe(text, sizeof text);
}

void keys_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct desk_call call;
    struct stored_key key;
    struct td_error err = {0};
    struct json *object = NULL;
    if (!open_call(&call, api, request, rest, false))
        return;
    enum td_status status = key_store_find(call.desk.store, call.subject, &key, &err);
    if (status == TD_OK)
        status = key_desk_show(&call.desk, &key, NULL, &object, &err);
    if (status == TD_OK)
        api_reply_value(api, request, object, REPLY_BYTES_MAX);
    else
        reply_error(&call, status, &err, NULL);
    close_call(&call);
}

void keys_handle_change(struct api *api, struct http_request *request, const char *rest)
{
    struct desk_call call;
    struct stored_key key;
    struct td_error err = {0};
    const char *param = NULL;
    if (!open_call(&call, api, request, rest, false))
        return;
    enum td_status status =
        key_desk_change(&call.desk, call.subject, call.body, &key, &param, &err);
    finish(&call, status, &key, NULL, param, &err);
}

void keys_handle_revoke(struct api *api, struct http_request *request, const char *rest)
{
    struct desk_call call;
    struct stored_key key;
    struct td_error err = {0};
    if (!open_call(&call, api, request, rest, false))
        return;
    enum td_status status = key_desk_revoke(&call.desk, call.subject, &key, &err);
    finish(&call, status, &key, NULL, NULL, &err);
}

void keys_handle_rotate(struct api *api, struct http_request *request, const char *rest)
{
    struct desk_call call;
    struct stored_key key;
    struct td_error err = {0};
    char text[KEY_TEXT_BYTES] = "";
    if (!open_call(&call, api, request, rest, false))
        return;
    const struct json *overlap = json_get(call.body, "overlap_s");
    int64_t overlap_s = json_absent(overlap) ? 0 : json_int(overlap, -1);
    enum td_status status = TD_OK;
    if (overlap_s < 0 || overlap_s > OVERLAP_S_MAX)
        status = error_set(&err, TD_INVALID, "overlap_s must be a whole number from 0 to %d",
                           OVERLAP_S_MAX);
    if (status == TD_OK)
        status = key_desk_rotate(&call.desk, call.subject, overlap_s, &key, text, &err);
    finish(&call, status, &key, text, "overlap_s", &err);
    crypto_wipe(text, sizeof text);
}

void tenants_handle_change(struct api *api, struct http_request *request, const char *rest)
{
    struct desk_call call;
    struct stored_tenant tenant;
    struct td_error err = {0};
    const char *param = NULL;
    if (!open_call(&call, api, request, rest, true))
        return;
    enum td_status status =
        key_desk_change_tenant(&call.desk, call.subject, call.body, &tenant, &param, &err);
    if (status == TD_OK)
        status = auth_load(api->host->auth, call.desk.store, api->host->meters, &err);
    if (status == TD_OK) {
        struct json *object = json_new_object();
        json_put(object, "object", json_new_cstr("tenant"));
        json_put(object, "name", json_new_cstr(tenant.name));
        key_terms_put(&tenant.terms, object);
        api_reply_value(api, request, object, REPLY_BYTES_MAX);
    } else {
        reply_error(&call, status, &err, param);
    }
    close_call(&call);
}

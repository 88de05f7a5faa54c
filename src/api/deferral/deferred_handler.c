/* GET /tandem/v1/deferred, GET and DELETE /tandem/v1/deferred/ID: questions that wait for a
 * connection, and their answers.
 *
 *   {"object": "deferred", "id", "status", "url", "endpoint", "reason", "created_at", "expires_at",
 *    "ended_at", "tries", "response": {"status_code", "body"}}
 *
 * "response" stands in the answer about one that has ended with an answer or an error. */
#include "api/deferral/deferral.h"
#include "api/deferral/deferred_object.h"
#include "api/deferral/handlers.h"
#include "api/files/file_object.h"
#include "api/http/access.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>

#define LIMIT_DEFAULT 20
#define LIMIT_MAX 100
#define OBJECT_BYTES_MAX 8192

struct json *deferred_object(const struct deferred *row)
{
    struct json *object = json_new_object();
    char url[STORED_ID_BYTES + 32];
    bool waits = row->state <= DEFERRED_RUNNING;
    snprintf(url, sizeof url, "/tandem/v1/deferred/%s", row->id);
    json_put(object, "object", json_new_cstr("deferred"));
    json_put(object, "id", json_new_cstr(row->id));
    json_put(object, "status", json_new_cstr(deferred_state_name(row->state)));
    json_put(object, "url", json_new_cstr(url));
    json_put(object, "endpoint", json_new_cstr(row->path));
    json_put(object, "reason", json_new_cstr(row->reason));
    json_put(object, "created_at", json_new_int(row->created_s));
    json_put(object, "expires_at", waits ? json_new_int(row->expires_s) : json_new_null());
    json_put(object, "ended_at", waits ? json_new_null() : json_new_int(row->ended_s));
    json_put(object, "tries", json_new_int(row->tries));
    return object;
}

void deferred_object_reply(struct api *api, struct http_request *http, int code,
                           const struct deferred *row)
{
    struct json *object = deferred_object(row);
    struct buf body;
    buf_init(&body, OBJECT_BYTES_MAX);
    json_write(object, &body);
    json_free(object);
    api_reply_json(api, http, code, &body);
    buf_deinit(&body);
}

/* The store, or NULL, and answered. */
static struct deferred_store *store_of(struct api *api, struct http_request *request)
{
    struct fault fault;
    if (api->host->deferral)
        return deferral_options(api->host->deferral)->store;
    fault_set(&fault, 403, "permission_error", "deferral_off", "%s", deferral_off_text);
    api_reply_fault(api, request, &fault);
    return NULL;
}

/* The operator sees all; where no keys are needed, everybody is the operator. */
static const char *view(const struct api *api)
{
    return api->who.operates ? NULL : file_owner(&api->who);
}

static void push(void *ctx, const struct deferred *row)
{
    json_push(ctx, deferred_object(row));
}

void deferred_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct file_page_texts texts;
    struct stored_page page;
    struct fault fault;
    char status[16] = "";
    enum deferred_state state = DEFERRED_STATE_COUNT;
    struct deferred_store *store = store_of(api, request);
    if (!store || !query_check(api, request, "limit after order status"))
        return;
    bool ok = file_page_read(request, LIMIT_DEFAULT, LIMIT_MAX, &texts, &page, &fault);
    if (ok && (!query_text(request, STR("status"), status, sizeof status) ||
               (*status && (state = deferred_state_parse(status)) == DEFERRED_STATE_COUNT)))
        ok = fault_request(&fault, "status",
                           "status must be waiting, running, answered, failed, expired or "
                           "cancelled");
    if (!ok) {
        api_reply_fault(api, request, &fault);
        return;
    }
    struct json *data = json_new_array();
    bool listed = deferred_store_list(store, view(api), state, &page, push, data);
    file_page_reply(api, request, &page, data, listed ? NULL : "deferred");
}

/* What the answer says: JSON, or a text where a tier wrote something else. */
static bool put_response(struct deferred_store *store, const struct deferred *row, size_t bytes_max,
                         struct json *object)
{
    struct buf text;
    struct json *body = NULL, *response = json_new_object();
    buf_init(&text, bytes_max);
    bool ok = deferred_store_answer(store, row->id, &text, NULL) == TD_OK;
    if (ok && json_parse(buf_view(&text), &body, NULL) != TD_OK)
        body = json_new_text(buf_view(&text));
    buf_deinit(&text);
    json_put(response, "status_code", json_new_int(row->code));
    json_put(response, "body", body ? body : json_new_null());
    json_put(object, "response", response);
    return ok;
}

void deferred_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct deferred row;
    struct td_str id = file_path_name(rest);
    struct deferred_store *store = store_of(api, request);
    if (!store)
        return;
    if (!deferred_store_find(store, view(api), id, &row)) {
        file_reply_absent(api, request, "deferred", id);
        return;
    }
    size_t bytes_max = 4 * api->host->answer_bytes_max + 65536;
    struct json *object = deferred_object(&row);
    bool ended = row.state == DEFERRED_ANSWERED || row.state == DEFERRED_FAILED;
    if (ended && !put_response(store, &row, bytes_max, object)) {
        json_free(object);
        api_reply_status(api, request, TD_IO,
                         &(struct td_error){.message = "the answer cannot be read"}, NULL);
        return;
    }
    api_reply_value(api, request, object, 2 * bytes_max);
}

void deferred_handle_drop(struct api *api, struct http_request *request, const char *rest)
{
    struct deferred row;
    struct td_error err = {0};
    bool removed = false;
    struct td_str id = file_path_name(rest);
    struct deferred_store *store = store_of(api, request);
    if (!store)
        return;
    enum td_status status = deferred_store_find(store, view(api), id, &row)
                                ? deferred_store_drop(store, view(api), id, &removed, &err)
                                : TD_NOT_FOUND;
    if (status == TD_NOT_FOUND) {
        file_reply_absent(api, request, "deferred", id);
        return;
    }
    if (status != TD_OK) {
        api_reply_status(api, request, status, &err, NULL);
        return;
    }
    deferral_wake(api->host->deferral); /* what runs of it is stopped */
    if (!removed)
        (void)deferred_store_find(store, view(api), id, &row);
    struct json *object = deferred_object(&row);
    json_put(object, "deleted", json_new_bool(removed));
    api_reply_value(api, request, object, OBJECT_BYTES_MAX);
}

/* Responses that are kept: GET and DELETE /v1/responses/ID, its input_items, and POST .../cancel.
 *
 * A response belongs to its caller. To others it is not there. */
#include "api/dialects/responses/responses_history.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "api/inference/handlers.h"
#include "api/inference/kept_events.h"
#include "api/inference/kept_page.h"
#include "api/inference/kept_review.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <string.h>

/* The body of a response that runs, as one that ended so. **returns new**, or NULL. */
static struct history_text *ended(const struct history_text *body, const char *status,
                                  const char *why)
{
    struct json *object = NULL;
    struct history_text *text = NULL;
    if (json_parse(history_text_view(body), &object, NULL) == TD_OK) {
        struct buf out;
        struct json *error = why ? json_new_object() : NULL;
        buf_init(&out, KEPT_REPLY_BYTES_MAX);
        json_put(object, "status", json_new_cstr(status));
        if (error) {
            json_put(error, "code", json_new_cstr("server_error"));
            json_put(error, "message", json_new_cstr(why));
            json_put(object, "error", error);
        }
        json_write(object, &out);
        text = out.failed ? NULL : history_text_new(buf_view(&out));
        buf_deinit(&out);
    }
    json_free(object);
    return text;
}

/* One whose node is gone will have no answer any more. */
static bool find(struct api *api, struct td_str id, struct history_found *found)
{
    if (!api->host->history || !str_starts_with(id, STR("resp_")) ||
        !history_find(api->host->history, api->who.caller, id, found))
        return false;
    struct history_text *failed =
        found->state == HISTORY_LOST
            ? ended(found->body, "failed", "the server that made this response has ended")
            : NULL;
    if (failed) {
        history_text_free(found->body);
        found->body = failed;
    }
    return true;
}

static void reply_text(struct api *api, struct http_request *request,
                       const struct history_text *body)
{
    api_reply_text(api, request, 200, "application/json", history_text_view(body));
}

static bool wants_stream(const struct http_request *request)
{
    char text[sizeof "true"];
    return query_text(request, STR("stream"), text, sizeof text) && strcmp(text, "true") == 0;
}

static void reply_events(struct api *api, struct http_request *request,
                         const struct history_found *found)
{
    struct fault fault;
    uint64_t after;
    if (found->state == HISTORY_RUNNING)
        fault_request(&fault, "stream",
                      "the response is not complete, and its events are not kept: ask without "
                      "stream until it is");
    else if (!query_number(request, STR("starting_after"), KEPT_EVENTS_ALL, &after))
        fault_request(&fault, "starting_after", "starting_after must be the number of an event");
    else {
        struct buf events;
        buf_init(&events, 8 * KEPT_REPLY_BYTES_MAX);
        if (kept_events_write(history_text_view(found->body), after, &events)) {
            api_reply_text(api, request, 200, "text/event-stream", buf_view(&events));
            buf_deinit(&events);
            return;
        }
        buf_deinit(&events);
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for the events", NULL);
    }
    api_reply_fault(api, request, &fault);
}

void responses_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct history_found found;
    if (!find(api, str_from(rest), &found)) {
        kept_page_reply_absent(api, request, "Response", str_from(rest));
        return;
    }
    kept_review_settle(api, rest, &found);
    if (wants_stream(request))
        reply_events(api, request, &found);
    else
        reply_text(api, request, found.body);
    history_found_deinit(&found);
}

void responses_handle_delete(struct api *api, struct http_request *request, const char *rest)
{
    struct history_found found;
    bool known = find(api, str_from(rest), &found);
    bool removed = known && history_remove(api->host->history, api->who.caller, rest);
    if (removed)
        kept_review_drop(api, &found);
    if (known)
        history_found_deinit(&found);
    if (!removed) {
        kept_page_reply_absent(api, request, "Response", str_from(rest));
        return;
    }
    struct json *object = json_new_object();
    json_put(object, "id", json_new_cstr(rest));
    json_put(object, "object", json_new_cstr("response"));
    json_put(object, "deleted", json_new_bool(true));
    api_reply_value(api, request, object, KEPT_REPLY_BYTES_MAX);
}

void responses_handle_items(struct api *api, struct http_request *request, const char *rest)
{
    struct td_str id = kept_page_name(rest);
    const struct responses_history from = {.history = api->host->history,
                                           .caller = api->who.caller,
                                           .bytes_max = KEPT_REPLY_BYTES_MAX};
    struct json *items;
    if (str_starts_with(id, STR("resp_")) && responses_history_show(&from, id, &items))
        kept_page_reply(api, request, items);
    else
        kept_page_reply_absent(api, request, "Response", id);
}

/* --- cancelling --- */

/* The chat notices it soon (inference/chat_handler.c). One that has ended meanwhile stays as it
 * is. */
void responses_handle_cancel(struct api *api, struct http_request *request, const char *rest)
{
    struct td_str id = kept_page_name(rest);
    struct history_found found;
    struct fault fault;
    char name[HISTORY_ID_BYTES] = "";
    if (!find(api, id, &found)) {
        kept_page_reply_absent(api, request, "Response", id);
        return;
    }
    if (!found.background) {
        fault_request(&fault, "id", "only a response with background: true can be cancelled");
        api_reply_fault(api, request, &fault);
        history_found_deinit(&found);
        return;
    }
    memcpy(name, id.data, id.len); /* it was found, so it is short */
    struct history_text *body = found.state == HISTORY_RUNNING
                                    ? ended(found.body, "cancelled", NULL)
                                    : history_text_hold(found.body);
    if (found.state == HISTORY_RUNNING &&
        !history_cancel(api->host->history, api->who.caller, name, body)) {
        history_text_free(body);
        history_found_deinit(&found);
        body = find(api, id, &found) ? history_text_hold(found.body) : NULL;
    }
    if (body)
        reply_text(api, request, body);
    else
        kept_page_reply_absent(api, request, "Response", id);
    history_text_free(body);
    history_found_deinit(&found);
}

/* Responses that are kept: GET and DELETE /v1/responses/ID, its input_items, and POST .../cancel.
 *
 * A response belongs to its caller. To others it is not there. */
#include "api/dialects/responses/responses_history.h"
#include "api/http/call.h"
#include "api/http/event_stream.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "api/inference/handlers.h"
#include "api/inference/kept_events.h"
#include "api/inference/kept_page.h"
#include "api/inference/kept_review.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_MS 250
#define LOOK_FAR_MS 1500 /* each is a query to the database, on the loop's thread */
#define KEEP_ALIVE ": keep-alive\n\n"

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

/* --- as a stream --- */

/* One that runs is looked for again and again until it is complete: its events are not kept, but
 * made of what it has become. */
struct following {
    struct api_call base; /* first */
    struct event_stream stream;
    struct loop_timer *timer;
    struct auth_who who;
    uint64_t after;
    char id[HISTORY_ID_BYTES];
};

static void following_free(struct following *following)
{
    api_call_end(&following->base);
    loop_timer_free(following->base.api->loop, following->timer);
    event_stream_deinit(&following->stream);
    free(following);
}

static void following_gone(void *ctx)
{
    following_free(ctx);
}

/* A client whose stream is cut asks again. */
static void following_stop(struct api_call *call)
{
    struct following *following = (struct following *)call;
    if (following->stream.http)
        event_stream_start(&following->stream);
    event_stream_abort(&following->stream);
    following_free(following);
}

static void following_look(void *ctx)
{
    struct following *following = ctx;
    struct event_stream *stream = &following->stream;
    struct api *api = following->base.api;
    struct history *history = api->host->history;
    struct history_found found = {0};
    api->who = following->who;
    if (history_runs(history, api->who.caller, following->id)) { /* this node knows */
        loop_timer_start(api->loop, following->timer, LOOK_MS);
        return;
    }
    bool known = find(api, str_from(following->id), &found);
    if (known ? found.state == HISTORY_RUNNING : history_is_away(history)) {
        history_found_deinit(&found);
        loop_timer_start(api->loop, following->timer, LOOK_FAR_MS);
        return;
    }
    if (known) {
        kept_review_settle(api, following->id, &found);
        (void)!kept_events_write(history_text_view(found.body), following->after,
                                 event_stream_frame(stream));
        history_found_deinit(&found);
        event_stream_start(stream);
        event_stream_send(stream, following->id);
        event_stream_done(stream);
    }
    following_stop(&following->base); /* deleted meanwhile: without an end */
}

static void write_fault(void *ctx, const struct fault *fault, struct buf *out)
{
    event_form_openai.write_fault(ctx, fault, out);
}

static void reply_events(struct api *api, struct http_request *request, const char *id)
{
    static const struct event_form form = {.content_type = "text/event-stream",
                                           .keep_alive = {KEEP_ALIVE, sizeof KEEP_ALIVE - 1},
                                           .frame_bytes_max = 8 * KEPT_REPLY_BYTES_MAX,
                                           .write_fault = write_fault};
    struct fault fault;
    struct following *following = calloc(1, sizeof *following);
    if (following) {
        api_call_begin(api, &following->base, following_stop, false);
        following->timer = loop_timer_new(api->loop, following_look, following);
    }
    if (!following || !event_stream_init(&following->stream, api, request, &form, NULL) ||
        !following->timer)
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for the events", NULL);
    else if (!query_number(request, STR("starting_after"), KEPT_EVENTS_ALL, &following->after))
        fault_request(&fault, "starting_after", "starting_after must be the number of an event");
    else {
        following->who = api->who;
        snprintf(following->id, sizeof following->id, "%s", id);
        http_request_on_gone(request, following_gone, following);
        event_stream_await(&following->stream, NULL, 0);
        following_look(following);
        return;
    }
    if (following)
        following_free(following);
    api_reply_fault(api, request, &fault);
}

void responses_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct history_found found;
    if (!find(api, str_from(rest), &found)) {
        kept_page_reply_absent(api, request, "Response", str_from(rest));
        return;
    }
    if (wants_stream(request)) {
        reply_events(api, request, rest);
    } else {
        kept_review_settle(api, rest, &found);
        reply_text(api, request, found.body);
    }
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

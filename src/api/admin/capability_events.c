/* GET /tandem/v1/capabilities/events: what the server can do, now and at each change, as
 * server-sent events:
 *
 *   event: capabilities        once, at the beginning, and:
 *   event: changed             when something went or came back
 *   data: {"object": "capabilities.state", "at", "network", "complete", "features", "missing",
 *          "lost": [features], "restored": [features]}
 *
 * The state is looked at twice a second for each stream: it stands in memory, and nothing is sent
 * to find it out. */
#include "api/admin/capability_state.h"
#include "api/admin/handlers.h"
#include "api/http/call.h"
#include "api/http/event_stream.h"
#include "api/http/reply.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 500
#define STREAMS_MAX 64     /* of one loop */
#define KEY_STREAMS_MAX 16 /* of those, of one key: others find room beside it */
#define FRAME_BYTES_MAX 65536

struct events_call {
    struct api_call base; /* first */
    struct event_form form;
    struct event_stream stream;
    struct loop_timer *timer;
    struct capability_state state;
    char key_id[SPENDING_KEY_ID_BYTES]; /* "" where no keys are required */
    bool over;
};

static void call_free(struct events_call *call)
{
    api_call_end(&call->base);
    loop_timer_free(call->base.api->loop, call->timer);
    event_stream_deinit(&call->stream);
    free(call);
}

/* Not from inside a write. */
static void end_soon(struct events_call *call)
{
    call->over = true;
    event_stream_forget(&call->stream);
    loop_timer_start(call->base.api->loop, call->timer, 0);
}

static void on_gone(void *ctx)
{
    end_soon(ctx);
}

static void call_stop(struct api_call *base)
{
    struct events_call *call = (struct events_call *)base;
    event_stream_done(&call->stream);
    call_free(call);
}

static void write_state(struct events_call *call, const struct exchange_services *services,
                        const char *event, const struct capability_state *before)
{
    struct json *object = json_new_object();
    const struct capability_state *now = &call->state;
    struct buf *frame = event_stream_frame(&call->stream);
    json_put(object, "object", json_new_cstr("capabilities.state"));
    json_put(object, "at", json_new_int((int64_t)(clock_wall_ms(services->clock) / 1000)));
    capability_state_put(services, now, object);
    json_put(object, "lost", capability_names(before->available & ~now->available));
    json_put(object, "restored", capability_names(now->available & ~before->available));
    sse_begin(frame, event);
    json_write(object, frame);
    sse_end(frame);
    json_free(object);
    event_stream_send(&call->stream, "-");
}

static void look(void *ctx)
{
    struct events_call *call = ctx;
    struct api *api = call->base.api;
    if (call->over) {
        call_free(call);
        return;
    }
    api_begin_event(api);
    struct capability_state before = call->state;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    capability_state_read(services, &call->state);
    if (memcmp(&before, &call->state, sizeof before) != 0)
        write_state(call, services, "changed", &before);
    api->host->release(api->host->ctx, services);
    if (call->stream.broken && call->stream.http)
        event_stream_abort(&call->stream);
    if (!call->stream.http)
        end_soon(call);
    else
        loop_timer_start(api->loop, call->timer, LOOK_MS);
}

/* key_id NULL: of all. */
static uint32_t count_streams(const struct api *api, const char *key_id)
{
    uint32_t count = 0;
    for (const struct api_call *call = api->calls; call; call = call->next)
        count += call->stop == call_stop &&
                 (!key_id || strcmp(((const struct events_call *)call)->key_id, key_id) == 0);
    return count;
}

void capabilities_handle_events(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault;
    struct events_call *call = NULL;
    if (count_streams(api, NULL) >= STREAMS_MAX)
        fault_from_status(&fault, TD_BUSY, "too many streams of capabilities are open", NULL);
    else if (*api->who.key_id && count_streams(api, api->who.key_id) >= KEY_STREAMS_MAX)
        fault_from_status(&fault, TD_BUSY,
                          "this key has too many streams of capabilities open: close some", NULL);
    else if (!(call = calloc(1, sizeof *call)))
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another stream", NULL);
    if (!call) {
        api_reply_fault(api, request, &fault);
        return;
    }
    call->form = event_form_openai;
    call->form.last = STR("");
    call->form.frame_bytes_max = FRAME_BYTES_MAX;
    snprintf(call->key_id, sizeof call->key_id, "%s", api->who.key_id);
    api_call_begin(api, &call->base, call_stop, false);
    call->base.idle = true;
    call->timer = loop_timer_new(api->loop, look, call);
    if (!event_stream_init(&call->stream, api, request, &call->form, NULL) || !call->timer) {
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for another stream", NULL);
        api_reply_fault(api, request, &fault);
        call_free(call);
        return;
    }
    http_request_on_gone(request, on_gone, call);
    event_stream_start(&call->stream);
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    capability_state_read(services, &call->state);
    write_state(call, services, "capabilities", &call->state);
    api->host->release(api->host->ctx, services);
    event_stream_await(&call->stream, NULL, 0); /* signs of life */
    loop_timer_start(api->loop, call->timer, LOOK_MS);
}

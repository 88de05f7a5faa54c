#include "api/http/lasting_stream.h"

#include "api/http/reply.h"
#include "base/core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 64     /* of one loop */
#define KEY_STREAMS_MAX 16 /* of those, of one key: others find room beside it */

static void call_free(struct lasting_stream *call)
{
    if (call->begun && call->form->end)
        call->form->end(call);
    api_call_end(&call->base);
    loop_timer_free(call->base.api->loop, call->timer);
    event_stream_deinit(&call->stream);
    free(call);
}

/* Not from inside a write. */
static void end_soon(struct lasting_stream *call)
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
    struct lasting_stream *call = (struct lasting_stream *)base;
    event_stream_done(&call->stream);
    call_free(call);
}

static void look(struct lasting_stream *call)
{
    struct api *api = call->base.api;
    if (!call->stream.http) { /* gone, from inside of the last write */
        end_soon(call);
        return;
    }
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    call->form->look(call, services);
    api->host->release(api->host->ctx, services);
    call->looks++;
    if (call->stream.broken && call->stream.http)
        event_stream_abort(&call->stream);
    if (!call->stream.http)
        end_soon(call);
    else
        loop_timer_start(api->loop, call->timer, call->form->look_ms);
}

static void on_time(void *ctx)
{
    struct lasting_stream *call = ctx;
    if (call->over) {
        call_free(call);
        return;
    }
    api_begin_event(call->base.api);
    look(call);
}

/* key_id NULL: of all. */
static uint32_t count_streams(const struct api *api, const char *key_id)
{
    uint32_t count = 0;
    for (const struct api_call *call = api->calls; call; call = call->next)
        count += call->stop == call_stop &&
                 (!key_id || strcmp(((const struct lasting_stream *)call)->key_id, key_id) == 0);
    return count;
}

static void refuse(struct api *api, struct http_request *request, enum td_status status,
                   const char *why)
{
    struct fault fault;
    fault_from_status(&fault, status, why, NULL);
    api_reply_fault(api, request, &fault);
}

void lasting_stream_open(struct api *api, struct http_request *request,
                         const struct lasting_form *form)
{
    const char *key_id = api->who.key_id;
    if (count_streams(api, NULL) >= STREAMS_MAX) {
        refuse(api, request, TD_BUSY, "too many streams of events are open");
        return;
    }
    if (*key_id && count_streams(api, key_id) >= KEY_STREAMS_MAX) {
        refuse(api, request, TD_BUSY, "this key has too many streams of events open: close some");
        return;
    }
    struct lasting_stream *call = calloc(1, form->bytes);
    if (!call) {
        refuse(api, request, TD_NO_MEMORY, "no memory for another stream");
        return;
    }
    call->form = form;
    call->events = event_form_openai;
    call->events.last = STR("");
    call->events.frame_bytes_max = form->frame_bytes_max;
    snprintf(call->key_id, sizeof call->key_id, "%s", key_id);
    api_call_begin(api, &call->base, call_stop, false);
    call->base.idle = true;
    call->timer = loop_timer_new(api->loop, on_time, call);
    bool ready = event_stream_init(&call->stream, api, request, &call->events, NULL);
    ready = ready && call->timer && (!form->begin || form->begin(call));
    if (!ready) {
        refuse(api, request, TD_NO_MEMORY, "no memory for another stream");
        call_free(call);
        return;
    }
    call->begun = true;
    http_request_on_gone(request, on_gone, call);
    event_stream_start(&call->stream);
    event_stream_await(&call->stream, NULL, 0); /* signs of life */
    look(call);
}

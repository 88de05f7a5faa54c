/* One stream of server-sent events.
 *
 * Events are collected in a frame and sent together. A heartbeat keeps proxies from cutting a
 * silent stream. A client that does not read is cut off, and a frame that is too large ends the
 * stream with an error, because an answer with a hole in it would look whole. */
#include "api/http/event_stream.h"

#include "api/http/obfuscation.h"
#include "api/http/reply.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/time/log.h"

#include <stdio.h>

/* Proxies and browsers cut a stream that is silent for 30 to 60 s. */
#define HEARTBEAT_MS 10000
/* Far above what any tier's answer makes in chunks: only a client that does not read gets there. */
#define STREAM_PENDING_MAX (4u << 20)
/* Of the events that are sent at once. */
#define PADDING_BYTES_MAX (1u << 20)

static void write_fault(void *ctx, const struct fault *fault, struct buf *out)
{
    (void)ctx;
    sse_begin(out, NULL);
    fault_write(fault, out);
    sse_end(out);
}

#define KEEP_ALIVE ": keep-alive\n\n"
#define LAST "data: [DONE]\n\n"

const struct event_form event_form_openai = {
    .keep_alive = {KEEP_ALIVE, sizeof KEEP_ALIVE - 1},
    .last = {LAST, sizeof LAST - 1},
    .frame_bytes_max = 4u << 20,
    .write_fault = write_fault,
};

static void beat_later(struct event_stream *stream)
{
    if (stream->http)
        loop_timer_start(stream->api->loop, stream->heartbeat, stream->silence_ms);
}

static void heartbeat(void *ctx)
{
    struct event_stream *stream = ctx;
    if (!stream->http)
        return;
    if (!stream->started && stream->exchange[0])
        http_reply_header(stream->http, "x-tandem-exchange", stream->exchange);
    event_stream_start(stream);
    if (stream->http)
        http_stream_write(stream->http, stream->form->keep_alive);
    beat_later(stream);
}

bool event_stream_init(struct event_stream *stream, struct api *api, struct http_request *http,
                       const struct event_form *form, void *form_ctx)
{
    ASSERT(stream && api && form && form->write_fault);
    *stream = (struct event_stream){.api = api, .http = http, .form = form, .form_ctx = form_ctx};
    stream->pad_bytes = api->host->pad_stream_bytes;
    stream->silence_ms = HEARTBEAT_MS;
    stream->heartbeat = loop_timer_new(api->loop, heartbeat, stream);
    buf_init(&stream->frame, form->frame_bytes_max);
    buf_init(&stream->padded, form->frame_bytes_max + PADDING_BYTES_MAX);
    return stream->heartbeat != NULL;
}

void event_stream_deinit(struct event_stream *stream)
{
    loop_timer_free(stream->api->loop, stream->heartbeat);
    buf_deinit(&stream->frame);
    buf_deinit(&stream->padded);
}

void event_stream_obfuscate(struct event_stream *stream)
{
    if (stream->pad_bytes == 0)
        stream->pad_bytes = OBFUSCATION_BYTES_DEFAULT;
}

/* A client of less patience than a heartbeat gets its answer, or a status, before it hangs up (see
 * exchange/machine/deadline.c). Once text has begun, it gets its signs of life more often. */
void event_stream_await(struct event_stream *stream, const char *exchange,
                        uint32_t client_timeout_ms)
{
    snprintf(stream->exchange, sizeof stream->exchange, "%s", exchange ? exchange : "");
    loop_timer_start(stream->api->loop, stream->heartbeat, HEARTBEAT_MS);
    if (client_timeout_ms && client_timeout_ms / 2 < HEARTBEAT_MS)
        stream->silence_ms = client_timeout_ms / 2 + 1;
}

void event_stream_start(struct event_stream *stream)
{
    ASSERT(stream->http);
    if (stream->started)
        return;
    stream->started = true;
    http_reply_header(stream->http, "cache-control", "no-cache");
    http_reply_header(stream->http, "x-accel-buffering", "no"); /* nginx would hold chunks back */
    api_count_code(stream->api, 200);
    const char *type = stream->form->content_type;
    http_stream_start(stream->http, 200, type ? type : "text/event-stream; charset=utf-8");
}

void event_stream_forget(struct event_stream *stream)
{
    stream->http = NULL;
    loop_timer_stop(stream->api->loop, stream->heartbeat);
}

void event_stream_done(struct event_stream *stream)
{
    if (!stream->http)
        return;
    if (stream->form->last.len > 0)
        http_stream_write(stream->http, stream->form->last);
    if (stream->http)
        http_stream_end(stream->http);
    event_stream_forget(stream);
}

void event_stream_abort(struct event_stream *stream)
{
    if (stream->http)
        http_stream_abort(stream->http);
    event_stream_forget(stream);
}

/* What the frame is on the wire. */
static const struct buf *frame_to_send(struct event_stream *stream)
{
    if (stream->pad_bytes == 0 || stream->frame.failed)
        return &stream->frame;
    buf_clear(&stream->padded);
    obfuscation_write(buf_view(&stream->frame), stream->form->lines, stream->pad_bytes,
                      &stream->api->rng, &stream->padded);
    return &stream->padded;
}

/* What follows a piece that does not fit, or had no memory, would be an answer with a hole. */
static void end_with_hole(struct event_stream *stream, const char *exchange)
{
    struct fault fault;
    size_t bytes_max = stream->form->frame_bytes_max;
    if (api_has_memory(stream->api, &fault))
        fault_set(&fault, 502, "server_error", "chunk_too_large",
                  "a piece of the answer is larger than the %zu bytes that a chunk may have",
                  bytes_max);
    stream->cut = fault.error_code;
    log_event(LOG_LEVEL_WARN, fault.error_code, "exchange=%s limit=%zu", exchange, bytes_max);
    stream->form->write_fault(stream->form_ctx, &fault, event_stream_frame(stream));
    const struct buf *events = frame_to_send(stream);
    if (events->failed) { /* nor can that be said */
        event_stream_abort(stream);
        return;
    }
    http_stream_write(stream->http, buf_view(events));
    event_stream_done(stream);
}

void event_stream_send(struct event_stream *stream, const char *exchange)
{
    if (!stream->http)
        return;
    const struct buf *events = frame_to_send(stream);
    struct fault fault;
    if (events->failed || !api_has_memory(stream->api, &fault)) {
        end_with_hole(stream, exchange);
        return;
    }
    if (events->len == 0)
        return;
    if (http_stream_pending(stream->http) > STREAM_PENDING_MAX) {
        log_event(LOG_LEVEL_WARN, "stream_cut", "exchange=%s pending=%zu", exchange,
                  http_stream_pending(stream->http));
        stream->broken = true;
        return;
    }
    http_stream_write(stream->http, buf_view(events));
    beat_later(stream);
}

void event_stream_send_fault(struct event_stream *stream, const struct fault *fault)
{
    ASSERT(fault->code);
    stream->form->write_fault(stream->form_ctx, fault, event_stream_frame(stream));
    event_stream_send(stream, "-");
}

#include "api/event_stream.h"

#include "base/log.h"
#include "base/str.h"
#include "net/sse.h"

/* Proxies and browsers cut a stream that is silent for 30 to 60 s. */
#define HEARTBEAT_MS 10000
/* Far above what any tier's answer makes in chunks: only a client that does not read gets there. */
#define STREAM_PENDING_MAX (4u << 20)
#define CHUNK_BYTES_MAX (4u << 20)

static void heartbeat(void *ctx)
{
    struct event_stream *stream = ctx;
    if (!stream->http || !stream->started)
        return;
    http_stream_write(stream->http, STR(": keep-alive\n\n"));
    if (stream->http)
        loop_timer_start(stream->api->loop, stream->heartbeat, HEARTBEAT_MS);
}

bool event_stream_init(struct event_stream *stream, struct api *api, struct http_request *http)
{
    *stream = (struct event_stream){.api = api, .http = http};
    stream->heartbeat = loop_timer_new(api->loop, heartbeat, stream);
    buf_init(&stream->chunk, CHUNK_BYTES_MAX);
    buf_init(&stream->frame, CHUNK_BYTES_MAX);
    return stream->heartbeat != NULL;
}

void event_stream_deinit(struct event_stream *stream)
{
    loop_timer_free(stream->api->loop, stream->heartbeat);
    buf_deinit(&stream->chunk);
    buf_deinit(&stream->frame);
}

void event_stream_start(struct event_stream *stream)
{
    stream->started = true;
    http_reply_header(stream->http, "cache-control", "no-cache");
    http_reply_header(stream->http, "x-accel-buffering", "no"); /* nginx would hold chunks back */
    api_count_code(stream->api, 200);
    http_stream_start(stream->http, 200, "text/event-stream; charset=utf-8");
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
    http_stream_write(stream->http, STR("data: [DONE]\n\n"));
    if (stream->http)
        http_stream_end(stream->http);
    event_stream_forget(stream);
}

/* What follows a piece that does not fit would be an answer with a hole in it. */
static void end_too_large(struct event_stream *stream, const char *exchange)
{
    struct fault fault;
    log_event(LOG_LEVEL_WARN, "chunk_too_large", "exchange=%s limit=%u", exchange, CHUNK_BYTES_MAX);
    fault_set(&fault, 502, "server_error", "chunk_too_large",
              "a piece of the answer is larger than the %u bytes that a chunk may have",
              CHUNK_BYTES_MAX);
    buf_clear(&stream->frame);
    fault_write(&fault, event_stream_chunk(stream));
    sse_write(&stream->frame, buf_view(&stream->chunk));
    http_stream_write(stream->http, buf_view(&stream->frame));
    event_stream_done(stream);
}

void event_stream_send(struct event_stream *stream, const char *exchange)
{
    if (!stream->http)
        return;
    buf_clear(&stream->frame);
    sse_write(&stream->frame, buf_view(&stream->chunk));
    if (stream->chunk.failed || stream->frame.failed) {
        end_too_large(stream, exchange);
        return;
    }
    if (http_stream_pending(stream->http) > STREAM_PENDING_MAX) {
        log_event(LOG_LEVEL_WARN, "stream_cut", "exchange=%s pending=%zu", exchange,
                  http_stream_pending(stream->http));
        stream->broken = true;
        return;
    }
    http_stream_write(stream->http, buf_view(&stream->frame));
    if (stream->http)
        loop_timer_start(stream->api->loop, stream->heartbeat, HEARTBEAT_MS);
}

void event_stream_send_fault(struct event_stream *stream, const struct fault *fault)
{
    fault_write(fault, event_stream_chunk(stream));
    event_stream_send(stream, "-");
}

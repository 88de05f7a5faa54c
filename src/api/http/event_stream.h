/* An answer as server-sent events, or as lines of JSON: headers, events, a heartbeat while nothing
 * comes, the end. It belongs to one request on its loop.
 *
 * A client that reads too slowly is cut off when some megabytes wait for it. So memory stays
 * bounded and the work stops. */
#ifndef API_EVENT_STREAM_H
#define API_EVENT_STREAM_H

#include "api/http/api_internal.h"
#include "net/client/sse.h"

/* How the streams of a dialect differ, apart from the answer. */
struct event_form {
    const char *content_type; /* NULL = server-sent events */
    bool lines; /* NDJSON: an event is an object in one line, and nothing else is sent */
    struct td_str keep_alive; /* sent when nothing else was for a while */
    struct td_str last;       /* before the end; may be empty */
    size_t frame_bytes_max;   /* of the events that are sent at once */
    /* Appends whole events that say what went wrong. They are the last ones. */
    void (*write_fault)(void *ctx, const struct fault *fault, struct buf *out);
};
extern const struct event_form event_form_openai;

struct event_stream {
    struct api *api;
    struct http_request *http; /* NULL once ended, replied or gone */
    const struct event_form *form;
    void *form_ctx;
    struct loop_timer *heartbeat;
    struct buf frame; /* what event_stream_send sends: whole events */
    struct buf padded;
    size_t pad_bytes;    /* events are made a multiple of it (obfuscation.h); 0 = not */
    char exchange[64];   /* its id, for headers that go out before the answer; "" = none */
    uint32_t silence_ms; /* the longest that the client is left without a sign of life */
    bool started;        /* headers are out */
    const char *cut; /* why an event could not be sent: the client was told, the stream has ended */
    bool broken;     /* the client is too slow: the handler stops the work and forgets the stream */
};

/* **borrows** form and form_ctx (for its write_fault). */
bool event_stream_init(struct event_stream *stream, struct api *api, struct http_request *http,
                       const struct event_form *form, void *form_ctx);
void event_stream_deinit(struct event_stream *stream);

/* The client asked for padded events; no effect where the server pads all of them. */
void event_stream_obfuscate(struct event_stream *stream);

/* The answer may take a while: headers and signs of life go out meanwhile. Until then a failure can
 * still have its own status. exchange: for the header that names it; NULL = none.
 * client_timeout_ms: a client of that patience hangs up when nothing comes; 0 = not known. */
void event_stream_await(struct event_stream *stream, const char *exchange,
                        uint32_t client_timeout_ms);
/* Sends the headers, unless they are out. Those of the answer itself must be set before. */
void event_stream_start(struct event_stream *stream);
/* For new events. */
static inline struct buf *event_stream_frame(struct event_stream *stream)
{
    buf_clear(&stream->frame);
    return &stream->frame;
}
/* Sends the frame's events. Events that are too large become an error and the end. exchange: for
 * the log. */
void event_stream_send(struct event_stream *stream, const char *exchange);
void event_stream_send_fault(struct event_stream *stream, const struct fault *fault);
/* Sends what comes last and ends the stream; http is NULL afterwards. */
void event_stream_done(struct event_stream *stream);
/* Ends a stream whose client cannot be told any more that it is not whole. */
void event_stream_abort(struct event_stream *stream);
/* Ends without it: the stream was cut, the request was answered otherwise, or the client left. */
void event_stream_forget(struct event_stream *stream);

#endif

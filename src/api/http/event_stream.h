/* An answer as server-sent events: headers, events, a sign of life while nothing comes, the end. Of
 * one request on its loop.
 *
 * A client that reads too slowly is cut off when some megabytes wait for it: memory stays bounded
 * and the work stops. */
#ifndef API_EVENT_STREAM_H
#define API_EVENT_STREAM_H

#include "api/http/api_internal.h"
#include "net/sse.h"

/* In what a dialect's streams differ, the answer aside. */
struct event_form {
    struct td_str keep_alive; /* sent when nothing else was for a while */
    struct td_str last;       /* before the end; may be empty */
    size_t frame_bytes_max;   /* of the events that are sent at once */
    /* Appends whole events that say what went wrong, after which none comes. */
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
    size_t pad_bytes; /* events are made a multiple of it (obfuscation.h); 0 = not */
    bool started;     /* headers are out */
    bool broken; /* the client is too slow: event_stream_end it where the work can be stopped */
};

/* **borrows** form and form_ctx (for its write_fault). */
bool event_stream_init(struct event_stream *stream, struct api *api, struct http_request *http,
                       const struct event_form *form, void *form_ctx);
void event_stream_deinit(struct event_stream *stream);

/* The client asked for events whose sizes say little (where the server does not do it anyhow). */
void event_stream_obfuscate(struct event_stream *stream);

/* Sends the headers; those of the answer's own have been set. */
void event_stream_start(struct event_stream *stream);
/* For new events. */
static inline struct buf *event_stream_frame(struct event_stream *stream)
{
    buf_clear(&stream->frame);
    return &stream->frame;
}
/* Sends the frame's events; those that are too large become an error and the end. exchange: for the
 * log. */
void event_stream_send(struct event_stream *stream, const char *exchange);
void event_stream_send_fault(struct event_stream *stream, const struct fault *fault);
/* What comes last, and the end; http is NULL then. */
void event_stream_done(struct event_stream *stream);
/* The end without it: cut off, replied otherwise, or gone. */
void event_stream_forget(struct event_stream *stream);

#endif

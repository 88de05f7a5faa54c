/* An answer as server-sent events: headers, chunks, comments while nothing comes, [DONE]. Of one
 * request on its loop.
 *
 * A client that reads too slowly is cut off when some megabytes wait for it: memory stays bounded
 * and the work stops. */
#ifndef API_EVENT_STREAM_H
#define API_EVENT_STREAM_H

#include "api/api_internal.h"

struct event_stream {
    struct api *api;
    struct http_request *http; /* NULL once ended, replied or gone */
    struct loop_timer *heartbeat;
    struct buf chunk; /* what event_stream_send sends: one JSON value */
    struct buf frame;
    bool started; /* headers are out */
    bool broken;  /* the client is too slow: event_stream_end it where the work can be stopped */
};

bool event_stream_init(struct event_stream *stream, struct api *api, struct http_request *http);
void event_stream_deinit(struct event_stream *stream);

/* Sends the headers; those of the answer's own have been set. */
void event_stream_start(struct event_stream *stream);
/* For a new chunk. */
static inline struct buf *event_stream_chunk(struct event_stream *stream)
{
    buf_clear(&stream->chunk);
    return &stream->chunk;
}
/* Sends the chunk. One that is too large becomes an error and the end. exchange: for the log. */
void event_stream_send(struct event_stream *stream, const char *exchange);
void event_stream_send_fault(struct event_stream *stream, const struct fault *fault);
/* [DONE] and the end; http is NULL then. */
void event_stream_done(struct event_stream *stream);
/* The end without it: cut off, replied otherwise, or gone. */
void event_stream_forget(struct event_stream *stream);

#endif

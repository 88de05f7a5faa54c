/* A stream of server-sent events that goes on until the client leaves or the server stops: of
 * capabilities, of what happens now. The handler is asked at fixed times what is new. The state
 * stands in memory, and nothing is sent to find it out.
 *
 * Such streams are counted together, so that one key leaves room to others. One loop's thread. */
#ifndef API_LASTING_STREAM_H
#define API_LASTING_STREAM_H

#include "api/http/call.h"
#include "api/http/event_stream.h"

struct lasting_stream;

struct lasting_form {
    size_t bytes; /* of the handler's own struct, whose first member is the struct lasting_stream */
    size_t frame_bytes_max;
    uint32_t look_ms;
    /* False: there is no memory to begin; or NULL. */
    bool (*begin)(struct lasting_stream *stream);
    /* At once, and then each look_ms. It sends what is new (event_stream_send). */
    void (*look)(struct lasting_stream *stream, struct exchange_services *services);
    void (*end)(struct lasting_stream *stream); /* before it is freed; or NULL */
};

struct lasting_stream {
    struct api_call base; /* first */
    const struct lasting_form *form;
    struct event_form events;
    struct event_stream stream;
    struct loop_timer *timer;
    char key_id[SPENDING_KEY_ID_BYTES]; /* "" where no keys are required */
    uint32_t looks;                     /* that came before this one */
    bool begun, over;
};

/* Answers the request with a stream, or refuses it. **borrows** form. */
void lasting_stream_open(struct api *api, struct http_request *request,
                         const struct lasting_form *form);

#endif

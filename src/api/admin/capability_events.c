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
#include "api/http/lasting_stream.h"
#include "base/json/json.h"
#include "base/time/clock.h"

#include <string.h>

#define LOOK_MS 500
#define FRAME_BYTES_MAX 65536

struct events_call {
    struct lasting_stream base; /* first */
    struct capability_state state;
};

static void write_state(struct events_call *call, const struct exchange_services *services,
                        const char *event, const struct capability_state *before)
{
    struct json *object = json_new_object();
    const struct capability_state *now = &call->state;
    struct buf *frame = event_stream_frame(&call->base.stream);
    json_put(object, "object", json_new_cstr("capabilities.state"));
    json_put(object, "at", json_new_int((int64_t)(clock_wall_ms(services->clock) / 1000)));
    capability_state_put(services, now, object);
    json_put(object, "lost", capability_names(before->available & ~now->available));
    json_put(object, "restored", capability_names(now->available & ~before->available));
    sse_begin(frame, event);
    json_write(object, frame);
    sse_end(frame);
    json_free(object);
    event_stream_send(&call->base.stream, "-");
}

static void look(struct lasting_stream *stream, struct exchange_services *services)
{
    struct events_call *call = (struct events_call *)stream;
    struct capability_state before = call->state;
    capability_state_read(services, &call->state);
    if (stream->looks == 0)
        write_state(call, services, "capabilities", &call->state);
    else if (memcmp(&before, &call->state, sizeof before) != 0)
        write_state(call, services, "changed", &before);
}

void capabilities_handle_events(struct api *api, struct http_request *request, const char *rest)
{
    static const struct lasting_form form = {.bytes = sizeof(struct events_call),
                                             .frame_bytes_max = FRAME_BYTES_MAX,
                                             .look_ms = LOOK_MS,
                                             .look = look};
    (void)rest;
    lasting_stream_open(api, request, &form);
}

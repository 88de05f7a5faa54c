/* GET /tandem/v1/live: what happens now, as server-sent events:
 *
 *   event: state      at once, and then every two seconds
 *   data: {"at", "left_out" (exchanges that this stream could not take), "tiers": [{"name",
 *          "place", "up", "code", "under_way"}], "device", "queue": {"running", "waiting"},
 *          "engine_bytes", "alarms": [{"kind", "subject", "begun", "text"}]}
 *   event: exchange   each one that has ended (telemetry/live.h)
 *
 * "under_way", "queue", "engine_bytes" and "alarms" are of all tenants together: an operator sees
 * them. A reader that is slow gets the state, and of the exchanges what its queue holds. */
#include "api/admin/capability_state.h"
#include "api/console/handlers.h"
#include "api/http/access.h"
#include "api/http/lasting_stream.h"
#include "api/metrics/tier_condition.h"
#include "api/telemetry/live.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "engine/session/scheduler.h"
#include "exchange/limits/watch.h"

#include <stdio.h>
#include <stdlib.h>

#define LOOK_MS 250
#define STATE_LOOKS 8 /* a state is sent at each so many looks */
#define FRAME_BYTES_MAX (LIVE_QUEUE_BYTES + (128u << 10))
/* So much may wait in the connection before the queue is left to fill. */
#define PENDING_BYTES_MAX (128u << 10)
#define ALARMS_SHOWN 20

_Static_assert(LIVE_TENANT_BYTES == AUTH_TENANT_BYTES, "the name of a tenant in records");

struct live_call {
    struct lasting_stream base; /* first */
    struct live_looker looker;
    uint64_t left_out;
};

static struct json *tiers_of(const struct exchange_services *services, bool of_all)
{
    struct json *list = json_new_array();
    for (size_t i = 0; i < services->tier_count; i++) {
        const struct tier_facts *facts = &services->tiers[i]->facts;
        struct tier_condition condition;
        struct json *object = json_new_object();
        tier_condition_read(services, i, &condition);
        json_put(object, "name", json_new_cstr(facts->name));
        json_put(object, "place", json_new_cstr(names_place(facts->place)));
        json_put(object, "up", json_new_bool(condition.up && !condition.broken));
        json_put(object, "code", json_new_cstr(condition.code));
        if (of_all && services->load)
            json_put(object, "under_way", json_new_int(tier_load_count(services->load, i)));
        json_push(list, object);
    }
    return list;
}

/* The newest that last. */
static struct json *alarms_of(struct watch *watch)
{
    struct json *list = json_new_array();
    struct watch_alarm *alarms = calloc(WATCH_ALARMS_MAX, sizeof *alarms);
    size_t count = alarms ? watch_alarms(watch, alarms, WATCH_ALARMS_MAX) : 0;
    for (size_t i = 0; i < count && json_count(list) < ALARMS_SHOWN; i++) {
        if (alarms[i].end_wall_ms)
            continue;
        struct json *object = json_new_object();
        json_put(object, "kind", json_new_cstr(watch_kind_name(alarms[i].kind)));
        json_put(object, "subject", json_new_cstr(alarms[i].subject));
        json_put(object, "begun", json_new_int((int64_t)alarms[i].begin_wall_ms));
        json_put(object, "text", json_new_cstr(alarms[i].text));
        json_push(list, object);
    }
    free(alarms);
    return list;
}

static void put_engine(const struct exchange_services *services, struct json *object)
{
    struct json *queue = json_new_object();
    uint64_t running = 0, waiting = 0, bytes = 0;
    for (size_t i = 0; i < services->scheduler_count; i++) {
        struct scheduler_load load = scheduler_get_load(services->schedulers[i]);
        running += load.running;
        waiting += load.waiting;
        bytes += load.loaded ? load.memory_bytes : 0;
    }
    json_put(queue, "running", json_new_int((int64_t)running));
    json_put(queue, "waiting", json_new_int((int64_t)waiting));
    json_put(object, "queue", queue);
    json_put(object, "engine_bytes", json_new_int((int64_t)bytes));
}

static void write_state(const struct live_call *call, const struct exchange_services *services,
                        struct buf *frame)
{
    bool of_all = call->looker.of_all;
    struct json *object = json_new_object();
    json_put(object, "at", json_new_int((int64_t)clock_wall_ms(services->clock)));
    json_put(object, "left_out", json_new_int((int64_t)call->left_out));
    json_put(object, "tiers", tiers_of(services, of_all));
    if (services->device)
        json_put(object, "device", capability_device(services->device));
    if (of_all)
        put_engine(services, object);
    if (of_all && services->watch)
        json_put(object, "alarms", alarms_of(services->watch));
    sse_begin(frame, "state");
    json_write(object, frame);
    sse_end(frame);
    json_free(object);
}

static void look(struct lasting_stream *stream, struct exchange_services *services)
{
    struct live_call *call = (struct live_call *)stream;
    struct buf *frame = event_stream_frame(&stream->stream);
    if (http_stream_pending(stream->stream.http) < PENDING_BYTES_MAX)
        call->left_out = live_take(stream->base.api->host->live, &call->looker, frame);
    if (stream->looks % STATE_LOOKS == 0)
        write_state(call, services, frame);
    event_stream_send(&stream->stream, "-");
}

static bool begin(struct lasting_stream *stream)
{
    struct live_call *call = (struct live_call *)stream;
    struct api *api = stream->base.api;
    const char *tenant = access_view(&api->who);
    call->looker.of_all = !tenant;
    snprintf(call->looker.tenant, sizeof call->looker.tenant, "%s", tenant ? tenant : "");
    if (!api->host->live)
        return false;
    live_join(api->host->live, &call->looker);
    return true;
}

static void end(struct lasting_stream *stream)
{
    live_leave(stream->base.api->host->live, &((struct live_call *)stream)->looker);
}

void live_handle(struct api *api, struct http_request *request, const char *rest)
{
    static const struct lasting_form form = {.bytes = sizeof(struct live_call),
                                             .frame_bytes_max = FRAME_BYTES_MAX,
                                             .look_ms = LOOK_MS,
                                             .begin = begin,
                                             .look = look,
                                             .end = end};
    (void)rest;
    lasting_stream_open(api, request, &form);
}

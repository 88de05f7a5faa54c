/* The list of calls under way, which all handlers share.
 *
 * A handler used to keep a list of its own and a function that empties it. One list with a function
 * pointer does the same for all, and a new handler cannot be forgotten when the server stops. */
#include "api/http/call.h"

#include "api/http/metrics.h"
#include "api/http/reply.h"
#include "api/http/trim.h"
#include "base/core/assertion.h"

static void count(struct api *api, const struct api_call *call, int change)
{
    if (!call->is_exchange)
        return;
    api->running += (uint32_t)change;
    metrics_add(api->host->metrics, api->shard, METRICS_IN_FLIGHT, "", change);
}

void api_call_begin(struct api *api, struct api_call *call, void (*stop)(struct api_call *call),
                    bool is_exchange)
{
    ASSERT(api && call && stop && call != api->calls);
    *call =
        (struct api_call){.api = api, .next = api->calls, .stop = stop, .is_exchange = is_exchange};
    if (call->next)
        call->next->previous = call;
    api->calls = call;
    count(api, call, 1);
}

void api_call_end(struct api_call *call)
{
    struct api *api = call->api;
    ASSERT(call->previous || api->calls == call);
    if (call->previous)
        call->previous->next = call->next;
    else
        api->calls = call->next;
    if (call->next)
        call->next->previous = call->previous;
    count(api, call, -1);
    trim_call_ended(api);
}

bool api_call_is_whole(struct api_call *call, struct fault *fault)
{
    call->holed |= !api_has_memory(call->api, fault);
    if (call->holed)
        fault_from_status(fault, TD_NO_MEMORY, "out of memory", NULL);
    return !call->holed;
}

void api_call_stop_idle(struct api *api)
{
    for (struct api_call *call = api->calls, *next; call; call = next) {
        next = call->next;
        if (call->idle)
            call->stop(call);
    }
}

void api_call_stop_all(struct api *api)
{
    while (api->calls)
        api->calls->stop(api->calls);
}

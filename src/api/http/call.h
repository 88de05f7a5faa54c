/* A call that outlives its handler's return: it waits for an exchange, a job or the disk. The API
 * knows its calls, so that a server that stops can end all of them. One loop's thread. */
#ifndef API_CALL_H
#define API_CALL_H

#include "api/http/api_internal.h"

/* The first member of a handler's own struct. */
struct api_call {
    struct api *api;
    struct api_call *previous, *next; /* in api->calls */
    /* The server stops: cancels the work, replies if nobody did, ends the call and frees it. */
    void (*stop)(struct api_call *call);
    bool idle; /* waits for what may never come: stopped as soon as the server begins to stop */
    bool is_exchange; /* counts as work in flight */
    bool holed;       /* there was no memory for a part of its answer */
};

/* The call is zero or not yet begun; it stays in api->calls until api_call_end. */
void api_call_begin(struct api *api, struct api_call *call, void (*stop)(struct api_call *call),
                    bool is_exchange);
void api_call_end(struct api_call *call);
/* False when there was no memory for a part of the answer, in this event or an earlier one, with
 * the fault. Events that make such a part end with it. */
bool api_call_is_whole(struct api_call *call, struct fault *fault);
/* The server begins to stop: ends calls that would go on for ever. */
void api_call_stop_idle(struct api *api);
/* Stops every call, the youngest first. */
void api_call_stop_all(struct api *api);

#endif

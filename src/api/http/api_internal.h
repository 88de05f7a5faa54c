/* The API of one event loop, which its handlers share. Each handler keeps its own state in its
 * calls (http/call.h). Only for files of api/. One loop's thread. */
#ifndef API_API_INTERNAL_H
#define API_API_INTERNAL_H

#include "api/http/api_host.h"
#include "api/http/auth.h"
#include "api/http/endpoint.h"
#include "base/crypto/rng.h"
#include "base/time/trace.h"

struct api_call;

#define TRACING_REQUEST_ID_BYTES 129

/* Of the request whose handler runs (http/tracing.h). */
struct tracing {
    struct trace trace;
    char request_id[TRACING_REQUEST_ID_BYTES];
};

struct api {
    struct loop *loop;
    const struct api_host *host;
    const struct api_endpoint *endpoints; /* [endpoint_count] */
    size_t endpoint_count;
    uint32_t shard; /* this loop's index for the metrics */
    /* When the request or event that is handled now began (base/core/shortage.h): a fault that is
     * found after an allocation failed is ours. */
    uint32_t shortages;
    struct rng rng; /* of paddings and request ids */
    struct tracing tracing;
    struct auth_who who; /* asks the request whose handler runs (http/access.h) */
    /* Hands a request from inside to the table of endpoints, as a request of `who`. */
    void (*ask)(struct api *api, struct http_request *request, const struct auth_who *who);
    struct api_call *calls;  /* that outlive their handler's return */
    uint32_t running;        /* those of them that are exchanges */
    struct loop_timer *trim; /* after a large request (http/trim.c); NULL = there was none */
    bool large, trim_waits;
};

#endif

/* A path, the function that answers it, and the form of its errors. The table is api.c's. */
#ifndef API_ENDPOINT_H
#define API_ENDPOINT_H

#include "api/http/fault.h"
#include "net/server.h"

struct api;

/* `rest`: what the final "*" of the path matched, "" if none. The handler replies, now or later. */
typedef void api_handler_fn(struct api *api, struct http_request *request, const char *rest);

struct api_endpoint {
    enum http_method method;
    const char *path; /* a final "*" matches one non-empty rest without '/' */
    api_handler_fn *handler;
    bool open; /* no key needed */
    const struct fault_form
        *faults; /* NULL = OpenAI's; also of unknown paths that go on below it */
};

#endif

/* The names of a request: its trace (base/time/trace.h) and its request id. Both are taken from the
 * client where they are well formed, and made here otherwise. They stand in the headers of every
 * reply. One loop's thread. */
#ifndef API_TRACING_H
#define API_TRACING_H

#include "api/http/api_internal.h"
#include "base/bytes/arena.h"
#include "request/request.h"

/* Reads the request's headers into api->tracing, which holds until the next request comes, and sets
 * those of its reply. */
void tracing_begin(struct api *api, struct http_request *request);
/* Copies them for an exchange. False without memory. */
bool tracing_give(const struct api *api, const struct http_request *request, struct arena *arena,
                  struct td_request *out);

#endif

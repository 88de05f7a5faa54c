/* Tandem's own request options: members of the body's `tandem` object, and x-tandem-* headers.
 *
 * A header wins over the body, so that a proxy in front can enforce it. Where two declarations
 * protect, the stricter one holds. No thread state. */
#ifndef API_REQUEST_OPTIONS_H
#define API_REQUEST_OPTIONS_H

#include "api/http/fault.h"
#include "base/bytes/arena.h"
#include "request/request.h"

#define REQUEST_USER_BYTES_MAX 256

/* Looks up a request header, NULL when absent. */
typedef const char *request_header_fn(void *ctx, const char *name);

/* Reads body.tandem. False with *fault naming the member. The request borrows from the body. */
bool request_options_read_body(const struct json *body, struct td_request *request,
                               struct fault *fault);
/* Reads the headers; what the request keeps of them is copied into the arena. */
bool request_options_read_headers(request_header_fn *header, void *ctx, struct arena *arena,
                                  struct td_request *request, struct fault *fault);
/* The names of the headers, by number from 0; "" for an option without one, NULL at the end. */
const char *request_options_header(size_t index);

#endif

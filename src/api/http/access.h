/* Who may ask: the host that a request names, its origin, its key, and the caller's identity. One
 * loop's thread. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "api/http/api_internal.h"
#include "api/http/auth.h"

/* False when the request was refused and answered here. */
bool access_check_host(struct api *api, struct http_request *request);
bool access_check_origin(struct api *api, struct http_request *request);
bool access_check_key(struct api *api, struct http_request *request);
void access_reply_preflight(struct api *api, struct http_request *request);

/* The API key's digest where keys are required, else where the request comes from. */
void access_find_caller(const struct api *api, const struct http_request *request,
                        char out[static AUTH_DIGEST_BYTES]);

/* A request's header, NULL when absent; http is the struct http_request. */
const char *access_find_header(void *http, const char *name);

#endif

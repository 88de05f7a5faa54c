/* The HTTP face: the endpoints and the API of one event loop. What the process shares comes in as
 * struct api_host and outlives every api. */
#ifndef API_API_H
#define API_API_H

#include "api/http/api_host.h"
#include "net/server.h"

struct api;

/* **returns new** (api_free), NULL without memory or random numbers. shard: this loop's index for
 * the metrics. */
struct api *api_new(struct loop *loop, const struct api_host *host, uint32_t shard);
/* Cancels what still runs. Call before server_free. */
void api_free(struct api *api);
/* Ends what still runs with an error that says so; streams end well-formed. */
void api_cancel(struct api *api);
uint32_t api_active(const struct api *api); /* exchanges not yet final on this loop */

/* A server_head_fn: whoever may not ask is refused before a body is read. ctx is the struct api. */
enum http_body_use api_admit(void *ctx, struct http_request *request);
/* A server_fn; ctx is the struct api. */
void api_handle(void *ctx, struct http_request *request);
/* A server_refuse_fn: net/'s own refusals in OpenAI's shape. */
void api_refuse(void *ctx, int code, const char *reason, struct td_str *body);

#endif

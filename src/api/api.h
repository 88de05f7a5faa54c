/* The HTTP face: the endpoints and the API of one event loop. What the process shares comes in as
 * struct api_host and outlives every api. */
#ifndef API_API_H
#define API_API_H

#include "api/http/api_host.h"
#include "net/server/server.h"

struct api;

/* **returns new** (api_free), NULL without memory or random numbers. shard: this loop's index for
 * the metrics. */
struct api *api_new(struct loop *loop, const struct api_host *host, uint32_t shard);
/* Cancels what still runs. Call before server_free. */
void api_free(struct api *api);
/* Ends what still runs with an error that says so; streams end well-formed. */
void api_cancel(struct api *api);
/* The server begins to stop: calls that would go on for ever end. */
void api_drain(struct api *api);
uint32_t api_active(const struct api *api); /* exchanges not yet final on this loop */

/* A server_head_fn: whoever may not ask is refused before a body is read. ctx is the struct api. */
enum http_body_use api_admit(void *ctx, struct http_request *request);
/* A request from inside (net/server/server.h), as a request of `who`. */
struct auth_who;
void api_ask(struct api *api, struct http_request *request, const struct auth_who *who);
/* A server_fn; ctx is the struct api. */
void api_handle(void *ctx, struct http_request *request);
/* A server_end_fn: writes the request's line of the access log. ctx: the api. */
void api_end(void *ctx, const struct http_request *request, const struct http_outcome *outcome);
/* A server_refuse_fn: net/'s own refusals in the shape of the path's dialect. ctx: the api. */
void api_refuse(void *ctx, const struct http_refusal *refusal, struct td_str *body);

#endif

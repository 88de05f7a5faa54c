/* Who may ask: the host that a request names, its origin, its key, and the caller's identity. One
 * loop's thread. */
#ifndef API_ACCESS_H
#define API_ACCESS_H

#include "api/http/api_internal.h"
#include "base/bytes/arena.h"

/* False when the request was refused and answered here. access_check_owner sets api->who. */
/* Whether the request shows a key in a header, of whatever worth. */
bool access_has_key(const struct http_request *request);
bool access_check_host(struct api *api, struct http_request *request);
bool access_check_origin(struct api *api, struct http_request *request);
bool access_check_owner(struct api *api, struct http_request *request,
                        const struct api_endpoint *endpoint);
void access_reply_preflight(struct api *api, struct http_request *request);

/* The tenant whose records they may see; NULL = those of all. **borrows** who. */
const char *access_view(const struct auth_who *who);
/* Whose request it is that was put aside for this owner with this key (key_id "" = none): a tenant,
 * or where no keys are needed, an address. False while there is no such key. */
bool access_find_owner(const struct api *api, const char *owner, const char *key_id,
                       struct auth_who *who);
/* Fills caller, key and tenant of a request to a model. False without memory. */
bool access_give(const struct api *api, struct arena *arena, struct td_request *out);

/* A request's header, NULL when absent; http is the struct http_request. */
const char *access_find_header(void *http, const char *name);

#endif

/* A deferred question as its owner sees it. One loop's thread. */
#ifndef API_DEFERRED_OBJECT_H
#define API_DEFERRED_OBJECT_H

#include "api/http/api_internal.h"
#include "ledger/store/deferred_store.h"

struct json;

/* {"object": "deferred", "id", "status", ...}. **returns new** (json_free). */
struct json *deferred_object(const struct deferred *row);
void deferred_object_reply(struct api *api, struct http_request *http, int code,
                           const struct deferred *row);

#endif

/* Looking up an exchange in the ledger, for handlers. Nothing waits for the disk. */
#ifndef API_LOOKUP_H
#define API_LOOKUP_H

#include "api/http/api_internal.h"

struct json;

/* **takes** value; must reply. */
typedef void api_found_fn(struct api *api, struct http_request *request, struct json *value,
                          void *ctx);
/* Waits for a commit if necessary. Calls found with the exchange's JSON and ctx, or answers that no
 * such exchange exists. **takes** ctx (freed with free). */
void exchanges_find(struct api *api, struct http_request *request, const char *id,
                    api_found_fn *found, void *ctx);

struct ledger_question;
/* The same for any question; without a ledger it answers that there is none. */
void exchanges_ask(struct api *api, struct http_request *request,
                   const struct ledger_question *question, api_found_fn *found, void *ctx);

#endif

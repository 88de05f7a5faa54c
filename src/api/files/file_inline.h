/* Files by their ids in a request to a model: what the caller uploaded is put where its id stood,
 * as if the client had sent it. So it is scanned, counted and passed on like any other content. */
#ifndef API_FILE_INLINE_H
#define API_FILE_INLINE_H

#include "api/http/api_internal.h"
#include "api/http/fault.h"
#include "ledger/store/file_store.h"

/* Writes the body with the contents to `out` (its bytes_max is the request's). *changed false:
 * there is nothing to put in, and `out` is empty. An id that is not one of this server's stays: it
 * may be the provider's. False with the fault. Any thread; reads files. */
bool file_inline(struct file_store *store, const char *owner, struct td_str body, struct buf *out,
                 bool *changed, struct fault *fault);
/* The body to read: what came, or that with the contents of the files that it names, which are then
 * in `filled`, to be freed in any case. False with the fault. */
bool file_inline_request(const struct api *api, const struct http_request *request,
                         struct buf *filled, struct td_str *body, struct fault *fault);

#endif

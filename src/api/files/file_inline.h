/* Files by their ids in a request to a model: what the caller uploaded is put where its id stood,
 * as if the client had sent it. So it is scanned, counted and passed on like any other content. */
#ifndef API_FILE_INLINE_H
#define API_FILE_INLINE_H

#include "api/http/fault.h"
#include "ledger/file_store.h"

/* Writes the body with the contents to `out` (its bytes_max is the request's). *changed false:
 * there is nothing to put in, and `out` is empty. An id that is not one of this server's stays: it
 * may be the provider's. False with the fault. Any thread; reads files. */
bool file_inline(struct file_store *store, const char *owner, struct td_str body, struct buf *out,
                 bool *changed, struct fault *fault);

#endif

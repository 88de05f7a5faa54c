/* A reply that a thread works out, because it reads a long file: the request waits, and the loop
 * does not. */
#ifndef API_BACKGROUND_REPLY_H
#define API_BACKGROUND_REPLY_H

#include "api/http/api_internal.h"

/* The first member of a handler's own struct, which the handler allocates. */
struct background_reply {
    void (*run)(void *work);  /* in the thread: sets value, or status and err */
    void (*free)(void *work); /* frees the struct with all that is in it, and value */
    const char *param;        /* that a failure is about; NULL = none */
    const char *conflict;     /* the code of TD_BUSY, which is a 409 then; NULL = it is a 429 */
    size_t bytes_max;         /* of the reply */
    struct json *value;
    enum td_status status;
    struct td_error err;
};

/* **takes** the work when it succeeds; else nothing was replied. Loop's thread. */
TD_MUST_CHECK enum td_status background_reply_begin(struct api *api, struct http_request *request,
                                                    struct background_reply *work,
                                                    struct td_error *err);

#endif

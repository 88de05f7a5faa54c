/* A reply that a thread works out, because it waits for a disk or reads a long file: the request
 * waits, and the loop does not. */
#ifndef API_BACKGROUND_REPLY_H
#define API_BACKGROUND_REPLY_H

#include "api/http/api_internal.h"

/* The first member of a handler's own struct, which the handler allocates with calloc. */
struct background_reply {
    void (*run)(void *work); /* in the thread: sets value, or status and err */
    /* On the loop, in place of the value's or the status's own reply; NULL = these. */
    void (*reply)(struct api *api, struct http_request *request, void *work);
    void (*deinit)(void *work); /* what else is in the struct; NULL = nothing */
    const char *param;          /* that a failure is about; NULL = none */
    const char *conflict;       /* the code of TD_BUSY, which is a 409 then; NULL = it is a 429 */
    size_t bytes_max;           /* of the reply */
    bool goes_on;  /* when the client leaves: `reply` is called all the same, without a request */
    bool no_retry; /* a server that stops does not say when to ask again */
    struct json *value;
    enum td_status status;
    struct td_error err;
};

/* **takes** the work and replies, at once if it is NULL for want of memory. Loop's thread. */
void background_reply_begin(struct api *api, struct http_request *request, void *work);
/* Frees a work that is not begun. Accepts NULL. */
void background_reply_free(void *work);

#endif

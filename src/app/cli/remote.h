/* Talking to a running server from a subcommand (--url): blocking, on a loop of its own. */
#ifndef APP_REMOTE_H
#define APP_REMOTE_H

#include "base/bytes/buf.h"

struct config;
struct json;

struct remote_request {
    const char *base;   /* "http://127.0.0.1:8080", with or without /v1, or "unix:/PATH" */
    const char *path;   /* "/v1/chat/completions" */
    struct td_str body; /* POST when not empty */
    const char *method; /* NULL = as the body says */
    /* Called with the data of each server-sent event; NULL collects the answer in `answer`. */
    void (*on_event)(void *ctx, struct td_str data);
    void *ctx;
    struct buf *answer; /* whole body, or what came instead of a stream */
    uint32_t timeout_ms;
    /* While this descriptor is readable, `stop` is asked, with ctx; true hangs up, with TD_OK.
     * stop NULL = nothing stops the call. */
    int stop_fd;
    bool (*stop)(void *ctx);
    int *code; /* gets the answer's HTTP code, 0 when none came; NULL = nobody asks */
};

/* The key, if one is needed, is taken from TANDEM_API_KEY. An HTTP code of 400 and above is a
 * failure with the server's own message. */
TD_MUST_CHECK enum td_status remote_call(const struct remote_request *request,
                                         struct td_error *err);
/* The same of JSON. **borrows** body (NULL: there is none); it and the answer take at most
 * bytes_max. The request's body and answer are set here. *out **returns new** (json_free). */
TD_MUST_CHECK enum td_status remote_ask(struct remote_request *request, const struct json *body,
                                        size_t bytes_max, struct json **out, struct td_error *err);
/* Where the configuration lets this machine's server listen, as a base; a path needs no
 * certificate. */
void remote_write_base(const struct config *config, char *out, size_t size);

#endif

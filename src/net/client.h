/* Upstream HTTP(S) over libcurl multi, one multi a loop: pooled connections, HTTP/2, TLS verified.
 * No redirects. Everything on the loop's thread; client_start and client_cancel may be called from
 * inside any callback, client_free from none. */
#ifndef NET_CLIENT_H
#define NET_CLIENT_H

#include "base/loop.h"
#include "tandem/types.h"

struct client;
struct client_transfer;

TD_MUST_CHECK enum td_status client_new(struct loop *loop, struct client **out,
                                        struct td_error *err);
void client_free(struct client *client); /* cancels what runs, without callbacks */
/* The client of this loop, made on first use and freed with the loop. */
struct client *client_of_loop(struct loop *loop);

struct client_request {
    const char *method;         /* "GET", "POST" */
    const char *url;            /* http:// only when allow_http */
    const char *const *headers; /* "Name: value", NULL-terminated; copied */
    struct td_str body;         /* copied */
    bool allow_http;
    bool direct; /* through no proxy, whatever the environment names; loopback never is */
    const char *ca_file;
    const char *pinned_key; /* "sha256//BASE64;...": one of these public keys, or nothing is sent */
    /* Each 0 = none. connect: name, TCP and TLS; first: from there to the first byte of the answer;
     * idle: between bytes; total: all of it. */
    uint32_t connect_timeout_ms, first_timeout_ms, idle_timeout_ms, total_timeout_ms;
    size_t response_bytes_max; /* of the body; 0 = no limit */
    /* Callbacks may be NULL. on_headers once, for the final answer; its strings are NULL when
     * absent. */
    void (*on_headers)(void *ctx, int code, const char *content_type, const char *retry_after);
    void (*on_body)(void *ctx, struct td_str bytes);
    /* Exactly once unless cancelled, never from inside client_start. TD_OK = a whole response
     * arrived, whatever its code. Else TD_TIMEOUT, TD_LIMIT, TD_CORRUPT (not HTTP) or
     * TD_UNAVAILABLE (name, connection, TLS), with a message that names the host. The transfer is
     * gone after it. */
    void (*on_done)(void *ctx, enum td_status status, int code, const struct td_error *err);
    void *ctx;
};

TD_MUST_CHECK enum td_status client_start(struct client *client,
                                          const struct client_request *request,
                                          struct client_transfer **out, struct td_error *err);
void client_cancel(struct client_transfer *transfer); /* no callback after */

#endif

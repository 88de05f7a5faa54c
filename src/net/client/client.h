/* HTTP(S) to upstream servers over libcurl, with one multi handle per loop: pooled connections,
 * HTTP/2, verified TLS, no redirects. Everything runs on the loop's thread. client_start and
 * client_cancel may be called inside any callback, client_free inside none. */
#ifndef NET_CLIENT_H
#define NET_CLIENT_H

#include "base/thread/loop.h"
#include "tandem/types.h"

struct client;
struct client_transfer;
struct client_body;

TD_MUST_CHECK enum td_status client_new(struct loop *loop, struct client **out,
                                        struct td_error *err);
void client_free(struct client *client); /* cancels running transfers without callbacks */
/* The client of this loop. It is made on first use and freed with the loop. */
struct client *client_of_loop(struct loop *loop);

struct client_request {
    const char *method;         /* "GET", "POST" */
    const char *url;            /* http:// only when allow_http */
    const char *const *headers; /* "Name: value", NULL-terminated; copied */
    struct td_str body;         /* copied, unless it is that of `shared` */
    struct client_body *shared; /* held until it was sent; or NULL */
    bool allow_http;
    bool direct; /* without a proxy, as for loopback addresses */
    /* Connects to public addresses only, whatever the host's name leads to, and not by a proxy. */
    bool public_only;
    bool discreet; /* messages are for strangers: no host, no address; the log has them */
    /* Bytes alone are no answer: only the first one and client_note_progress end a silence. */
    bool notes_progress;
    const char *unix_path; /* the socket to connect to, whatever host the URL names; NULL = none */
    const char *ca_file;
    const char *pinned_key; /* "sha256//BASE64;...": accept only these public keys */
    /* Time-outs; 0 = none. connect: name, TCP and TLS. first: from there to the first byte of the
     * answer. idle: between bytes. total: for everything. */
    uint32_t connect_timeout_ms, first_timeout_ms, idle_timeout_ms, total_timeout_ms;
    size_t response_bytes_max; /* of the body; 0 = no limit */
    /* Callbacks may be NULL. on_connected comes when there is a connection, a new or a pooled one,
     * before anything is sent; again when the server had closed the pooled one. on_headers comes
     * once, for the final answer; absent headers are NULL. */
    void (*on_connected)(void *ctx);
    void (*on_headers)(void *ctx, int code, const char *content_type, const char *retry_after);
    void (*on_body)(void *ctx, struct td_str bytes);
    /* Called exactly once unless cancelled, and never inside client_start. TD_OK: a complete
     * response arrived, with any code. Otherwise TD_TIMEOUT, TD_LIMIT, TD_CORRUPT (not HTTP, or a
     * head too large to hold) or TD_UNAVAILABLE (name, connection, TLS), with a message that names
     * the host unless it is discreet. The transfer is gone afterwards. */
    void (*on_done)(void *ctx, enum td_status status, int code, const struct td_error *err);
    void *ctx;
};

TD_MUST_CHECK enum td_status client_start(struct client *client,
                                          const struct client_request *request,
                                          struct client_transfer **out, struct td_error *err);
/* Something of an answer came, inside on_body: with notes_progress, a silence begins anew. */
void client_note_progress(struct client_transfer *transfer);
/* No callback comes afterwards. Accepts NULL. */
void client_cancel(struct client_transfer *transfer);

#endif

/* The HTTP/1.1 server. Each loop has a listener (SO_REUSEPORT). Handlers get complete bodies and
 * send replies or streams. libevent is inside; none of its types leaves net/. http_lint.h says how
 * requests are framed and which are refused. Everything runs on the loop's thread. server_free must
 * not be called inside a handler. */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include "base/loop.h"
#include "tandem/types.h"

struct body_budget;
struct server;
struct http_request; /* valid from the handler until the reply ends or on_gone is called */

enum http_method {
    HTTP_GET,
    HTTP_POST,
    HTTP_PUT,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_HEAD,
    HTTP_OTHER
};

struct server_options {
    const char *host;      /* "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;         /* 0 = any free port: see server_port */
    size_t body_bytes_max; /* above it: 413 */
    size_t header_bytes_max;
    struct body_budget *budget; /* of all bodies, with other servers; NULL = no limit. Borrowed */
    uint32_t connection_max;    /* above it one that waits is closed, or 503; 0 = no limit */
    uint32_t header_timeout_ms; /* for a whole request, against slow senders */
    uint32_t idle_timeout_ms;   /* between requests */
    bool reuse_port;
    /* A client that shuts its sending side still gets its answer. Whether it left is then noticed
     * only when something is sent. */
    bool ignore_client_abort;
};

/* What becomes of a request's body. */
enum http_body_use { HTTP_BODY_KEEP, HTTP_BODY_DROP };

/* Called with a request's head, before anything of its body is kept. To refuse, it replies: the
 * body is then not read. */
typedef enum http_body_use server_head_fn(void *ctx, struct http_request *request);
typedef void server_fn(void *ctx, struct http_request *request);
/* Writes the JSON body of a refusal that net/ makes itself (400, 408, 413, 417, 431, 501, 503,
 * 505), so that api/ decides its shape. The body is copied at once. May be NULL. */
typedef void server_refuse_fn(void *ctx, int code, const char *reason, struct td_str *body);

TD_MUST_CHECK enum td_status server_new(struct loop *loop, const struct server_options *options,
                                        server_fn *handler, void *ctx, struct server **out,
                                        struct td_error *err);
void server_set_head(struct server *server, server_head_fn *head);
void server_set_refuse(struct server *server, server_refuse_fn *refuse);
uint16_t server_port(const struct server *server);
/* Stops gracefully: idle connections close, running replies go on and are the last ones. */
void server_stop_accepting(struct server *server);
uint32_t server_active(const struct server *server); /* requests without a complete reply */
void server_free(struct server *server);

enum http_method http_request_method(const struct http_request *request);
const char *http_request_path(const struct http_request *request);  /* decoded, without the query */
const char *http_request_query(const struct http_request *request); /* raw, or NULL */
const char *http_request_header(const struct http_request *request,
                                const char *name); /* NULL = absent */
struct td_str http_request_body(const struct http_request *request);
const char *http_request_peer(const struct http_request *request); /* the numeric address */
/* Our own numeric address that the client has reached. */
const char *http_request_local(const struct http_request *request);
/* What the server_head_fn wants to tell the server_fn: memory that the request owns, zeroed at
 * first, the same at each call. NULL without memory. */
void *http_request_note(struct http_request *request, size_t bytes);

/* Adds a header to the reply, before http_reply or http_stream_start. Values with CR, LF or NUL are
 * refused. */
void http_reply_header(struct http_request *request, const char *name, const char *value);
/* Sends a complete reply; this ends the request. */
void http_reply(struct http_request *request, int code, const char *content_type,
                struct td_str body);

/* Runs `fn` once when the client has left or the connection broke; the request is invalid
 * afterwards. This is noticed within milliseconds, also while nothing is sent. A client that shuts
 * its sending side has left, too, unless ignore_client_abort says otherwise. Without this callback,
 * the request must still be answered; the answer then goes nowhere. */
void http_request_on_gone(struct http_request *request, loop_fn *fn, void *ctx);

/* Sends a reply as a stream. */
void http_stream_start(struct http_request *request, int code, const char *content_type);
void http_stream_write(struct http_request *request, struct td_str bytes);
/* Bytes that the kernel has not taken yet. Above a few hundred KB the producer should pause. */
size_t http_stream_pending(const struct http_request *request);
/* Runs fn once when no bytes are pending, and soon when none are now; never inside this call. */
void http_stream_on_drain(struct http_request *request, loop_fn *fn, void *ctx);
void http_stream_end(struct http_request *request);

#endif

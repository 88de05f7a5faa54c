/* HTTP/1.1 server: one listener a loop (SO_REUSEPORT), requests with whole bodies in, replies or
 * streams out. libevent's core inside, none of its types outside; how requests are framed, and
 * which are refused, is in http_lint.h. Everything on the loop's thread, and no server_free from
 * inside a handler. */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include "base/loop.h"
#include "tandem/types.h"

struct server;
struct http_request; /* valid from the handler until the reply has ended or on_gone was called */

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
    uint16_t port;         /* 0 = any free one: see server_port */
    size_t body_bytes_max; /* 413 above */
    size_t header_bytes_max;
    uint32_t connection_max;    /* 503 above, 0 = no limit */
    uint32_t header_timeout_ms; /* a whole request must arrive within this time: slow-loris guard */
    uint32_t idle_timeout_ms;   /* keep-alive */
    bool reuse_port;
};

typedef void server_fn(void *ctx, struct http_request *request);
/* Refusals made by net/ itself (400, 408, 413, 417, 431, 501, 503, 505): lets api/ shape the body,
 * JSON, which is copied at once. May be NULL. */
typedef void server_refuse_fn(void *ctx, int code, const char *reason, struct td_str *body);

TD_MUST_CHECK enum td_status server_new(struct loop *loop, const struct server_options *options,
                                        server_fn *handler, void *ctx, struct server **out,
                                        struct td_error *err);
void server_set_refuse(struct server *server, server_refuse_fn *refuse);
uint16_t server_port(const struct server *server);
/* Graceful: idle connections close, running replies go on and are the last on theirs. */
void server_stop_accepting(struct server *server);
uint32_t server_active(const struct server *server); /* requests whose reply is not out yet */
void server_free(struct server *server);

enum http_method http_request_method(const struct http_request *request);
const char *http_request_path(const struct http_request *request);  /* decoded, without query */
const char *http_request_query(const struct http_request *request); /* raw or NULL */
const char *http_request_header(const struct http_request *request,
                                const char *name); /* NULL absent */
struct td_str http_request_body(const struct http_request *request);
const char *http_request_peer(const struct http_request *request); /* numeric address */

/* Headers for the reply; before http_reply or http_stream_start. CR/LF/NUL in a value are
 * refused. */
void http_reply_header(struct http_request *request, const char *name, const char *value);
/* Whole reply; ends the request. */
void http_reply(struct http_request *request, int code, const char *content_type,
                struct td_str body);

/* The client left, or the connection broke: `fn` runs once, the request is invalid after it.
 * Noticed within milliseconds also while nothing is being sent. A client that shuts its sending
 * side has left, too. A request whose client left without this being set must still be answered;
 * that goes nowhere. */
void http_request_on_gone(struct http_request *request, loop_fn *fn, void *ctx);

/* A streamed reply. */
void http_stream_start(struct http_request *request, int code, const char *content_type);
void http_stream_write(struct http_request *request, struct td_str bytes);
/* Bytes not yet taken by the kernel; above a few hundred KB the producer should pause. */
size_t http_stream_pending(const struct http_request *request);
/* fn runs when pending falls to zero (once), soon if it is zero already; not from inside this
 * call. */
void http_stream_on_drain(struct http_request *request, loop_fn *fn, void *ctx);
void http_stream_end(struct http_request *request);

#endif

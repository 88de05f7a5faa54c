/* The HTTP/1.1 server. Each loop has listeners of its own (SO_REUSEPORT). Handlers get complete
 * bodies, decompressed, and send replies or streams. libevent is inside; none of its types leaves
 * net/. http_lint.h says how requests are framed and which are refused. Everything runs on the
 * loop's thread. server_free must not be called inside a handler. */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include "base/thread/loop.h"
#include "tandem/types.h"

struct address_set;
struct tls_keeper;
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
    const char *host;      /* "127.0.0.1", "::1", "0.0.0.0"; NULL = see server_listen */
    uint16_t port;         /* 0 = any free port: see server_port */
    size_t body_bytes_max; /* above it: 413; of a compressed body, also once it is decoded */
    size_t header_bytes_max;
    struct body_budget *budget; /* of all bodies, with other servers; NULL = no limit. Borrowed */
    uint32_t connection_max;    /* above it one that waits is closed, or 503; 0 = no limit */
    uint32_t header_timeout_ms; /* for a whole request; more as a large body comes */
    uint32_t idle_timeout_ms;   /* between requests */
    bool reuse_port;
    bool http2; /* also spoken, where TLS agrees on it or a client begins with it */
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
/* Writes the JSON body of a refusal that net/ makes itself (400, 408, 413, 415, 417, 431, 501,
 * 503, 505), so that api/ decides its shape. The body is copied at once. May be NULL. */
struct http_refusal {
    int code;
    const char *reason;
    const char *header; /* at fault, or NULL */
    const char *path;   /* of the request, or NULL when it is not known */
};
typedef void server_refuse_fn(void *ctx, const struct http_refusal *refusal, struct td_str *body);

/* What became of a request. */
struct http_outcome {
    int code;            /* of the reply; 499: the client left before it began */
    uint64_t sent_bytes; /* of the reply's body, before chunks */
    bool whole;          /* the reply was given to its end */
    uint64_t begun_ms;   /* monotonic; when the head was there */
};
/* Called once for each request that has a note, when all is over. It may read the request. */
typedef void server_end_fn(void *ctx, const struct http_request *request,
                           const struct http_outcome *outcome);

TD_MUST_CHECK enum td_status server_new(struct loop *loop, const struct server_options *options,
                                        server_fn *handler, void *ctx, struct server **out,
                                        struct td_error *err);
/* A socket that connections come by. */
struct server_socket {
    int fd; /* it listens (net/transport/listen.h) */
    /* Whose connections begin with a PROXY header, which says whose they are; NULL = nobody's.
     * Outlives the server. */
    const struct address_set *proxies;
    /* Its connections are encrypted (net/transport/tls.h); NULL = they are not. The same. */
    struct tls_keeper *tls;
};
/* One more socket to accept from. **takes** its fd, also on failure. Before the loop runs. */
TD_MUST_CHECK enum td_status
server_listen(struct server *server, const struct server_socket *entrance, struct td_error *err);
void server_set_head(struct server *server, server_head_fn *head);
void server_set_refuse(struct server *server, server_refuse_fn *refuse);
void server_set_end(struct server *server, server_end_fn *end);
/* Requests with bodies of SERVER_LARGE_BYTES or more are handled on the loop of `large`, with its
 * handler and its limits; their heads are read and decided upon here. Before the loops run. `large`
 * runs before `server`, and its loop ends and it is freed only after server's loop has ended.
 * `server` is freed after it. */
#define SERVER_LARGE_BYTES ((size_t)64 * 1024) /* some 10 ms of work at most */
void server_set_large(struct server *server, struct server *large);
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
/* Nobody reads it any more: a stream would hold it for long. Its length stays known. */
void http_request_forget_body(struct http_request *request);
size_t http_request_body_bytes(const struct http_request *request); /* decompressed */
/* The numeric address, also of one who comes by a proxy that is believed; or "unix:UID". */
const char *http_request_peer(const struct http_request *request);
/* Who the client's certificate says it is; NULL without one (net/transport/tls.h). */
const char *http_request_client(const struct http_request *request);
/* Our own numeric address that the client, or its proxy, has reached; or "unix". */
const char *http_request_local(const struct http_request *request);
/* What the server_head_fn wants to tell the server_fn: memory that the request owns, zeroed at
 * first, the same at each call. NULL without memory. */
void *http_request_note(struct http_request *request, size_t bytes);
const void *http_request_noted(const struct http_request *request); /* NULL = there is none */

/* Takes a body in pieces, as they come, instead of keeping it: it becomes a file. Such a body may
 * not be compressed. */
struct http_sink {
    uint64_t bytes_max; /* above it: 413, by the announced length already */
    /* 0, or the HTTP code to refuse the request with, and why; the text lives as long as ctx. */
    int (*take)(void *ctx, struct td_str piece, const char **reason);
    void (*free_ctx)(void *ctx); /* with the request, whatever became of it */
    void *ctx;
};
/* Inside the server_head_fn. **takes** sink->ctx. */
void http_request_set_sink(struct http_request *request, const struct http_sink *sink);
void *http_request_sink(const struct http_request *request); /* its ctx, or NULL */

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
/* Ends a stream that is not whole, so that its client can tell: what was written is sent, and the
 * connection closes without the last chunk. For HTTP/1.0, where a close is the usual end, it is
 * reset at once. */
void http_stream_abort(struct http_request *request);

/* A request of this process itself, such as a line of a batch: handlers cannot tell it from one of
 * a connection, and its reply goes to `done`. */
struct http_inside {
    const char *path;           /* of a POST */
    const char *const *headers; /* "Name: value", NULL-terminated */
    struct td_str body;         /* copied */
    /* The reply, whole; code 0: there is none, because it was streamed. Called once, on the loop,
     * possibly before the handler returns. The request is invalid afterwards. */
    void (*done)(void *ctx, int code, struct td_str body);
    void *ctx;
};
/* Not yet handled: whoever made it calls the handler. NULL without memory, or for a head that
 * http_lint.h refuses. */
struct http_request *http_inside_new(struct server *server, const struct http_inside *inside);
/* One with the path and the headers of another request, but for what frames its body. */
struct http_request *http_inside_like(const struct http_request *from, struct td_str body,
                                      void (*done)(void *ctx, int code, struct td_str body),
                                      void *ctx);
bool http_request_is_inside(const struct http_request *request);
/* The handler was or is now called. */
void http_inside_begin(struct http_request *request);
/* As if its client left: `done` is not called any more. Not inside the handler. */
void http_inside_cancel(struct http_request *request);

#endif

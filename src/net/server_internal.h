/* What server.c (listener, connections) and server_request.c (requests and replies) share. Not for
 * other folders. Everything on the loop's thread. */
#ifndef NET_SERVER_INTERNAL_H
#define NET_SERVER_INTERNAL_H

#include "base/buf.h"
#include "net/http_lint.h"
#include "net/server.h"

#include <event2/event.h>
#include <time.h>

#define PEER_BYTES 64 /* an IPv6 address with a scope */

struct evbuffer;
struct evconnlistener;

struct server {
    struct event_base *base;
    struct server_options options;
    struct evconnlistener *listener;
    struct event *accept_retry; /* after running out of file descriptors */
    uint16_t port;
    server_fn *handler;
    server_refuse_fn *refuse;
    void *ctx;
    bool stopping;

    struct conn *conns;
    uint32_t conn_count, refused_count; /* served; being told 503 */
    struct http_request *requests;      /* all that are not freed yet */
    struct http_request *later;         /* with something to do when the loop turns */
    struct event *later_event;

    time_t date_second; /* of date_text, "Sun, 06 Nov 1994 08:49:37 GMT" */
    char date_text[48];
};

enum conn_state {
    CONN_HEAD,  /* waiting for, or in, a request's head */
    CONN_BODY,  /* in its body */
    CONN_REPLY, /* the handler has it */
    CONN_LINGER /* last bytes out, then wait for the peer to close: see server.c */
};

struct conn {
    struct server *server;
    struct conn *previous, *next;
    int fd;
    struct event *read_event, *write_event, *timer;
    struct evbuffer *in, *out;
    struct http_request *request; /* in CONN_BODY and CONN_REPLY */
    enum conn_state state;
    size_t scanned;       /* of the head */
    bool begun;           /* a byte of the next request has come */
    bool processing;      /* in conn_process, further down the stack */
    bool close_after;     /* no further request on this connection */
    bool discard;         /* what still comes in is dropped */
    bool peer_closed;     /* it sends no more */
    bool shut;            /* we send no more */
    bool broken;          /* out of memory while writing: to be closed */
    bool counted_refused; /* in refused_count, not conn_count */
    char peer[PEER_BYTES];
};

struct http_request {
    struct server *server;                /* NULL once the server was freed */
    struct conn *conn;                    /* NULL once the client is gone or the reply has ended */
    struct http_request *previous, *next; /* in server->requests */
    struct http_request *later_next;
    bool on_later;

    char *head_text;
    struct http_head head;
    enum http_method method;
    uint64_t body_left; /* of Content-Length */
    struct http_chunks chunks;
    struct buf body;
    char peer[PEER_BYTES];

    bool dispatched; /* the handler was called */
    bool started;    /* the reply's head was written */
    bool chunked;    /* the reply is */
    bool bodyless;   /* HEAD, 204, 304 */
    bool ended;      /* nothing more may happen but freeing */
    struct buf reply_headers;
    loop_fn *gone_fn, *drain_fn;
    void *gone_ctx, *drain_ctx;
};

/* server.c */
void conn_put(struct conn *conn, const void *bytes, size_t len);
void conn_flush_soon(struct conn *conn);
/* After a reply has ended: the next request, or the end of the connection. */
void conn_reply_ended(struct conn *conn);
const char *server_date(struct server *server);

/* server_request.c */
struct http_request *request_new(struct server *server, struct conn *conn, struct td_str head_text);
void request_free(struct http_request *request); /* leaves the server's lists too */
/* The client is gone: tells the owner, who may not use the request after. */
void request_gone(struct http_request *request);
void request_set_method(struct http_request *request);
/* Everything sent was taken by the kernel. */
void request_drained(struct http_request *request);
void request_run_later(struct server *server);
/* Writes the status line and the headers common to all replies, up to but without the blank
 * line. */
void reply_put_head(struct conn *conn, int code, const char *content_type);

#endif

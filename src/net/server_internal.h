/* What server.c (listener, connections) and server_request.c (requests, replies) share. For these
 * two files alone. Everything runs on the loop's thread. */
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
    uint32_t conn_count, refused_count; /* served; those that get 503 */
    struct http_request *requests;      /* all requests that are not freed */
    struct http_request *later;         /* those with something to do in the next turn */
    struct event *later_event;

    time_t date_second; /* of date_text, "Sun, 06 Nov 1994 08:49:37 GMT" */
    char date_text[48];
};

enum conn_state {
    CONN_HEAD,  /* waits for a head or reads it */
    CONN_BODY,  /* reads a body */
    CONN_REPLY, /* the handler has it */
    CONN_LINGER /* sends the last bytes, then waits for the peer to close (server.c) */
};

struct conn {
    struct server *server;
    struct conn *previous, *next;
    int fd;
    struct event *read_event, *write_event, *timer;
    struct evbuffer *in, *out;
    struct http_request *request; /* in CONN_BODY and CONN_REPLY */
    enum conn_state state;
    size_t scanned;       /* bytes of the head searched */
    bool begun;           /* a byte of the next request has come */
    bool processing;      /* conn_process is on the stack */
    bool close_after;     /* no further request on this connection */
    bool discard;         /* further input is dropped */
    bool peer_closed;     /* the peer sends no more */
    bool shut;            /* we send no more */
    bool broken;          /* out of memory while writing: close it */
    bool counted_refused; /* counted in refused_count instead of conn_count */
    char peer[PEER_BYTES];
};

struct http_request {
    struct server *server;                /* NULL after the server was freed */
    struct conn *conn;                    /* NULL after the client left or the reply ended */
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
    bool chunked;    /* the reply is chunked */
    bool bodyless;   /* HEAD, 204, 304 */
    bool ended;      /* only to be freed */
    struct buf reply_headers;
    loop_fn *gone_fn, *drain_fn;
    void *gone_ctx, *drain_ctx;
};

/* server.c */
void conn_put(struct conn *conn, const void *bytes, size_t len);
void conn_flush_soon(struct conn *conn);
/* After the end of a reply: goes on to the next request, or ends the connection. */
void conn_reply_ended(struct conn *conn);
const char *server_date(struct server *server);

/* server_request.c */
struct http_request *request_new(struct server *server, struct conn *conn, struct td_str head_text);
void request_free(struct http_request *request); /* also removes it from the server's lists */
/* The client is gone: tells the owner, who may not use the request afterwards. */
void request_gone(struct http_request *request);
void request_set_method(struct http_request *request);
/* The kernel has taken everything. */
void request_drained(struct http_request *request);
void request_run_later(struct server *server);
/* Writes the status line and the headers that all replies have, without the empty line at the
 * end. */
void reply_put_head(struct conn *conn, int code, const char *content_type);

#endif

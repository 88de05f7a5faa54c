/* What server.c (listener), server_conn.c (connections) and server_request.c (requests, replies)
 * share. For these files alone. Everything runs on the loop's thread. */
#ifndef NET_SERVER_INTERNAL_H
#define NET_SERVER_INTERNAL_H

#include "base/buf.h"
#include "net/body_budget.h"
#include "net/http_lint.h"
#include "net/server.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <sys/queue.h>
#include <time.h>

#define PEER_BYTES 64 /* an IPv6 address with a scope */

struct evbuffer;
struct evconnlistener;
struct sockaddr;
TAILQ_HEAD(conn_queue, conn);

struct server {
    struct event_base *base;
    struct server_options options;
    struct evconnlistener *listener;
    struct event *accept_retry; /* after running out of file descriptors */
    uint16_t port;
    server_fn *handler;
    server_head_fn *head;
    server_refuse_fn *refuse;
    void *ctx;
    bool stopping;

    struct conn *conns;
    struct conn_queue waiting; /* those without a request in work, the longest first */
    struct conn_queue paused;  /* those whose bodies wait for room, the longest first */
    struct conn *favoured;     /* whose body is read without room, so that something moves */
    struct event *resume;      /* runs while some are paused */
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
    TAILQ_ENTRY(conn) in_waiting, in_paused;
    bool is_waiting, is_paused; /* whether it is in these queues */
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
    bool body_unread;     /* the reply came before the end of the body */
    bool peer_closed;     /* the peer sends no more, and is not read */
    bool shut;            /* we send no more */
    bool broken;          /* out of memory while writing: close it */
    bool counted_refused; /* counted in refused_count instead of conn_count */
    char peer[PEER_BYTES], local[PEER_BYTES];
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
    size_t held_bytes; /* of the budget */
    struct body_budget *budget;
    char peer[PEER_BYTES], local[PEER_BYTES];
    void *note;

    bool body_open;  /* some of the body has not been read */
    bool body_drop;  /* it is read, and not kept */
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
void server_resume_later(struct server *server); /* conn->is_paused is new */
const char *server_date(struct server *server);

/* server_conn.c */
/* Of an accepted socket, which it **takes**; NULL without memory. */
struct conn *conn_new(struct server *server, int fd, struct sockaddr *address, socklen_t len);
/* Ends the connection, even with unsent bytes. Not while conn->processing. */
void conn_close(struct conn *conn);
/* A code and a body instead of an answer; then the connection ends. */
void conn_refuse(struct conn *conn, int code, const char *reason);
/* Accepts no more requests: sends what is left, then ends. */
void conn_linger(struct conn *conn);
void conn_begin(struct conn *conn);  /* the first request may come */
void conn_resume(struct conn *conn); /* one that was paused is read again */
bool conn_is_idle(const struct conn *conn);
void conn_put(struct conn *conn, const void *bytes, size_t len);
void conn_flush_soon(struct conn *conn);
/* After the end of a reply: goes on to the next request, or ends the connection. */
void conn_reply_ended(struct conn *conn);

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

/* What server.c (listeners), server_begin.c and server_prelude.c (what comes before requests),
 * server_conn.c (connections), server_wire.c (their bytes), server_body.c and server_coding.c
 * (bodies), server_h2.c (HTTP/2), server_move.c (between loops), server_inside.c (requests without
 * a connection) and server_request.c (requests, replies) share. For these files alone. Everything
 * runs on the loop's thread. */
#ifndef NET_SERVER_INTERNAL_H
#define NET_SERVER_INTERNAL_H

#include "base/bytes/buf.h"
#include "net/server/body_budget.h"
#include "net/server/content_coding.h"
#include "net/server/http_lint.h"
#include "net/server/server.h"

#include <event2/event.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <time.h>

#define PEER_BYTES 64 /* an IPv6 address with a scope */

struct evbuffer;
struct evconnlistener;
struct sockaddr;
TAILQ_HEAD(conn_queue, conn);

/* A socket that accepts connections, and what those begin with. */
struct listener {
    struct server *server;
    struct listener *next;
    struct evconnlistener *accepts;
    const struct address_set *proxies; /* whose connections begin with a PROXY header, or NULL */
    struct tls_keeper *tls;            /* NULL = its connections are not encrypted */
};

struct server {
    struct loop *loop;
    struct event_base *base; /* of the loop */
    struct server *large;    /* handles requests with large bodies; NULL = this one does */
    struct server_options options;
    struct listener *listeners;
    struct event *accept_retry; /* after running out of file descriptors */
    uint16_t port;
    server_fn *handler;
    server_head_fn *head;
    server_refuse_fn *refuse;
    server_end_fn *end;
    void *ctx;
    bool stopping;

    struct conn *conns;
    struct conn_queue waiting;     /* those without a request in work, the longest first */
    struct conn_queue paused;      /* those whose bodies wait for room, the longest first */
    struct conn *favoured;         /* whose body is read without room, so that something moves */
    struct event *resume;          /* runs while some are paused */
    atomic_uint conn_count;        /* served, also where they are guests */
    uint32_t refused_count;        /* those that get 503 */
    struct http_request *requests; /* all requests that are not freed */
    struct http_request *later;    /* those with something to do in the next turn */
    struct event *later_event;

    time_t date_second; /* of date_text, "Sun, 06 Nov 1994 08:49:37 GMT" */
    char date_text[48];
};

enum conn_state {
    CONN_H2,      /* speaks HTTP/2: its requests have connections of their own (server_h2.c) */
    CONN_PRELUDE, /* what comes before the first request (server_prelude.c) */
    CONN_HEAD,    /* waits for a head or reads it */
    CONN_BODY,    /* reads a body */
    CONN_REPLY,   /* the handler has it */
    CONN_LINGER   /* sends the last bytes, then waits for the peer to close (server.c) */
};

struct conn {
    struct server *server; /* on whose loop it is */
    struct server *home;   /* which accepted it, and reads its requests; elsewhere it is a guest */
    struct conn *previous, *next;
    TAILQ_ENTRY(conn) in_waiting, in_paused;
    bool is_waiting, is_paused; /* whether it is in these queues */
    int fd;
    struct event *read_event, *write_event, *timer;
    struct evbuffer *in, *out;
    struct tls_session *tls;      /* NULL = not encrypted */
    struct h2 *h2;                /* in CONN_H2, else NULL */
    char *client;                 /* who its certificate says it is, or NULL */
    struct http_request *request; /* in CONN_BODY and CONN_REPLY */
    enum conn_state state;
    size_t scanned;       /* bytes of the head searched */
    uint64_t begun_ms;    /* monotonic; when the request began */
    bool begun;           /* a byte of the next request has come */
    bool processing;      /* conn_process is on the stack */
    bool moves;           /* the request is for the other loop */
    bool close_after;     /* no further request on this connection */
    bool discard;         /* further input is dropped */
    bool body_unread;     /* the reply came before the end of the body */
    bool peer_closed;     /* the peer sends no more, and is not read */
    bool shut;            /* we send no more */
    bool broken;          /* out of memory while writing: close it */
    bool wants_proxy;     /* a PROXY header has to come */
    bool read_writes;     /* reading waits until the socket can be written */
    bool had_request;     /* so that HTTP/2 cannot begin any more */
    bool is_http2;        /* it begins now */
    bool inner;           /* a stream of HTTP/2: its peer is this process */
    bool counted_refused; /* counted in refused_count instead of conn_count */
    char peer[PEER_BYTES], local[PEER_BYTES];
};

struct http_request {
    struct server *server;                /* NULL after the server was freed */
    struct conn *conn;                    /* NULL after the client left or the reply ended */
    struct http_request *previous, *next; /* in server->requests */
    struct http_request *later_next;
    bool on_later;

    char *head_text; /* in the block of head.headers */
    struct http_head head;
    enum http_method method;
    uint64_t body_left; /* of Content-Length */
    struct http_chunks chunks;
    struct buf body;
    size_t forgotten_bytes;     /* of the body, when it was */
    enum content_coding coding; /* of the body; none once it was decoded */
    size_t held_bytes;          /* of the budget */
    struct body_budget *budget;
    char peer[PEER_BYTES], local[PEER_BYTES];
    char *client; /* who its certificate says it is, or NULL */
    void *note;
    struct http_outcome outcome;
    struct http_sink sink; /* take NULL = the body is kept */
    uint64_t sunk_bytes;   /* that it has taken */
    void (*inside_done)(void *ctx, int code, struct td_str body);
    void *inside_ctx;

    bool body_open;  /* some of the body has not been read */
    bool body_drop;  /* it is read, and not kept */
    bool dispatched; /* the handler was called */
    bool started;    /* the reply's head was written */
    bool chunked;    /* the reply is chunked */
    bool bodyless;   /* HEAD, 204, 304 */
    bool ended;      /* only to be freed */
    bool inside;     /* has never had a connection (server_inside.c) */
    struct buf reply_headers;
    loop_fn *gone_fn, *drain_fn;
    void *gone_ctx, *drain_ctx;
};

/* server.c */
void server_resume_later(struct server *server); /* conn->is_paused is new */
const char *server_date(struct server *server);
/* Serves the other end of a stream's pair, which it **takes**; false when there is no place. */
bool server_take_inner(const struct conn *outer, int fd);

/* server_begin.c */
/* Of an accepted socket, which it **takes**; NULL without memory. */
struct conn *conn_new(const struct listener *listener, int fd, struct sockaddr *address,
                      socklen_t len);
/* The same of a stream of `outer`, whose client is the same. */
struct conn *conn_new_inner(const struct conn *outer, int fd);
/* server_conn.c */
/* Before anybody else knows of it. */
void conn_free(struct conn *conn);
/* Ends the connection, even with unsent bytes. Not while conn->processing. */
void conn_close(struct conn *conn);
/* A code and a body instead of an answer; then the connection ends. */
void conn_refuse(struct conn *conn, int code, const char *reason);
/* The same, for a header that is at fault; NULL = none. */
void conn_refuse_header(struct conn *conn, int code, const char *reason, const char *header);
/* Ends it soon with a reset; what was not sent is lost. */
void conn_reset(struct conn *conn);
/* Accepts no more requests: sends what is left, then ends. */
void conn_linger(struct conn *conn);
void conn_begin(struct conn *conn);   /* the first request may come */
void conn_await(struct conn *conn);   /* all is sent: the next request may come */
void conn_resume(struct conn *conn);  /* one that was paused is read again */
void conn_read_on(struct conn *conn); /* also one that was not read for a while */
void conn_wait(struct conn *conn);    /* has no request in work: may have to make room */
void conn_stop_waiting(struct conn *conn);
void conn_set_timer(struct conn *conn, uint32_t delay_ms); /* 0 = none */
/* Gives the whole request to the handler. */
void conn_dispatch(struct conn *conn);
/* Takes the connection into conn->server's list and onto its loop, or out of them. False without
 * memory: it may only be closed. */
bool conn_enter(struct conn *conn);
void conn_leave(struct conn *conn);
bool conn_is_idle(const struct conn *conn);
void conn_put(struct conn *conn, const void *bytes, size_t len);
void conn_flush_soon(struct conn *conn);
/* After the end of a reply: goes on to the next request, or ends the connection. */
void conn_reply_ended(struct conn *conn);

/* server_prelude.c */
/* What the connection begins with before its requests. False without memory. */
bool conn_expect_prelude(struct conn *conn, const struct listener *listener,
                         const struct sockaddr *address);
/* Reads on. True: it is over, and requests follow. False: more has to come, or the connection is
 * closed. */
bool conn_read_prelude(struct conn *conn);

/* server_h2.c */
/* The connection speaks HTTP/2 from now on. False without memory. */
bool conn_start_h2(struct conn *conn);
/* Whether what has come begins HTTP/2. */
bool h2_is_preface(struct td_str bytes, bool *more);
void h2_free(struct h2 *h2);
void h2_receive(struct conn *conn);       /* conn->in has bytes */
void h2_drained(struct conn *conn);       /* conn->out is empty */
void h2_note_progress(struct conn *conn); /* the socket took something */
void h2_on_timer(struct conn *conn);
void h2_stop(struct conn *conn);           /* GOAWAY: its streams are the last ones */
size_t h2_active(const struct conn *conn); /* streams */

/* server_wire.c */
/* As evbuffer_read into conn->in, and evbuffer_write from conn->out, encrypted or not. */
int conn_receive(struct conn *conn);
int conn_transmit(struct conn *conn);
/* What has come but no event tells of is read soon. */
void conn_receive_soon(struct conn *conn);
/* No more is sent. */
void conn_shut(struct conn *conn);

/* server_body.c */
/* Moves the bytes of the body that have come. HTTP_CHUNKS_END: the body is complete.
 * HTTP_CHUNKS_BAD: refuse with *code and *reason. */
enum http_chunks_result conn_take_body(struct conn *conn, int *code, const char **reason);
/* What has come; NULL data also without memory. */
struct td_str conn_input(struct conn *conn);
uint64_t request_bytes_max(const struct http_request *request);

/* server_inside.c */
/* Hands over the reply of a request that has no connection. */
void request_tell_inside(struct http_request *request, int code, struct td_str body);

/* server_coding.c */
enum content_coding server_coding_of(const struct http_head *head);
/* Decodes a body that stays small. False: it is large, or would be. */
bool server_coding_is_small(struct http_request *request);
/* Decodes any; false with what to refuse it with. */
bool server_coding_decode(struct http_request *request, int *code, const char **reason);

/* server_move.c */
/* Hands the connection and its request to another server's loop. The last call of its own event's
 * callback: it is the other thread's afterwards, or closed. */
void conn_move(struct conn *conn, struct server *to);

/* server_request.c */
/* conn NULL: it never has one. */
struct http_request *request_new(struct server *server, struct conn *conn, struct td_str head_text);
void request_free(struct http_request *request); /* also removes it from the server's lists */
/* Into the server's list, or out of it. */
void request_enter(struct http_request *request, struct server *server);
void request_leave(struct http_request *request);
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

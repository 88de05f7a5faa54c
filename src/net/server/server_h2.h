/* HTTP/2 of a connection (nghttp2), for the files server_*.c alone. The loop's thread. */
#ifndef NET_SERVER_H2_H
#define NET_SERVER_H2_H

#include "net/server/server_internal.h"

#include <nghttp2/nghttp2.h>

/* What a client's connection begins with when it speaks HTTP/2 without being asked. */
#define H2_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define H2_PREFACE_BYTES (sizeof H2_PREFACE - 1)

/* So many events at once, and so many a second afterwards. */
struct h2_allowance {
    double left, most, per_second;
    uint64_t seen_ms;
};

struct h2 {
    struct conn *conn;
    nghttp2_session *session;
    struct h2_stream *streams;
    size_t stream_count;
    struct h2_allowance resets; /* streams that the client took back */
    struct h2_allowance others; /* frames that carry nothing */
    unsigned continuations;     /* of the header block that comes */
    uint64_t progress_ms;       /* when its socket last took something */
    bool stopping;              /* GOAWAY is sent: no further stream */
};

struct h2_stream {
    struct h2 *h2;
    struct h2_stream *previous, *next;
    int32_t id;
    uint64_t begun_ms, progress_ms;

    /* The request, on its way to the reader of requests. */
    char *method, *path, *authority;
    struct buf headers; /* "name: value\r\n" */
    bool has_length, chunked;
    bool broken; /* out of memory while it was written */
    bool asked;  /* its head is complete */
    bool request_ended;
    int fd; /* our end of the pair; -1 = none yet, or no more */
    struct event *read_event, *write_event;
    struct evbuffer *to;
    size_t owed_bytes; /* of DATA in `to`, for which the client has no new window yet */

    /* The reply, on its way back. */
    struct evbuffer *from, *body;
    uint64_t replied_ms;    /* when its end was sent; 0 = not yet */
    bool is_head, answered; /* the final head is submitted */
    bool reply_chunked, reply_ended, cut;
    bool deferred;       /* nghttp2 waits for more of the body */
    uint64_t reply_left; /* of Content-Length */
    struct http_chunks chunks;
};

/* server_h2.c */
uint64_t h2_now_ms(void);
/* The first stream began: the connection has work. */
void h2_begin_work(struct h2 *h2);
/* Sends what can be sent; ends the connection when nothing is left to do. */
void h2_flush(struct h2 *h2);

/* server_h2_stream.c */
/* **returns new**, NULL without memory. */
struct h2_stream *h2_stream_new(struct h2 *h2, int32_t id);
void h2_stream_free(struct h2_stream *stream);
/* A header of the request; false when it cannot be kept, which ends the stream. */
bool h2_stream_header(struct h2_stream *stream, struct td_str name, struct td_str value);
/* The head is complete: the request goes to the reader of requests. False: the stream is over. */
bool h2_stream_ask(struct h2_stream *stream, bool has_body);
bool h2_stream_data(struct h2_stream *stream, struct td_str piece);
void h2_stream_end_request(struct h2_stream *stream);

/* server_h2_reply.c */
/* Reads on what the pair's other end wrote. */
void h2_reply_read(struct h2_stream *stream);
/* A refusal that no reader of requests makes. */
void h2_reply_refusal(struct h2_stream *stream, int code, const char *reason);

#endif

/* A stream's request, written as HTTP/1.1 into the pair whose other end the reader of requests has.
 * nghttp2 has checked what HTTP/2 says of names, values and their order; the reader checks the rest
 * once more. */
#include "net/server/server_h2.h"

#include "base/core/str.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Of each end: what is not read stays with the client, not in the kernel. */
#define PAIR_BYTES (32 * 1024)

struct h2_stream *h2_stream_new(struct h2 *h2, int32_t id)
{
    struct h2_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->h2 = h2;
    stream->id = id;
    stream->fd = -1;
    stream->begun_ms = stream->progress_ms = h2_now_ms();
    buf_init(&stream->headers, h2->conn->server->options.header_bytes_max);
    stream->next = h2->streams;
    if (stream->next)
        stream->next->previous = stream;
    h2->streams = stream;
    h2->stream_count++;
    stream->to = evbuffer_new();
    stream->from = evbuffer_new();
    stream->body = evbuffer_new();
    if (!stream->to || !stream->from || !stream->body) {
        h2_stream_free(stream);
        return NULL;
    }
    h2_begin_work(h2);
    return stream;
}

static void close_pair(struct h2_stream *stream)
{
    if (stream->read_event)
        event_free(stream->read_event);
    if (stream->write_event)
        event_free(stream->write_event);
    if (stream->fd >= 0)
        close(stream->fd);
    stream->read_event = stream->write_event = NULL;
    stream->fd = -1;
}

void h2_stream_free(struct h2_stream *stream)
{
    struct h2 *h2 = stream->h2;
    close_pair(stream);
    if (stream->owed_bytes) /* the connection's window outlives the stream */
        nghttp2_session_consume_connection(h2->session, stream->owed_bytes);
    if (stream->previous)
        stream->previous->next = stream->next;
    else
        h2->streams = stream->next;
    if (stream->next)
        stream->next->previous = stream->previous;
    h2->stream_count--;
    struct evbuffer *buffers[] = {stream->to, stream->from, stream->body};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        if (buffers[i])
            evbuffer_free(buffers[i]);
    buf_deinit(&stream->headers);
    free(stream->method);
    free(stream->path);
    free(stream->authority);
    free(stream);
}

/* --- the head --- */

/* What frames a message, or is of the connection: the pair has its own. */
static bool is_of_connection(struct td_str name)
{
    return str_equal(name, STR("connection")) || str_equal(name, STR("transfer-encoding")) ||
           str_equal(name, STR("keep-alive")) || str_equal(name, STR("upgrade")) ||
           str_equal(name, STR("proxy-connection"));
}

bool h2_stream_header(struct h2_stream *stream, struct td_str name, struct td_str value)
{
    char **pseudo = str_equal(name, STR(":method"))      ? &stream->method
                    : str_equal(name, STR(":path"))      ? &stream->path
                    : str_equal(name, STR(":authority")) ? &stream->authority
                                                         : NULL;
    if (pseudo) {
        free(*pseudo);
        *pseudo = strndup(value.data, value.len);
        return *pseudo != NULL;
    }
    if (name.len > 0 && name.data[0] == ':')
        return true; /* :scheme */
    if (is_of_connection(name) || (stream->authority && str_equal(name, STR("host"))))
        return true;
    stream->has_length = stream->has_length || str_equal(name, STR("content-length"));
    buf_append_str(&stream->headers, name);
    buf_append_str(&stream->headers, STR(": "));
    buf_append_str(&stream->headers, value);
    buf_append_str(&stream->headers, STR("\r\n"));
    return true; /* too many of them are answered, when all have come */
}

/* Without memory there is no request: one with a hole in it would be another request. */
static void put(struct h2_stream *stream, struct td_str bytes)
{
    stream->broken =
        stream->broken || (bytes.len && evbuffer_add(stream->to, bytes.data, bytes.len) != 0);
}

static void write_head(struct h2_stream *stream, bool has_body)
{
    bool posts = strcmp(stream->method, "POST") == 0 || strcmp(stream->method, "PUT") == 0;
    stream->chunked = has_body && !stream->has_length;
    put(stream, str_from(stream->method));
    put(stream, STR(" "));
    put(stream, str_from(stream->path ? stream->path : "*"));
    put(stream, STR(" HTTP/1.1\r\n"));
    if (stream->authority) {
        put(stream, STR("host: "));
        put(stream, str_from(stream->authority));
        put(stream, STR("\r\n"));
    }
    put(stream, buf_view(&stream->headers));
    if (stream->chunked)
        put(stream, STR("transfer-encoding: chunked\r\n"));
    else if (!has_body && posts && !stream->has_length)
        put(stream, STR("content-length: 0\r\n"));
    put(stream, STR("\r\n"));
}

/* --- the pair --- */

static void on_pair_readable(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct h2_stream *stream = ctx;
    struct h2 *h2 = stream->h2;
    h2_reply_read(stream);
    h2_flush(h2);
}

/* Writes what the other end takes. The client may send as much again once all is written. */
static void write_on(struct h2_stream *stream)
{
    if (stream->broken) {
        close_pair(stream); /* the other end sees that its client is gone */
        nghttp2_submit_rst_stream(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                  NGHTTP2_INTERNAL_ERROR);
    }
    while (stream->fd >= 0 && evbuffer_get_length(stream->to) > 0) {
        int written = evbuffer_write(stream->to, stream->fd);
        if (written > 0 || (written < 0 && errno == EINTR))
            continue;
        if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) &&
            event_add(stream->write_event, NULL) == 0)
            return;
        evbuffer_drain(stream->to, evbuffer_get_length(stream->to)); /* it is not read any more */
    }
    if (stream->owed_bytes)
        nghttp2_session_consume(stream->h2->session, stream->id, stream->owed_bytes);
    stream->owed_bytes = 0;
}

static void on_pair_writable(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct h2_stream *stream = ctx;
    struct h2 *h2 = stream->h2;
    write_on(stream);
    h2_flush(h2);
}

static bool open_pair(struct h2_stream *stream)
{
    struct conn *conn = stream->h2->conn;
    int ends[2], bytes = PAIR_BYTES;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    for (int i = 0; i < 2; i++)
        setsockopt(ends[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    stream->fd = ends[0];
    stream->read_event =
        event_new(conn->server->base, ends[0], EV_READ | EV_PERSIST, on_pair_readable, stream);
    stream->write_event =
        event_new(conn->server->base, ends[0], EV_WRITE, on_pair_writable, stream);
    if (!stream->read_event || !stream->write_event || event_add(stream->read_event, NULL) != 0) {
        close(ends[1]);
        close_pair(stream);
        return false;
    }
    return server_take_inner(conn, ends[1]);
}

bool h2_stream_ask(struct h2_stream *stream, bool has_body)
{
    stream->asked = true;
    stream->is_head = stream->method && strcmp(stream->method, "HEAD") == 0;
    if (stream->headers.failed) {
        h2_reply_refusal(stream, 431, "the headers are larger than the limit");
        return true;
    }
    if (!stream->method || !open_pair(stream))
        return false;
    write_head(stream, has_body);
    write_on(stream);
    return true;
}

/* --- the body --- */

bool h2_stream_data(struct h2_stream *stream, struct td_str piece)
{
    if (stream->fd < 0 || piece.len == 0)
        return false;
    char size[24];
    snprintf(size, sizeof size, "%zx\r\n", piece.len);
    if (stream->chunked)
        put(stream, str_from(size));
    put(stream, piece);
    if (stream->chunked)
        put(stream, STR("\r\n"));
    stream->owed_bytes += piece.len;
    if (stream->broken || !event_pending(stream->write_event, EV_WRITE, NULL))
        write_on(stream);
    return true;
}

void h2_stream_end_request(struct h2_stream *stream)
{
    if (stream->request_ended)
        return;
    stream->request_ended = true;
    if (stream->fd < 0)
        return;
    if (stream->chunked)
        put(stream, STR("0\r\n\r\n"));
    if (stream->broken || !event_pending(stream->write_event, EV_WRITE, NULL))
        write_on(stream);
}

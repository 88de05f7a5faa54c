/* The HTTP/1.1 server: listener and connections. server_request.c has requests and replies,
 * http_lint.c the reading of heads and chunks.
 *
 * Why not evhttp, which libevent has: it overlooks clients that leave, its time-out kills quiet
 * streams and lets slow headers live, its framing is lenient, and the bodies of its refusals are
 * its own. A strict reader before it would have to guard against all of that, and would leave
 * evhttp nothing to do. So five guards are built in here:
 *
 *   1. A leaving client is noticed at once, before and during a reply, because the socket is
 *      always being read. Pipelined requests are kept up to a limit. Above it, the connection ends
 *      with the current reply, and the rest is dropped. (Watching EV_CLOSED alone would miss
 *      resets, which libevent reports as readable.) A client that shuts its sending side counts as
 *      gone, because on the wire both look the same. A reply that is already complete is still
 *      delivered.
 *   2. No time-out runs while a reply is quiet. One runs only while the peer does not take what
 *      was sent.
 *   3. A request must arrive completely within header_timeout_ms, however its bytes are spaced.
 *   4. Above connection_max a connection gets 503, and above a second small limit it is closed.
 *   5. Framing is strict: what http_lint.h lists is refused before anything acts on the request.
 *
 * Closing: after the last reply we shut our sending side and read until the peer has closed, too,
 * for a second at most. Closing with unread bytes would reset the connection and could destroy the
 * reply on its way. A connection is freed only in its own event callbacks, server_stop_accepting
 * and server_free, never below a handler. */
#include "net/server_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/str.h"
#include "net/loop_event.h"

#include <assert.h>
#include <errno.h>
#include <event2/buffer.h>
#include <event2/listener.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIPELINE_BYTES_MAX (64 * 1024) /* kept of pipelined requests during a reply */
#define OUT_BYTES_MAX (256 * 1024)     /* above it, no further request is begun */
#define REFUSED_MAX 64                 /* connections that get 503 */
#define LINGER_MS 1000
#define STALL_MS 60000 /* how long a peer may take nothing */
#define ACCEPT_RETRY_MS 100
#define LISTEN_BACKLOG 1024

static void timer_set(struct conn *conn, uint32_t delay_ms)
{
    if (delay_ms == 0) {
        evtimer_del(conn->timer);
        return;
    }
    struct timeval delay = {.tv_sec = delay_ms / 1000, .tv_usec = delay_ms % 1000 * 1000};
    if (evtimer_add(conn->timer, &delay) != 0) {
        conn->broken = true; /* a connection must have a deadline */
        conn_flush_soon(conn);
    }
}

static void conn_free(struct conn *conn)
{
    struct server *server = conn->server;
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        server->conns = conn->next;
    if (conn->next)
        conn->next->previous = conn->previous;
    if (conn->counted_refused)
        server->refused_count--;
    else
        server->conn_count--;
    if (conn->read_event)
        event_free(conn->read_event);
    if (conn->write_event)
        event_free(conn->write_event);
    if (conn->timer)
        event_free(conn->timer);
    if (conn->in)
        evbuffer_free(conn->in);
    if (conn->out)
        evbuffer_free(conn->out);
    close(conn->fd);
    free(conn);
}

/* Ends the connection, even with unsent bytes. The owner of the request is told after the
 * connection is gone, so that nothing it does can reach it. */
static void conn_close(struct conn *conn)
{
    struct http_request *request = conn->request;
    assert(!conn->processing);
    conn_free(conn);
    if (request)
        request_gone(request);
}

void conn_put(struct conn *conn, const void *bytes, size_t len)
{
    if (len > 0 && evbuffer_add(conn->out, bytes, len) != 0)
        conn->broken = true;
}

/* Writes after the callbacks of this turn, so that many small events become one packet. While the
 * socket is full, the pending write event does it. */
void conn_flush_soon(struct conn *conn)
{
    if (!event_pending(conn->write_event, EV_WRITE, NULL))
        event_active(conn->write_event, EV_WRITE, 1);
}

const char *server_date(struct server *server)
{
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t now = time(NULL);
    if (now != server->date_second || server->date_text[0] == '\0') {
        struct tm tm;
        gmtime_r(&now, &tm);
        snprintf(server->date_text, sizeof server->date_text,
                 "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + tm.tm_wday * 3, tm.tm_mday % 100,
                 months + tm.tm_mon * 3, (tm.tm_year + 1900) % 10000, tm.tm_hour % 100,
                 tm.tm_min % 100, tm.tm_sec % 100);
        server->date_second = now;
    }
    return server->date_text;
}

/* Accepts no more requests: sends what is in `out`, then ends the connection. */
static void conn_linger(struct conn *conn)
{
    conn->state = CONN_LINGER;
    conn->begun = false;
    conn->discard = true;
    evbuffer_drain(conn->in, evbuffer_get_length(conn->in));
    timer_set(conn, STALL_MS);
    conn_flush_soon(conn);
}

/* Answers bytes that are no valid request, and ends the connection. */
static void conn_refuse(struct conn *conn, int code, const char *reason)
{
    struct server *server = conn->server;
    struct http_request *request = conn->request;
    conn->request = NULL;
    if (request)
        request_free(request);

    char plain[160];
    int plain_len = snprintf(plain, sizeof plain, "%s\n", reason);
    struct td_str body = {plain,
                          (size_t)plain_len < sizeof plain ? (size_t)plain_len : sizeof plain - 1};
    if (server->refuse)
        server->refuse(server->ctx, code, reason, &body);
    reply_put_head(conn, code, server->refuse ? "application/json" : "text/plain; charset=utf-8");
    char rest[96];
    snprintf(rest, sizeof rest, "%sContent-Length: %zu\r\nConnection: close\r\n\r\n",
             code == 503 ? "Retry-After: 1\r\n" : "", body.len);
    conn_put(conn, rest, strlen(rest));
    conn_put(conn, body.data, body.len);
    /* Logged for debugging only: a client that sends garbage must not fill the disk. */
    log_event(LOG_LEVEL_DEBUG, "http_refused", "code=%d peer=%s reason=\"%s\"", code, conn->peer,
              reason);
    conn_linger(conn);
}

/* --- reading requests; each step returns whether another may follow at once --- */

static struct td_str input(struct conn *conn)
{
    size_t len = evbuffer_get_length(conn->in);
    const unsigned char *bytes = len ? evbuffer_pullup(conn->in, -1) : NULL;
    if (len && bytes == NULL)
        conn->broken = true;
    return (struct td_str){(const char *)bytes, bytes ? len : 0};
}

static bool body_start(struct conn *conn)
{
    struct http_request *request = conn->request;
    size_t body_bytes_max = conn->server->options.body_bytes_max;
    if (!request->head.chunked && request->head.content_length > body_bytes_max) {
        conn_refuse(conn, 413, "the body is larger than the limit");
        return false;
    }
    request->body_left = request->head.content_length;
    bool expects_body = request->head.chunked || request->body_left > 0;
    if (request->head.expect_continue && expects_body && evbuffer_get_length(conn->in) == 0) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        conn_put(conn, go_on, sizeof go_on - 1);
        conn_flush_soon(conn);
    }
    conn->state = CONN_BODY;
    return true;
}

static bool head_step(struct conn *conn)
{
    struct server *server = conn->server;
    struct td_str bytes = input(conn);
    size_t blank = 0; /* empty lines may come before a request (RFC 9112, 2.2) */
    while (!conn->begun && blank + 1 < bytes.len && memcmp(bytes.data + blank, "\r\n", 2) == 0)
        blank += 2;
    evbuffer_drain(conn->in, blank);
    bytes = str_slice(bytes, blank, bytes.len);
    if (bytes.len == 0 || (bytes.len == 1 && bytes.data[0] == '\r' && !conn->begun))
        return false;
    if (!conn->begun) {
        conn->begun = true;
        timer_set(conn, server->options.header_timeout_ms);
        /* TLS or noise, in which a line end may never come. */
        if (!http_is_token(str_slice(bytes, 0, 1))) {
            conn_refuse(conn, 400, "this is not HTTP");
            return false;
        }
    }
    size_t end = http_head_end(bytes, &conn->scanned);
    if (end > server->options.header_bytes_max ||
        (end == 0 && bytes.len > server->options.header_bytes_max)) {
        conn_refuse(conn, 431, "the headers are larger than the limit");
        return false;
    }
    if (end == 0)
        return false;
    conn->scanned = 0;
    struct http_request *request = request_new(server, conn, str_slice(bytes, 0, end));
    if (request == NULL) {
        conn_refuse(conn, 503, "no memory for the request");
        return false;
    }
    evbuffer_drain(conn->in, end);
    conn->request = request;
    const char *reason = NULL;
    int code = http_head_parse(&request->head, request->head_text, end, &reason);
    if (code) {
        conn_refuse(conn, code, reason);
        return false;
    }
    request_set_method(request);
    return body_start(conn);
}

/* Moves the bytes of the body that have come. HTTP_CHUNKS_END: the body is complete.
 * HTTP_CHUNKS_BAD: refuse with *code and *reason. */
static enum http_chunks_result body_take(struct conn *conn, int *code, const char **reason)
{
    struct http_request *request = conn->request;
    struct td_str bytes = input(conn);
    size_t taken = 0;
    enum http_chunks_result result = HTTP_CHUNKS_MORE;
    if (!request->head.chunked) {
        taken = bytes.len < request->body_left ? bytes.len : (size_t)request->body_left;
        buf_append(&request->body, bytes.data, taken);
        request->body_left -= taken;
        result = request->body_left ? HTTP_CHUNKS_MORE : HTTP_CHUNKS_END;
    }
    while (request->head.chunked && taken < bytes.len) {
        struct td_str data = {0};
        size_t used;
        result =
            http_chunks_feed(&request->chunks, str_slice(bytes, taken, bytes.len), &used, &data);
        taken += used;
        /* The announced size of a chunk counts, too: it is refused before its bytes come. */
        if (data.len + request->chunks.left > request->body.bytes_max - request->body.len) {
            *reason = "the body is larger than the limit";
            *code = 413;
            return HTTP_CHUNKS_BAD;
        }
        if (result == HTTP_CHUNKS_DATA)
            buf_append_str(&request->body, data);
        if (result == HTTP_CHUNKS_BAD || result == HTTP_CHUNKS_END)
            break;
    }
    evbuffer_drain(conn->in, taken);
    bool malformed = result == HTTP_CHUNKS_BAD;
    *code = malformed ? 400 : 503;
    *reason = malformed ? "a chunk of the body is malformed" : "no memory for the body";
    return request->body.failed ? HTTP_CHUNKS_BAD : result;
}

static bool body_step(struct conn *conn)
{
    struct http_request *request = conn->request;
    const char *reason = NULL;
    int code = 0;
    enum http_chunks_result result = body_take(conn, &code, &reason);
    if (result == HTTP_CHUNKS_BAD)
        conn_refuse(conn, code, reason);
    if (result != HTTP_CHUNKS_END)
        return false;
    timer_set(conn, 0);
    conn->begun = false;
    conn->state = CONN_REPLY;
    request->dispatched = true;
    conn->server->handler(conn->server->ctx, request);
    return true;
}

/* Begins requests until one waits for its reply or the input ends. A handler that replies at once
 * returns to this loop, so pipelined requests do not nest. */
static void conn_process(struct conn *conn)
{
    if (conn->processing)
        return;
    conn->processing = true;
    bool more = true;
    while (more && !conn->broken) {
        if (conn->state == CONN_HEAD)
            more = evbuffer_get_length(conn->out) <= OUT_BYTES_MAX && head_step(conn);
        else
            more = conn->state == CONN_BODY && body_step(conn);
    }
    conn->processing = false;
    if (conn->broken)
        conn_flush_soon(conn); /* this closes it */
}

void conn_reply_ended(struct conn *conn)
{
    conn->request = NULL;
    conn->state = CONN_HEAD;
    if (conn->close_after || conn->server->stopping)
        conn_linger(conn);
    else
        conn_flush_soon(conn);
}

/* --- events of a connection --- */

/* All bytes have gone to the kernel. Decides what comes next. */
static void conn_drained(struct conn *conn)
{
    switch (conn->state) {
    case CONN_REPLY:
        timer_set(conn, 0);
        request_drained(conn->request);
        break;
    case CONN_LINGER:
        if (conn->peer_closed) {
            conn_close(conn);
        } else if (!conn->shut) {
            conn->shut = true;
            shutdown(conn->fd, SHUT_WR);
            timer_set(conn, LINGER_MS);
        }
        break;
    case CONN_HEAD:
        if (!conn->begun)
            timer_set(conn, conn->server->options.idle_timeout_ms);
        conn_process(conn);
        break;
    case CONN_BODY:
        break;
    }
}

static void on_writable(evutil_socket_t fd, short what, void *ctx)
{
    (void)what;
    struct conn *conn = ctx;
    bool progress = false;
    while (!conn->broken && evbuffer_get_length(conn->out) > 0) {
        int written = evbuffer_write(conn->out, fd);
        if (written > 0) {
            progress = true;
            continue;
        }
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            break;
        if (event_add(conn->write_event, NULL) != 0)
            break;
        /* While a request arrives, its own deadline runs. */
        if (!conn->begun && (progress || !evtimer_pending(conn->timer, NULL)))
            timer_set(conn, STALL_MS);
        return;
    }
    if (conn->broken || evbuffer_get_length(conn->out) > 0)
        conn_close(conn);
    else
        conn_drained(conn);
}

/* The peer sends no more. With a request unanswered, it counts as gone; a reply on its way is still
 * delivered. */
static void conn_peer_closed(struct conn *conn)
{
    bool sending = evbuffer_get_length(conn->out) > 0;
    bool answered = conn->state == CONN_LINGER || (conn->state == CONN_HEAD && !conn->begun);
    if (!answered || !sending) {
        conn_close(conn);
        return;
    }
    conn->peer_closed = true;
    event_del(conn->read_event);
    conn_linger(conn);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
    (void)what;
    struct conn *conn = ctx;
    int got = evbuffer_read(conn->in, fd, -1); /* 4 KiB at most: none starves the others */
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got < 0) {
        conn_close(conn);
        return;
    }
    if (got == 0) {
        conn_peer_closed(conn);
        return;
    }
    if (!conn->discard)
        conn_process(conn);
    bool waiting = conn->state == CONN_REPLY || evbuffer_get_length(conn->out) > OUT_BYTES_MAX;
    if (waiting && evbuffer_get_length(conn->in) > PIPELINE_BYTES_MAX) {
        conn->discard = true;
        conn->close_after = true;
        if (conn->state != CONN_REPLY)
            conn_linger(conn);
    }
    if (conn->discard)
        evbuffer_drain(conn->in, evbuffer_get_length(conn->in));
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct conn *conn = ctx;
    if (conn->begun)
        conn_refuse(conn, 408, "the request did not arrive whole in time");
    else
        conn_close(conn);
}

/* --- accepting --- */

static struct conn *conn_new(struct server *server, int fd, struct sockaddr *address, socklen_t len)
{
    struct conn *conn = calloc(1, sizeof *conn);
    if (conn == NULL) {
        close(fd);
        return NULL;
    }
    conn->server = server;
    conn->fd = fd;
    conn->next = server->conns;
    if (conn->next)
        conn->next->previous = conn;
    server->conns = conn;
    server->conn_count++;
    if (getnameinfo(address, len, conn->peer, sizeof conn->peer, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(conn->peer, sizeof conn->peer, "?");
    conn->in = evbuffer_new();
    conn->out = evbuffer_new();
    conn->read_event = event_new(server->base, fd, EV_READ | EV_PERSIST, on_readable, conn);
    conn->write_event = event_new(server->base, fd, EV_WRITE, on_writable, conn);
    conn->timer = evtimer_new(server->base, on_timer, conn);
    if (conn->in == NULL || conn->out == NULL || conn->read_event == NULL ||
        conn->write_event == NULL || conn->timer == NULL ||
        event_add(conn->read_event, NULL) != 0) {
        conn_free(conn);
        return NULL;
    }
    return conn;
}

/* Small writes go out at once. A peer whose machine vanished is noticed after about a minute. */
static void set_socket_options(int fd)
{
    int on = 1, idle_s = 30, interval_s = 10, probes = 3;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int len, void *ctx)
{
    (void)listener;
    struct server *server = ctx;
    uint32_t conn_max = server->options.connection_max;
    bool over = conn_max > 0 && server->conn_count >= conn_max;
    if (over && server->refused_count >= REFUSED_MAX) {
        close(fd);
        return;
    }
    set_socket_options(fd);
    struct conn *conn = conn_new(server, fd, address, (socklen_t)len);
    if (conn == NULL)
        return;
    if (over) {
        conn->counted_refused = true;
        server->conn_count--;
        server->refused_count++;
        conn_refuse(conn, 503, "too many connections");
    } else {
        timer_set(conn, server->options.header_timeout_ms);
    }
}

/* Most likely out of descriptors. The listener would report this again at once, for ever, so it
 * pauses. */
static void on_accept_error(struct evconnlistener *listener, void *ctx)
{
    struct server *server = ctx;
    log_event(LOG_LEVEL_ERROR, "http_accept_failed", "error=\"%s\"", strerror(errno));
    evconnlistener_disable(listener);
    evtimer_add(server->accept_retry, &(struct timeval){.tv_usec = ACCEPT_RETRY_MS * 1000});
}

static void on_accept_retry(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct server *server = ctx;
    if (server->listener && evconnlistener_enable(server->listener) != 0)
        evtimer_add(server->accept_retry, &(struct timeval){.tv_usec = ACCEPT_RETRY_MS * 1000});
}

static void on_later(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    request_run_later(ctx);
}

/* A bound socket for the address; -1 with *err set. */
static int bind_socket(const struct server_options *options, struct td_error *err)
{
    char port[8];
    snprintf(port, sizeof port, "%u", options->port);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM};
    struct addrinfo *address = NULL;
    int code = getaddrinfo(options->host, port, &hints, &address);
    if (code != 0) {
        error_set(err, TD_INVALID, "listen address %s: %s", options->host, gai_strerror(code));
        return -1;
    }
    int on = 1;
    int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool bound =
        fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        (!options->reuse_port || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on) == 0) &&
        bind(fd, address->ai_addr, address->ai_addrlen) == 0;
    freeaddrinfo(address);
    if (!bound) {
        error_set(err, TD_IO, "cannot listen on %s port %u: %s", options->host, options->port,
                  strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t len = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
        return 0;
    if (address.ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)&address)->sin6_port);
    return ntohs(((const struct sockaddr_in *)&address)->sin_port);
}

enum td_status server_new(struct loop *loop, const struct server_options *options,
                          server_fn *handler, void *ctx, struct server **out, struct td_error *err)
{
    assert(loop != NULL && options != NULL && out != NULL);
    struct td_error cause = {0};
    int fd = bind_socket(options, &cause);
    if (fd < 0)
        return error_set(err, cause.status, "%s", cause.message);
    struct server *server = calloc(1, sizeof *server);
    if (server == NULL) {
        close(fd);
        return error_set(err, TD_NO_MEMORY, "no memory for the server");
    }
    server->base = loop_event_base(loop);
    server->options = *options;
    server->options.host = NULL; /* borrowed for this call only */
    server->handler = handler;
    server->ctx = ctx;
    server->port = bound_port(fd);
    server->accept_retry = evtimer_new(server->base, on_accept_retry, server);
    server->later_event = evtimer_new(server->base, on_later, server);
    /* Enabled separately: otherwise a failure to do so is not reported. */
    unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_DISABLED;
    server->listener =
        evconnlistener_new(server->base, on_accept, server, flags, LISTEN_BACKLOG, fd);
    if (server->listener == NULL) {
        int code = errno;
        close(fd);
        server_free(server);
        return error_set(err, TD_IO, "cannot listen: %s", strerror(code));
    }
    evconnlistener_set_error_cb(server->listener, on_accept_error);
    if (server->accept_retry == NULL || server->later_event == NULL ||
        evconnlistener_enable(server->listener) != 0) {
        server_free(server);
        return error_set(err, TD_NO_MEMORY, "no memory for the server");
    }
    *out = server;
    return TD_OK;
}

void server_set_refuse(struct server *server, server_refuse_fn *refuse)
{
    server->refuse = refuse;
}

uint16_t server_port(const struct server *server)
{
    return server->port;
}

void server_stop_accepting(struct server *server)
{
    server->stopping = true;
    if (server->listener)
        evconnlistener_free(server->listener);
    server->listener = NULL;
    struct conn *next;
    for (struct conn *conn = server->conns; conn; conn = next) {
        next = conn->next;
        bool idle = conn->state == CONN_HEAD && !conn->begun;
        if (idle && evbuffer_get_length(conn->out) == 0 && !conn->processing)
            conn_close(conn);
        else if (idle)
            conn_linger(conn);
    }
}

uint32_t server_active(const struct server *server)
{
    uint32_t active = 0;
    for (const struct http_request *request = server->requests; request; request = request->next)
        active += request->dispatched && !request->ended;
    for (const struct conn *conn = server->conns; conn; conn = conn->next)
        active += conn->request == NULL && evbuffer_get_length(conn->out) > 0;
    return active;
}

void server_free(struct server *server)
{
    if (server == NULL)
        return;
    if (server->listener)
        evconnlistener_free(server->listener);
    while (server->conns)
        conn_close(server->conns);
    struct http_request *next;
    for (struct http_request *request = server->requests; request; request = next) {
        next = request->next;
        request_gone(request); /* for an owner that asked after the client had left */
        if (request->ended) {
            request_free(request);
        } else { /* the handler still has it, and ends it */
            request->server = NULL;
            request_drained(request);
        }
    }
    if (server->accept_retry)
        event_free(server->accept_retry);
    if (server->later_event)
        event_free(server->later_event);
    free(server);
}

/* The HTTP/1.1 server: one connection, from its bytes to its requests and back. server.c has the
 * listener, server_request.c requests and replies, http_lint.c the reading of heads and chunks.
 *
 * Why not evhttp, which libevent has: it overlooks clients that leave, its time-out kills quiet
 * streams and lets slow headers live, its framing is lenient, and the bodies of its refusals are
 * its own. A strict reader before it would have to guard against all of that, and would leave
 * evhttp nothing to do. So these guards are built in here:
 *
 *   1. A leaving client is noticed at once, before and during a reply, because the socket is
 *      always being read. Pipelined requests are kept up to a limit. Above it, the connection ends
 *      with the current reply, and the rest is dropped. (Watching EV_CLOSED alone would miss
 *      resets, which libevent reports as readable.) A client that shuts its sending side counts as
 *      gone, because on the wire both look the same, unless ignore_client_abort says otherwise. A
 *      reply that is already complete is still delivered.
 *   2. No time-out runs while a reply is quiet. One runs only while the peer does not take what
 *      was sent.
 *   3. A request must arrive completely within header_timeout_ms, however its bytes are spaced. A
 *      large body has more time, but only for what has come of it (BODY_BYTES_PER_S).
 *   4. Who may ask is decided on the head (server_set_head), so that nobody else makes us keep a
 *      body. Kept bodies have a total over all connections (body_budget.h): above it we stop
 *      reading those that are not small, and TCP makes their senders wait.
 *   5. A peer that does not take our answers is not read either.
 *   6. Framing is strict: what http_lint.h lists is refused before anything acts on the request.
 *   7. A large request is handled on a loop of its own kind (server_move.c).
 *   8. A compressed body is decoded within the same limits (server_coding.c).
 *   9. A stream of HTTP/2 is a connection, too (server_h2.c).
 *
 * Closing: after the last reply we shut our sending side and read until the peer has closed, too,
 * for a second at most. Closing with unread bytes would reset the connection and could destroy the
 * reply on its way. A connection is freed only in its own event callbacks, on_accept,
 * server_stop_accepting and server_free, never below a handler. */
#include "base/core/assertion.h"
#include "net/server/server_internal.h"

#include "base/core/str.h"
#include "base/time/clock.h"
#include "base/time/log.h"
#include "net/transport/tls.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PIPELINE_BYTES_MAX (64 * 1024) /* kept of pipelined requests during a reply */
#define OUT_BYTES_MAX (16 * 1024)      /* above it, no further request is read */
#define BODY_SMALL_BYTES (16 * 1024)   /* a body that is read however much others hold */
/* A sender of a large body has more time as long as it sends so fast on average: 1 Mbit/s. */
#define BODY_BYTES_PER_S (128 * 1024)
#define LINGER_MS 1000
#define LINGER_BODY_MS 5000 /* when the peer may still be sending a body that nobody reads */
#define STALL_MS 60000      /* how long a peer may take nothing */

void conn_set_timer(struct conn *conn, uint32_t delay_ms)
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

/* --- the queues that a connection may stand in --- */

/* Without a request in work: it may have to make room for a new connection. */
void conn_wait(struct conn *conn)
{
    if (conn->is_waiting)
        TAILQ_REMOVE(&conn->server->waiting, conn, in_waiting);
    TAILQ_INSERT_TAIL(&conn->server->waiting, conn, in_waiting);
    conn->is_waiting = true;
}

void conn_stop_waiting(struct conn *conn)
{
    if (conn->is_waiting)
        TAILQ_REMOVE(&conn->server->waiting, conn, in_waiting);
    conn->is_waiting = false;
}

/* Others hold what bodies may: the rest of this one stays with its sender until there is room. */
static void pause_body(struct conn *conn)
{
    event_del(conn->read_event);
    TAILQ_INSERT_TAIL(&conn->server->paused, conn, in_paused);
    conn->is_paused = true;
    server_resume_later(conn->server);
}

static void leave_paused(struct conn *conn)
{
    if (conn->is_paused)
        TAILQ_REMOVE(&conn->server->paused, conn, in_paused);
    conn->is_paused = false;
    if (conn->server->favoured == conn)
        conn->server->favoured = NULL;
}

/* Also of one that was not read for a while. */
void conn_read_on(struct conn *conn)
{
    if (conn->peer_closed)
        return;
    conn_receive_soon(conn);
    if (event_add(conn->read_event, NULL) != 0) {
        conn->broken = true;
        conn_flush_soon(conn);
    }
}

void conn_resume(struct conn *conn)
{
    bool favoured = conn->server->favoured == conn;
    leave_paused(conn);
    if (favoured)
        conn->server->favoured = conn;
    conn_read_on(conn);
}

/* --- where it belongs --- */

static void on_readable(evutil_socket_t fd, short what, void *ctx);
static void on_writable(evutil_socket_t fd, short what, void *ctx);
static void on_timer(evutil_socket_t fd, short what, void *ctx);

bool conn_enter(struct conn *conn)
{
    struct server *server = conn->server;
    conn->previous = NULL;
    conn->next = server->conns;
    if (conn->next)
        conn->next->previous = conn;
    server->conns = conn;
    conn->read_event = event_new(server->base, conn->fd, EV_READ | EV_PERSIST, on_readable, conn);
    conn->write_event = event_new(server->base, conn->fd, EV_WRITE, on_writable, conn);
    conn->timer = evtimer_new(server->base, on_timer, conn);
    return conn->read_event && conn->write_event && conn->timer;
}

void conn_leave(struct conn *conn)
{
    conn_stop_waiting(conn);
    leave_paused(conn);
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        conn->server->conns = conn->next;
    if (conn->next)
        conn->next->previous = conn->previous;
    struct event **events[] = {&conn->read_event, &conn->write_event, &conn->timer};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        if (*events[i])
            event_free(*events[i]);
        *events[i] = NULL;
    }
}

void conn_free(struct conn *conn)
{
    conn_leave(conn);
    if (conn->counted_refused)
        conn->home->refused_count--;
    else
        atomic_fetch_sub(&conn->home->conn_count, 1);
    if (conn->in)
        evbuffer_free(conn->in);
    if (conn->out)
        evbuffer_free(conn->out);
    h2_free(conn->h2);
    tls_session_free(conn->tls);
    free(conn->client);
    close(conn->fd);
    free(conn);
}

/* The owner of the request is told after the connection is gone, so that nothing it does can reach
 * it. */
void conn_close(struct conn *conn)
{
    struct http_request *request = conn->request;
    ASSERT(!conn->processing);
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

void conn_reset(struct conn *conn)
{
    struct linger at_once = {.l_onoff = 1};
    setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    conn->broken = true;
    event_active(conn->write_event, EV_WRITE, 1); /* also while the socket is full */
}

void conn_linger(struct conn *conn)
{
    bool unread = conn->is_paused;
    leave_paused(conn);
    conn_wait(conn);
    conn->state = CONN_LINGER;
    conn->begun = false;
    conn->discard = true;
    evbuffer_drain(conn->in, evbuffer_get_length(conn->in));
    conn_set_timer(conn, STALL_MS);
    if (unread)
        conn_read_on(conn);
    conn_flush_soon(conn);
}

/* The reply ends here, and what is read of the request is not needed any more. */
static void drop_request(struct conn *conn)
{
    struct http_request *request = conn->request;
    conn->request = NULL;
    if (!request)
        return;
    conn->body_unread = request->body_open;
    request_free(request);
}

void conn_refuse_header(struct conn *conn, int code, const char *reason, const char *header)
{
    struct server *server = conn->server;
    char plain[160];
    int plain_len = snprintf(plain, sizeof plain, "%s\n", reason);
    struct td_str body = {plain,
                          (size_t)plain_len < sizeof plain ? (size_t)plain_len : sizeof plain - 1};
    const char *path = conn->request ? conn->request->head.path : NULL;
    const struct http_refusal refusal = {code, reason, header, path};
    if (server->refuse)
        server->refuse(server->ctx, &refusal, &body);
    /* Logged for debugging only: a client that sends garbage must not fill the disk. */
    log_event(LOG_LEVEL_DEBUG, "http_refused", "code=%d peer=%s reason=\"%s\"", code, conn->peer,
              reason);
    if (conn->request)
        conn->request->outcome.code = code;
    drop_request(conn); /* and with it the reason, where a sink gave it */
    reply_put_head(conn, code, server->refuse ? "application/json" : "text/plain; charset=utf-8");
    char rest[128];
    snprintf(rest, sizeof rest, "%sContent-Length: %zu\r\nConnection: close\r\n\r\n",
             code == 503   ? "Retry-After: 1\r\n"
             : code == 415 ? "Accept-Encoding: " CONTENT_CODINGS "\r\n"
                           : "",
             body.len);
    conn_put(conn, rest, strlen(rest));
    conn_put(conn, body.data, body.len);
    conn_linger(conn);
}

void conn_refuse(struct conn *conn, int code, const char *reason)
{
    conn_refuse_header(conn, code, reason, NULL);
}

/* --- reading requests; each step returns whether another may follow at once --- */

static bool body_start(struct conn *conn)
{
    struct http_request *request = conn->request;
    if (!request->body_drop)
        request->coding = server_coding_of(&request->head);
    if (request->coding == CODING_UNKNOWN) {
        conn_refuse_header(conn, 415, "a body may have one Content-Encoding of: " CONTENT_CODINGS,
                           "content-encoding");
        return false;
    }
    if (request->sink.take && request->coding != CODING_NONE) {
        conn_refuse_header(conn, 415, "a file is uploaded without a Content-Encoding",
                           "content-encoding");
        return false;
    }
    if (!request->head.chunked && request->head.content_length > request_bytes_max(request)) {
        conn_refuse(conn, 413, "the body is larger than the limit");
        return false;
    }
    if (request->head.expect_continue && request->body_open && evbuffer_get_length(conn->in) == 0) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        conn_put(conn, go_on, sizeof go_on - 1);
        conn_flush_soon(conn);
    }
    if (!request->head.chunked && request->coding == CODING_NONE)
        request->body.bytes_max = (size_t)request->head.content_length;
    conn->state = CONN_BODY;
    return true;
}

/* Whoever may decide does so before a body is kept. False: the reply is a refusal. */
static bool head_accept(struct conn *conn)
{
    struct server *server = conn->server;
    struct http_request *request = conn->request;
    request->body_left = request->head.content_length;
    request->body_open = request->head.chunked || request->body_left > 0;
    if (server->head)
        request->body_drop = server->head(server->ctx, request) == HTTP_BODY_DROP;
    return !request->ended;
}

/* A client that speaks HTTP/2 without being asked (RFC 9113, 3.3) begins with what is no request of
 * HTTP/1. */
static bool takes_http2(struct conn *conn, struct td_str bytes, bool *more)
{
    *more = false;
    return bytes.data[0] == 'P' && conn->server->options.http2 && !conn->inner &&
           !conn->had_request && h2_is_preface(bytes, more);
}

static bool head_step(struct conn *conn)
{
    struct server *server = conn->server;
    struct td_str bytes = conn_input(conn);
    size_t blank = 0; /* empty lines may come before a request (RFC 9112, 2.2) */
    while (!conn->begun && blank + 1 < bytes.len && memcmp(bytes.data + blank, "\r\n", 2) == 0)
        blank += 2;
    evbuffer_drain(conn->in, blank);
    bytes = str_slice(bytes, blank, bytes.len);
    if (bytes.len == 0 || (bytes.len == 1 && bytes.data[0] == '\r' && !conn->begun))
        return false;
    if (!conn->begun) {
        conn->begun = true;
        conn->begun_ms = clock_monotonic_ns(NULL) / 1000000;
        conn_set_timer(conn, server->options.header_timeout_ms);
        /* TLS or noise, in which a line end may never come. */
        if (!http_is_token(str_slice(bytes, 0, 1))) {
            conn_refuse(conn, 400, "this is not HTTP");
            return false;
        }
    }
    bool more;
    if (takes_http2(conn, bytes, &more) || more) {
        conn->is_http2 = !more;
        return false;
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
    conn->had_request = true;
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
        request->head.path = NULL; /* nobody has checked it */
        conn_refuse(conn, code, reason);
        return false;
    }
    request_set_method(request);
    if (!head_accept(conn))
        return conn->state == CONN_HEAD;
    return body_start(conn);
}

/* A small body is read whatever others hold, so that large ones do not keep it out. */
static bool must_pause(const struct conn *conn)
{
    const struct http_request *request = conn->request;
    return request->held_bytes > BODY_SMALL_BYTES && !body_budget_has_room(request->budget) &&
           conn->server->favoured != conn;
}

static bool body_step(struct conn *conn)
{
    struct http_request *request = conn->request;
    const char *reason = NULL;
    int code = 0;
    enum http_chunks_result result = conn_take_body(conn, &code, &reason);
    if (result == HTTP_CHUNKS_BAD)
        conn_refuse(conn, code, reason);
    else if (result == HTTP_CHUNKS_MORE && must_pause(conn))
        pause_body(conn);
    if (result != HTTP_CHUNKS_END)
        return false;
    conn_set_timer(conn, 0);
    leave_paused(conn);
    conn_stop_waiting(conn);
    conn->begun = false;
    conn->state = CONN_REPLY;
    request->body_open = false;
    conn->moves = conn->server->large && !server_coding_is_small(request);
    if (!conn->moves)
        conn_dispatch(conn);
    return !conn->moves;
}

void conn_dispatch(struct conn *conn)
{
    struct http_request *request = conn->request;
    const char *reason = NULL;
    int code = 0;
    if (!server_coding_decode(request, &code, &reason)) {
        conn_refuse_header(conn, code, reason, code == 400 ? "content-encoding" : NULL);
        return;
    }
    request->dispatched = true;
    body_budget_work(request->budget, request->held_bytes);
    conn->server->handler(conn->server->ctx, request);
}

/* Begins requests until one waits for its reply or the input ends. A handler that replies at once
 * returns to this loop, so pipelined requests do not nest. False: the connection is another loop's
 * now. */
static bool conn_process(struct conn *conn)
{
    bool guest = conn->server != conn->home; /* its next request is read at home */
    if (guest && conn->state == CONN_HEAD)
        event_del(conn->read_event);
    if (guest || conn->processing)
        return true;
    conn->processing = true;
    bool more = true;
    while (more && !conn->broken) {
        if (conn->state == CONN_HEAD)
            more = evbuffer_get_length(conn->out) <= OUT_BYTES_MAX && head_step(conn);
        else
            more = conn->state == CONN_BODY && body_step(conn);
    }
    conn->processing = false;
    if (conn->is_http2) {
        conn->is_http2 = false;
        if (!conn_start_h2(conn))
            conn->broken = true;
        else
            h2_receive(conn);
    }
    if (conn->moves) {
        conn_move(conn, conn->server->large);
        return false;
    }
    if (conn->broken)
        conn_flush_soon(conn); /* this closes it */
    else if (conn->state == CONN_HEAD && evbuffer_get_length(conn->out) > OUT_BYTES_MAX)
        event_del(conn->read_event); /* until it has taken its answers (conn_drained) */
    else if (conn->state == CONN_HEAD && conn->peer_closed)
        conn_linger(conn); /* that was the last whole request */
    return true;
}

void conn_reply_ended(struct conn *conn)
{
    conn->request = NULL;
    conn->state = CONN_HEAD;
    conn->begun = false;
    conn_wait(conn);
    if (conn->close_after || conn->server->stopping)
        conn_linger(conn);
    else
        conn_flush_soon(conn);
}

/* --- events of a connection --- */

void conn_await(struct conn *conn)
{
    if (!conn->begun)
        conn_set_timer(conn, conn->server->options.idle_timeout_ms);
    conn_read_on(conn);
    (void)conn_process(conn);
}

/* All bytes have gone to the kernel. Decides what comes next. */
static void conn_drained(struct conn *conn)
{
    switch (conn->state) {
    case CONN_REPLY:
        conn_set_timer(conn, 0);
        request_drained(conn->request);
        break;
    case CONN_LINGER:
        if (conn->peer_closed) {
            conn_close(conn);
        } else if (!conn->shut) {
            conn->shut = true;
            conn_shut(conn);
            conn_set_timer(conn, conn->body_unread ? LINGER_BODY_MS : LINGER_MS);
        }
        break;
    case CONN_HEAD:
        if (conn->server == conn->home)
            conn_await(conn);
        else
            conn_move(conn, conn->home);
        break;
    case CONN_H2:
        h2_drained(conn);
        break;
    case CONN_PRELUDE:
    case CONN_BODY:
        break;
    }
}

static void on_writable(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct conn *conn = ctx;
    bool progress = false;
    if (conn->read_writes || conn->state == CONN_PRELUDE) {
        conn->read_writes = false;
        event_active(conn->read_event, EV_READ, 1);
    }
    if (conn->state == CONN_PRELUDE)
        return;
    while (!conn->broken && evbuffer_get_length(conn->out) > 0) {
        int written = conn_transmit(conn);
        if (written > 0) {
            progress = true;
            if (conn->h2)
                h2_note_progress(conn);
            continue;
        }
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            break;
        if (event_add(conn->write_event, NULL) != 0)
            break;
        /* While a request arrives, its own deadline runs. */
        if (!conn->begun && !conn->h2 && (progress || !evtimer_pending(conn->timer, NULL)))
            conn_set_timer(conn, STALL_MS);
        return;
    }
    if (conn->broken || evbuffer_get_length(conn->out) > 0)
        conn_close(conn);
    else
        conn_drained(conn);
}

/* The peer sends no more. With a request in work it counts as gone, unless the configuration says
 * that it may still read. A reply on its way is delivered in any case. */
static void conn_peer_closed(struct conn *conn)
{
    bool sending = evbuffer_get_length(conn->out) > 0;
    bool answered = conn->state == CONN_LINGER || (conn->state == CONN_HEAD && !conn->begun);
    bool stays = conn->state == CONN_REPLY && conn->server->options.ignore_client_abort;
    if (!stays && !(answered && sending)) {
        conn_close(conn);
        return;
    }
    conn->peer_closed = true;
    event_del(conn->read_event);
    if (!stays)
        conn_linger(conn);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct conn *conn = ctx;
    if (conn->state == CONN_PRELUDE && !conn_read_prelude(conn))
        return;
    int got = conn_receive(conn);
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
    if (conn->h2) {
        h2_receive(conn);
        return;
    }
    if (!conn->discard && !conn_process(conn))
        return;
    if (conn->state == CONN_REPLY && evbuffer_get_length(conn->in) > PIPELINE_BYTES_MAX) {
        conn->discard = true;
        conn->close_after = true;
    }
    if (conn->discard)
        evbuffer_drain(conn->in, evbuffer_get_length(conn->in));
}

/* How long the rest of the body may still take; 0 = it is late. */
static uint64_t body_left_ms(const struct conn *conn)
{
    if (!conn->begun || conn->state != CONN_BODY)
        return 0;
    uint64_t bytes = conn->request->held_bytes + conn->request->sunk_bytes;
    uint64_t earned_ms = bytes * 1000 / BODY_BYTES_PER_S;
    uint64_t until_ms = conn->begun_ms + conn->server->options.header_timeout_ms + earned_ms;
    uint64_t now_ms = clock_monotonic_ns(NULL) / 1000000;
    return until_ms > now_ms ? until_ms - now_ms : 0;
}

static void on_timer(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    struct conn *conn = ctx;
    if (conn->h2) {
        h2_on_timer(conn);
        return;
    }
    uint64_t left_ms = conn->is_paused ? 0 : body_left_ms(conn);
    if (left_ms > 0)
        conn_set_timer(conn, (uint32_t)left_ms);
    else if (conn->begun && conn->is_paused)
        conn_refuse(conn, 503, "the bodies of other requests hold all the memory for bodies");
    else if (conn->begun)
        conn_refuse(conn, 408, "the request did not arrive whole in time");
    else
        conn_close(conn);
}

bool conn_is_idle(const struct conn *conn)
{
    return conn->state == CONN_PRELUDE || (conn->state == CONN_HEAD && !conn->begun);
}

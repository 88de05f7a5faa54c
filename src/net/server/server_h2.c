/* HTTP/2 (RFC 9113): one connection, and its streams.
 *
 * A stream is a connection of HTTP/1.1 inside of this process: a pair of sockets, whose other end
 * the server reads like any client's. So everything that holds for a client holds for a stream: the
 * strict reader, the limits of heads, bodies and time, the wait for room, the move to the loop for
 * large requests, and the notice when a client leaves, because a stream that is reset closes its
 * end. The windows of HTTP/2 open as the reader takes bytes, and a reply is read from the pair as
 * the client's window lets it go, so a slow client slows its producer.
 *
 * Rejected: requests that know of two kinds of connections. Each of those rules would have had a
 * twin for streams, with a hand-over between threads of its own. The price is some ten system calls
 * a request, and a chunked body that is read once more; HTTP/1.1 pays nothing.
 *
 * What is bounded here beside the reader's limits: streams at once; header blocks, by their bytes
 * and by the frames that they come in; streams taken back (CVE-2023-44487) and frames that carry
 * nothing, by a rate; bytes that wait to be sent. Whoever goes beyond gets GOAWAY with
 * ENHANCE_YOUR_CALM. */
#include "net/server/server_h2.h"

#include "base/time/clock.h"
#include "base/time/log.h"

#include <event2/buffer.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MAX 100
#define CONTINUATIONS_MAX 16
#define STREAM_WINDOW (128 * 1024)
#define CONN_WINDOW (512 * 1024) /* the most that bodies of one connection wait in memory */
#define OUT_BYTES_MAX (64 * 1024)
#define TICK_MS 5000
#define LINGER_MS 5000 /* the same of a request that goes on after its reply */
#define STALL_MS 60000 /* how long a client may take nothing, as in server_conn.c */

uint64_t h2_now_ms(void)
{
    return clock_monotonic_ns(NULL) / 1000000;
}

static bool is_allowed(struct h2_allowance *allowance)
{
    uint64_t now = h2_now_ms();
    allowance->left += (double)(now - allowance->seen_ms) / 1000 * allowance->per_second;
    allowance->left = allowance->left < allowance->most ? allowance->left : allowance->most;
    allowance->seen_ms = now;
    allowance->left -= 1;
    return allowance->left >= 0;
}

static struct h2_allowance allowance_of(double most, double per_second)
{
    return (struct h2_allowance){most, most, per_second, h2_now_ms()};
}

static void calm(struct h2 *h2, const char *what)
{
    log_event(LOG_LEVEL_DEBUG, "http2_flood", "peer=%s what=\"%s\"", h2->conn->peer, what);
    nghttp2_session_terminate_session(h2->session, NGHTTP2_ENHANCE_YOUR_CALM);
}

/* --- what nghttp2 reports --- */

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *ctx)
{
    struct h2 *h2 = ctx;
    (void)session;
    if (head->type > NGHTTP2_CONTINUATION && !is_allowed(&h2->others))
        calm(h2, "unknown frames");
    if (head->type != NGHTTP2_CONTINUATION)
        h2->continuations = 0;
    else if (++h2->continuations > CONTINUATIONS_MAX)
        return NGHTTP2_ERR_CALLBACK_FAILURE; /* the rest of the block is not even read */
    return 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct h2 *h2 = ctx;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0; /* trailers */
    struct h2_stream *stream =
        h2->stream_count < STREAMS_MAX ? h2_stream_new(h2, frame->hd.stream_id) : NULL;
    if (!stream)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets the stream */
    nghttp2_session_set_stream_user_data(session, stream->id, stream);
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *ctx)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    (void)flags, (void)ctx;
    if (!stream || frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    return h2_stream_header(stream, (struct td_str){(const char *)name, name_len},
                            (struct td_str){(const char *)value, value_len})
               ? 0
               : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t len, void *ctx)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    (void)flags, (void)ctx;
    if (!stream || !h2_stream_data(stream, (struct td_str){(const char *)bytes, len}))
        nghttp2_session_consume(session, id, len); /* nobody reads it */
    return 0;
}

static void take_headers(struct h2 *h2, const nghttp2_frame *frame, struct h2_stream *stream)
{
    bool ends = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST && !h2_stream_ask(stream, !ends))
        nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                  NGHTTP2_REFUSED_STREAM);
    else if (ends)
        h2_stream_end_request(stream);
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct h2 *h2 = ctx;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        if (stream)
            take_headers(h2, frame, stream);
        return 0;
    case NGHTTP2_DATA:
        if (stream && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
            h2_stream_end_request(stream);
        else if (frame->hd.length == 0 && !is_allowed(&h2->others))
            calm(h2, "empty frames");
        return 0;
    case NGHTTP2_RST_STREAM:
        if (!is_allowed(&h2->resets))
            calm(h2, "resets");
        return 0;
    case NGHTTP2_WINDOW_UPDATE: /* one for each piece of a reply is usual */
    case NGHTTP2_GOAWAY:
        return 0;
    default:
        if (!is_allowed(&h2->others))
            calm(h2, "control frames");
        return 0;
    }
}

/* A head or a body that cannot be right: a lenient server would pass over the header alone. */
static int on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                             const uint8_t *name, size_t name_len, const uint8_t *value,
                             size_t value_len, uint8_t flags, void *ctx)
{
    (void)session, (void)frame, (void)name, (void)name_len, (void)value, (void)value_len;
    (void)flags, (void)ctx;
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/* The reply is sent. Where the request was not needed to its end, its client may go on for a while,
 * as over HTTP/1.1: some lose a reply that a reset follows at once. */
static int on_frame_sent(nghttp2_session *session, const nghttp2_frame *frame, void *ctx)
{
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
    bool ends = frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS;
    (void)ctx;
    if (stream && ends && frame->hd.flags & NGHTTP2_FLAG_END_STREAM)
        stream->replied_ms = h2_now_ms();
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *ctx)
{
    struct h2 *h2 = ctx;
    struct h2_stream *stream = nghttp2_session_get_stream_user_data(session, id);
    (void)code;
    if (!stream)
        return 0;
    h2_stream_free(stream);
    if (h2->stream_count == 0) {
        conn_wait(h2->conn);
        conn_set_timer(h2->conn, h2->conn->server->options.idle_timeout_ms);
    }
    return 0;
}

/* --- the connection --- */

bool h2_is_preface(struct td_str bytes, bool *more)
{
    size_t seen = bytes.len < H2_PREFACE_BYTES ? bytes.len : H2_PREFACE_BYTES;
    bool begins = memcmp(bytes.data, H2_PREFACE, seen) == 0;
    *more = begins && seen < H2_PREFACE_BYTES;
    return begins && !*more;
}

static nghttp2_session *new_session(struct h2 *h2)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    nghttp2_session *session = NULL;
    if (nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&option) == 0) {
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, on_invalid_header);
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_sent);
        nghttp2_option_set_no_auto_window_update(option, 1);
        nghttp2_option_set_no_closed_streams(option, 1);
        if (nghttp2_session_server_new2(&session, callbacks, h2, option) != 0)
            session = NULL;
    }
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

static bool greet(struct h2 *h2)
{
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, STREAMS_MAX},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE,
         (uint32_t)h2->conn->server->options.header_bytes_max}};
    return nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, settings,
                                   sizeof settings / sizeof *settings) == 0 &&
           nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0, CONN_WINDOW) ==
               0;
}

bool conn_start_h2(struct conn *conn)
{
    struct h2 *h2 = calloc(1, sizeof *h2);
    if (!h2)
        return false;
    h2->conn = conn;
    h2->resets = allowance_of(200, 20);
    h2->others = allowance_of(1000, 100);
    h2->progress_ms = h2_now_ms();
    h2->session = new_session(h2);
    if (!h2->session || !greet(h2)) {
        h2_free(h2);
        return false;
    }
    conn->h2 = h2;
    conn->state = CONN_H2;
    conn->begun = false;
    conn_set_timer(conn, conn->server->options.header_timeout_ms); /* of the first stream */
    h2_flush(h2);
    return true;
}

void h2_free(struct h2 *h2)
{
    if (!h2)
        return;
    while (h2->streams)
        h2_stream_free(h2->streams);
    nghttp2_session_del(h2->session);
    free(h2);
}

/* Its streams have ended. What is left is sent, and the connection ends as any other. */
static void finish(struct h2 *h2)
{
    struct conn *conn = h2->conn;
    conn->h2 = NULL;
    h2_free(h2);
    conn_linger(conn);
}

void h2_flush(struct h2 *h2)
{
    struct conn *conn = h2->conn;
    if (evbuffer_get_length(conn->out) == 0)
        h2->progress_ms = h2_now_ms();
    while (!conn->broken && evbuffer_get_length(conn->out) < OUT_BYTES_MAX) {
        const uint8_t *bytes;
        ssize_t len = nghttp2_session_mem_send(h2->session, &bytes);
        if (len < 0)
            conn->broken = true;
        if (len <= 0)
            break;
        conn_put(conn, bytes, (size_t)len);
    }
    if (conn->broken || evbuffer_get_length(conn->out) > 0)
        conn_flush_soon(conn); /* this closes a broken one */
    if (conn->broken)
        return;
    bool over = !nghttp2_session_want_read(h2->session) && !nghttp2_session_want_write(h2->session);
    if (over || (h2->stopping && h2->stream_count == 0 && !nghttp2_session_want_write(h2->session)))
        finish(h2);
}

void h2_receive(struct conn *conn)
{
    struct h2 *h2 = conn->h2;
    struct td_str bytes = conn_input(conn);
    ssize_t taken = nghttp2_session_mem_recv(h2->session, (const uint8_t *)bytes.data, bytes.len);
    evbuffer_drain(conn->in, bytes.len);
    if (taken < 0) {
        log_event(LOG_LEVEL_DEBUG, "http2_refused", "peer=%s reason=\"%s\"", conn->peer,
                  nghttp2_strerror((int)taken));
        nghttp2_session_terminate_session(h2->session, taken == NGHTTP2_ERR_BAD_CLIENT_MAGIC
                                                           ? NGHTTP2_PROTOCOL_ERROR
                                                           : NGHTTP2_ENHANCE_YOUR_CALM);
    }
    h2_flush(h2);
    if (conn->h2 && evbuffer_get_length(conn->out) >= OUT_BYTES_MAX)
        event_del(conn->read_event); /* until it has taken its replies */
}

void h2_drained(struct conn *conn)
{
    conn_read_on(conn);
    h2_flush(conn->h2);
}

void h2_note_progress(struct conn *conn)
{
    conn->h2->progress_ms = h2_now_ms();
}

/* Streams whose heads do not end, replies that the client's window holds back, and requests that go
 * on after their replies. */
static void end_late_streams(struct h2 *h2)
{
    uint64_t now = h2_now_ms(), head_ms = h2->conn->server->options.header_timeout_ms;
    for (struct h2_stream *stream = h2->streams; stream; stream = stream->next) {
        bool late = !stream->asked && now - stream->begun_ms > head_ms;
        bool stalled =
            evbuffer_get_length(stream->body) > 0 && now - stream->progress_ms > STALL_MS;
        bool replied = stream->replied_ms && now - stream->replied_ms >= LINGER_MS;
        if (late || stalled || replied)
            nghttp2_submit_rst_stream(h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                      replied ? NGHTTP2_NO_ERROR : NGHTTP2_CANCEL);
    }
}

void h2_on_timer(struct conn *conn)
{
    struct h2 *h2 = conn->h2;
    bool sending = evbuffer_get_length(conn->out) > 0;
    if (sending && h2_now_ms() - h2->progress_ms > STALL_MS) {
        conn_close(conn);
        return;
    }
    conn_set_timer(conn, TICK_MS);
    if (h2->stream_count > 0)
        end_late_streams(h2);
    else if (!sending)
        nghttp2_session_terminate_session(h2->session, NGHTTP2_NO_ERROR);
    h2_flush(h2);
}

void h2_stop(struct conn *conn)
{
    struct h2 *h2 = conn->h2;
    if (!h2->stopping)
        nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                              nghttp2_session_get_last_proc_stream_id(h2->session),
                              NGHTTP2_NO_ERROR, NULL, 0);
    h2->stopping = true;
    h2_flush(h2);
}

size_t h2_active(const struct conn *conn)
{
    return conn->h2->stream_count;
}

void h2_begin_work(struct h2 *h2)
{
    if (h2->stream_count > 1)
        return;
    conn_stop_waiting(h2->conn);
    conn_set_timer(h2->conn, TICK_MS);
}

/* A stream's reply: HTTP/1.1 as server_request.c writes it, read from the pair and sent as frames.
 * What is read is our own writing, so a reply that cannot be read is our bug, and resets the
 * stream. */
#include "net/server/server_h2.h"

#include "base/core/ascii.h"
#include "base/core/str.h"

#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES_MAX (32 * 1024) /* server_request.c writes 16 KiB of headers at most */
#define HEADERS_MAX 128
#define BODY_BYTES_MAX (64 * 1024) /* that wait for the client's window */

static void fail(struct h2_stream *stream, uint32_t code)
{
    if (stream->read_event)
        event_del(stream->read_event);
    nghttp2_submit_rst_stream(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, code);
}

/* --- the body --- */

/* Gives frames what is there. A stream that was cut sends that first, and is reset then. */
static ssize_t on_body_wanted(nghttp2_session *session, int32_t id, uint8_t *out, size_t size,
                              uint32_t *flags, nghttp2_data_source *source, void *ctx)
{
    struct h2_stream *stream = source->ptr;
    (void)session, (void)id, (void)ctx;
    int taken = evbuffer_remove(stream->body, out, size);
    bool empty = evbuffer_get_length(stream->body) == 0;
    if (taken > 0)
        stream->progress_ms = h2_now_ms();
    if (stream->reply_ended && empty)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    else if (taken <= 0 && stream->cut)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    else if (taken <= 0)
        stream->deferred = true;
    if (stream->fd >= 0 && !stream->reply_ended && !stream->cut &&
        evbuffer_get_length(stream->body) < BODY_BYTES_MAX)
        event_add(stream->read_event, NULL);
    return taken > 0 || stream->reply_ended ? (taken > 0 ? taken : 0) : NGHTTP2_ERR_DEFERRED;
}

static void wake(struct h2_stream *stream)
{
    if (!stream->deferred)
        return;
    stream->deferred = false;
    stream->progress_ms = h2_now_ms();
    nghttp2_session_resume_data(stream->h2->session, stream->id);
}

/* Moves bytes of the body from what was read. False when they are malformed. */
static bool take_chunks(struct h2_stream *stream)
{
    size_t len = evbuffer_get_length(stream->from), at = 0;
    const char *bytes = len ? (const char *)evbuffer_pullup(stream->from, -1) : NULL;
    bool good = !len || bytes;
    while (good && at < len && !stream->reply_ended) {
        struct td_str data = {0};
        size_t used;
        enum http_chunks_result result =
            http_chunks_feed(&stream->chunks, (struct td_str){bytes + at, len - at}, &used, &data);
        at += used;
        good = result != HTTP_CHUNKS_BAD;
        stream->reply_ended = result == HTTP_CHUNKS_END;
        if (result == HTTP_CHUNKS_DATA)
            good = evbuffer_add(stream->body, data.data, data.len) == 0;
    }
    evbuffer_drain(stream->from, at);
    return good;
}

static bool take_body(struct h2_stream *stream)
{
    if (stream->reply_chunked)
        return take_chunks(stream);
    size_t len = evbuffer_get_length(stream->from);
    len = len < stream->reply_left ? len : (size_t)stream->reply_left;
    int moved = evbuffer_remove_buffer(stream->from, stream->body, len);
    if (moved < 0)
        return false;
    stream->reply_left -= (size_t)moved;
    stream->reply_ended = stream->reply_left == 0;
    return true;
}

/* --- the head --- */

static nghttp2_nv pair_of(struct td_str name, struct td_str value)
{
    /* nghttp2 copies both, and changes neither; its struct knows no const */
    return (nghttp2_nv){(uint8_t *)(uintptr_t)name.data, (uint8_t *)(uintptr_t)value.data, name.len,
                        value.len, NGHTTP2_NV_FLAG_NONE};
}

static void submit(struct h2_stream *stream, int code, const nghttp2_nv *headers, size_t count)
{
    const nghttp2_data_provider body = {{.ptr = stream}, on_body_wanted};
    bool bodyless = stream->is_head || code == 204 || code == 304 ||
                    (!stream->reply_chunked && stream->reply_left == 0);
    if (code < 200) {
        nghttp2_submit_headers(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id, NULL, headers,
                               count, NULL);
        return;
    }
    stream->answered = true;
    stream->reply_ended = bodyless;
    if (nghttp2_submit_response(stream->h2->session, stream->id, headers, count,
                                bodyless ? NULL : &body) != 0)
        fail(stream, NGHTTP2_INTERNAL_ERROR);
}

void h2_reply_refusal(struct h2_stream *stream, int code, const char *reason)
{
    struct server *server = stream->h2->conn->server;
    const struct http_refusal refusal = {code, reason, NULL, NULL};
    struct td_str body = str_from(reason);
    char text[8];
    snprintf(text, sizeof text, "%d", code);
    if (server->refuse)
        server->refuse(server->ctx, &refusal, &body);
    const nghttp2_nv headers[] = {
        pair_of(STR(":status"), str_from(text)),
        pair_of(STR("content-type"), server->refuse ? STR("application/json") : STR("text/plain"))};
    stream->reply_left = body.len;
    evbuffer_add(stream->body, body.data, body.len);
    submit(stream, code, headers, sizeof headers / sizeof *headers);
    stream->reply_ended = true;
}

/* One line of the head: what the frames need to know, and whether it is sent. */
static bool takes_header(struct h2_stream *stream, struct td_str name, struct td_str value)
{
    if (str_equal(name, STR("transfer-encoding")))
        stream->reply_chunked = true;
    else if (str_equal(name, STR("content-length")))
        return str_to_u64(value, &stream->reply_left);
    return !str_equal(name, STR("transfer-encoding")) && !str_equal(name, STR("connection")) &&
           !str_equal(name, STR("keep-alive"));
}

/* text: the head with its empty line, which is written to. */
static bool read_head(struct h2_stream *stream, char *text, size_t len)
{
    nghttp2_nv headers[HEADERS_MAX];
    size_t count = 1;
    struct td_str rest = {text, len - 2}, line;
    uint64_t code;
    if (!str_next(&rest, '\n', &line) || line.len < 12 ||
        !str_to_u64(str_slice(line, 9, 12), &code))
        return false;
    headers[0] = pair_of(STR(":status"), str_slice(line, 9, 12));
    while (str_next(&rest, '\n', &line)) {
        size_t colon = str_find(line, STR(":"), 0);
        if (colon == SIZE_MAX || count == HEADERS_MAX)
            return false;
        for (size_t i = 0; i < colon; i++) {
            char *at = text + (line.data - text) + i;
            *at = (char)ascii_lower(*at);
        }
        struct td_str name = str_slice(line, 0, colon);
        struct td_str value = str_trim(str_slice(line, colon + 1, line.len));
        if (takes_header(stream, name, value))
            headers[count++] = pair_of(name, value);
    }
    submit(stream, (int)code, headers, count);
    return true;
}

/* False: it is malformed. */
static bool take_head(struct h2_stream *stream)
{
    struct evbuffer_ptr end = evbuffer_search(stream->from, "\r\n\r\n", 4, NULL);
    if (end.pos < 0)
        return evbuffer_get_length(stream->from) <= HEAD_BYTES_MAX;
    size_t len = (size_t)end.pos + 4;
    char *text = malloc(len);
    bool good = text && evbuffer_remove(stream->from, text, len) == (int)len &&
                read_head(stream, text, len);
    free(text);
    return good;
}

/* --- reading --- */

static bool advance(struct h2_stream *stream)
{
    size_t before;
    do { /* an interim head may stand before the final one */
        before = evbuffer_get_length(stream->from);
        if (!stream->answered && !take_head(stream))
            return false;
    } while (!stream->answered && evbuffer_get_length(stream->from) < before);
    if (stream->answered && !stream->reply_ended && !take_body(stream))
        return false;
    wake(stream);
    return true;
}

void h2_reply_read(struct h2_stream *stream)
{
    int got = evbuffer_read(stream->from, stream->fd, -1);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (got > 0 && !advance(stream)) {
        fail(stream, NGHTTP2_INTERNAL_ERROR);
        return;
    }
    if (stream->reply_ended) {
        event_del(stream->read_event);
    } else if (got <= 0 && !stream->answered) {
        fail(stream, NGHTTP2_REFUSED_STREAM); /* nobody had it: the client may ask again */
    } else if (got <= 0) {
        stream->cut = true;
        event_del(stream->read_event);
        wake(stream);
    } else if (evbuffer_get_length(stream->body) >= BODY_BYTES_MAX) {
        event_del(stream->read_event);
    }
}

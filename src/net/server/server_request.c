/* Requests as handlers see them, and the writing of replies.
 *
 * The life of a request: it is made with its head and given to the handler when its body is
 * complete. It ends with the end of the reply, or when the client leaves. It is freed in the next
 * turn of the loop after its end, so a second http_stream_end in the same callback, or a reply
 * inside on_gone, meets a live object and does nothing. If the client leaves and nobody asked to be
 * told, the request stays without a connection until the handler answers it, and the answer is
 * dropped. */
#include "base/core/assertion.h"
#include "net/server/server_internal.h"

#include "base/core/str.h"
#include "base/time/clock.h"

#include <event2/buffer.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REPLY_HEADERS_BYTES_MAX (16 * 1024)

static const char *reason_phrase(int code)
{
    static const struct {
        int code;
        const char *phrase;
    } phrases[] = {
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {402, "Payment Required"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {408, "Request Timeout"},
        {409, "Conflict"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {499, "Client Closed Request"},
        {500, "Internal Server Error"},
        {501, "Not Implemented"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
        {505, "HTTP Version Not Supported"},
        {507, "Insufficient Storage"},
    };
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++)
        if (phrases[i].code == code)
            return phrases[i].phrase;
    return "Status";
}

void request_enter(struct http_request *request, struct server *server)
{
    request->server = server;
    request->previous = NULL;
    request->next = server->requests;
    if (request->next)
        request->next->previous = request;
    server->requests = request;
}

void request_leave(struct http_request *request)
{
    if (request->previous)
        request->previous->next = request->next;
    else
        request->server->requests = request->next;
    if (request->next)
        request->next->previous = request->previous;
}

/* Room for as many headers as the text has lines stands before it, in the same block: most requests
 * have a few of the many that they may have. */
static bool keep_head(struct http_request *request, struct td_str text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text.len && lines < HTTP_HEADERS_MAX; i++)
        lines += text.data[i] == '\n';
    struct http_header *headers = malloc(lines * sizeof *headers + text.len + 1);
    if (headers == NULL)
        return false;
    request->head.headers = headers;
    request->head.headers_max = lines;
    request->head_text = (char *)(headers + lines);
    memcpy(request->head_text, text.data, text.len);
    return true;
}

struct http_request *request_new(struct server *server, struct conn *conn, struct td_str head_text)
{
    struct http_request *request = calloc(1, sizeof *request);
    if (request == NULL || !keep_head(request, head_text)) {
        free(request);
        return NULL;
    }
    request->conn = conn;
    request->budget = server->options.budget;
    request->inside = !conn;
    if (conn && conn->client && !(request->client = strdup(conn->client))) {
        free(request->head.headers);
        free(request);
        return NULL;
    }
    if (conn) {
        memcpy(request->peer, conn->peer, sizeof request->peer);
        memcpy(request->local, conn->local, sizeof request->local);
    }
    buf_init(&request->body, server->options.body_bytes_max);
    request->outcome =
        (struct http_outcome){.code = 499, .begun_ms = clock_monotonic_ns(NULL) / 1000000};
    buf_init(&request->reply_headers, REPLY_HEADERS_BYTES_MAX);
    request_enter(request, server);
    return request;
}

void request_free(struct http_request *request)
{
    if (request->server && request->server->end && request->note && !request->inside)
        request->server->end(request->server->ctx, request, &request->outcome);
    if (request->server)
        request_leave(request);
    body_budget_give(request->budget, request->held_bytes, request->dispatched);
    buf_deinit(&request->body);
    buf_deinit(&request->reply_headers);
    if (request->sink.free_ctx)
        request->sink.free_ctx(request->sink.ctx);
    free(request->note);
    free(request->client);
    free(request->head.headers); /* and the text */
    free(request);
}

void request_set_method(struct http_request *request)
{
    static const char *const names[] = {
        [HTTP_GET] = "GET",       [HTTP_POST] = "POST",       [HTTP_PUT] = "PUT",
        [HTTP_DELETE] = "DELETE", [HTTP_OPTIONS] = "OPTIONS", [HTTP_HEAD] = "HEAD",
    };
    request->method = HTTP_OTHER;
    for (int i = 0; i < HTTP_OTHER; i++)
        if (strcmp(request->head.method, names[i]) == 0)
            request->method = (enum http_method)i;
}

static void run_soon(struct http_request *request)
{
    if (request->on_later)
        return;
    struct server *server = request->server;
    request->on_later = true;
    request->later_next = server->later;
    server->later = request;
    event_active(server->later_event, EV_TIMEOUT, 1);
}

static void free_soon(struct http_request *request)
{
    request->ended = true;
    request->conn = NULL;
    if (request->server)
        run_soon(request);
    else
        request_free(request);
}

/* Calls the owner's callback; the request is nobody's afterwards. */
static void tell_gone(struct http_request *request)
{
    loop_fn *fn = request->gone_fn;
    request->gone_fn = NULL;
    request->ended = true;
    fn(request->gone_ctx);
    free_soon(request);
}

void request_gone(struct http_request *request)
{
    request->conn = NULL;
    if (!request->dispatched || request->ended)
        free_soon(request);
    else if (request->gone_fn)
        tell_gone(request);
    else if (request->drain_fn)
        run_soon(request); /* or its producer would wait for ever */
}

void request_drained(struct http_request *request)
{
    if (request->drain_fn == NULL)
        return;
    loop_fn *fn = request->drain_fn;
    request->drain_fn = NULL;
    fn(request->drain_ctx);
}

void request_run_later(struct server *server)
{
    struct http_request *request = server->later;
    server->later = NULL;
    while (request) {
        struct http_request *next = request->later_next;
        request->on_later = false;
        if (request->ended)
            request_free(request);
        else if (request->conn == NULL && request->gone_fn && !request->inside)
            tell_gone(request);
        else if (http_stream_pending(request) == 0)
            request_drained(request);
        request = next;
    }
}

enum http_method http_request_method(const struct http_request *request)
{
    return request->method;
}

const char *http_request_path(const struct http_request *request)
{
    return request->head.path;
}

const char *http_request_query(const struct http_request *request)
{
    return request->head.query;
}

const char *http_request_header(const struct http_request *request, const char *name)
{
    ASSERT(request != NULL && name != NULL);
    return http_head_find(&request->head, name);
}

struct td_str http_request_body(const struct http_request *request)
{
    return buf_view(&request->body);
}

void http_request_forget_body(struct http_request *request)
{
    request->forgotten_bytes += request->body.len;
    buf_deinit(&request->body);
}

size_t http_request_body_bytes(const struct http_request *request)
{
    return request->forgotten_bytes + request->body.len;
}

const char *http_request_peer(const struct http_request *request)
{
    return request->peer;
}

const char *http_request_client(const struct http_request *request)
{
    return request->client;
}

const char *http_request_local(const struct http_request *request)
{
    return request->local;
}

void *http_request_note(struct http_request *request, size_t bytes)
{
    if (request->note == NULL)
        request->note = calloc(1, bytes);
    return request->note;
}

const void *http_request_noted(const struct http_request *request)
{
    return request->note;
}

void http_request_on_gone(struct http_request *request, loop_fn *fn, void *ctx)
{
    ASSERT(request != NULL && fn != NULL);
    if (request->ended)
        return;
    request->gone_fn = fn;
    request->gone_ctx = ctx;
    if (request->conn == NULL && request->server && fn && !request->inside)
        run_soon(request);
}

/* Framing belongs to this folder: such headers from a caller are not sent. */
static bool is_framing(const char *name)
{
    return strcasecmp(name, "Content-Length") == 0 || strcasecmp(name, "Transfer-Encoding") == 0 ||
           strcasecmp(name, "Connection") == 0;
}

void http_reply_header(struct http_request *request, const char *name, const char *value)
{
    ASSERT(name != NULL && value != NULL);
    ASSERT(!request->started || request->ended);
    if (!http_is_token(str_from(name)) || !http_is_field_value(str_from(value)) || is_framing(name))
        return;
    size_t before = request->reply_headers.len;
    buf_printf(&request->reply_headers, "%s: %s\r\n", name, value);
    if (request->reply_headers.failed) { /* leave out this header */
        request->reply_headers.len = before;
        request->reply_headers.failed = false;
    }
}

static void put_text(struct conn *conn, const char *text)
{
    conn_put(conn, text, strlen(text));
}

void reply_put_head(struct conn *conn, int code, const char *content_type)
{
    char line[80];
    snprintf(line, sizeof line, "HTTP/1.1 %03d %s\r\n", code, reason_phrase(code));
    put_text(conn, line);
    put_text(conn, "Date: ");
    put_text(conn, server_date(conn->server));
    put_text(conn, "\r\n");
    if (content_type) {
        put_text(conn, "Content-Type: ");
        put_text(conn, content_type);
        /* No browser takes what a model or a user said for a page or a script. */
        put_text(conn, "\r\nX-Content-Type-Options: nosniff\r\n");
    }
}

/* Writes the head without its framing header and empty line, and decides whether the connection is
 * kept. */
static void start_reply(struct http_request *request, int code, const char *content_type)
{
    ASSERT(content_type == NULL || http_is_field_value(str_from(content_type)));
    struct conn *conn = request->conn;
    if (code < 200 || code > 599) /* passed on from upstream, but not a code of a final answer */
        code = 502;
    request->started = true;
    request->outcome.code = code;
    request->bodyless = request->method == HTTP_HEAD || code == 204 || code == 304;
    if (conn == NULL)
        return;
    conn->body_unread = request->body_open;
    if (!request->head.keep_alive || conn->server->stopping || conn->body_unread)
        conn->close_after = true;
    reply_put_head(conn, code, content_type);
    conn_put(conn, request->reply_headers.data, request->reply_headers.len);
}

static void put_connection(struct conn *conn, const struct http_request *request)
{
    if (conn->close_after)
        put_text(conn, "Connection: close\r\n");
    else if (!request->head.version_1_1)
        put_text(conn, "Connection: keep-alive\r\n");
}

static void end_reply(struct http_request *request)
{
    struct conn *conn = request->conn;
    request->gone_fn = NULL;
    request->drain_fn = NULL;
    request_tell_inside(request, 0, STR(""));
    free_soon(request);
    if (conn)
        conn_reply_ended(conn);
}

void http_reply(struct http_request *request, int code, const char *content_type,
                struct td_str body)
{
    if (request->ended)
        return;
    ASSERT(!request->started);
    start_reply(request, code, content_type);
    struct conn *conn = request->conn;
    request->outcome.whole = conn != NULL;
    if (conn) {
        if (code != 204 && code != 304) {
            char length[48];
            snprintf(length, sizeof length, "Content-Length: %zu\r\n", body.len);
            put_text(conn, length);
        }
        put_connection(conn, request);
        put_text(conn, "\r\n");
        if (!request->bodyless) {
            conn_put(conn, body.data, body.len);
            request->outcome.sent_bytes = body.len;
        }
    }
    request_tell_inside(request, code, body);
    end_reply(request);
}

void http_stream_start(struct http_request *request, int code, const char *content_type)
{
    if (request->ended)
        return;
    ASSERT(!request->started);
    struct conn *conn = request->conn;
    request->chunked = request->head.version_1_1;
    if (conn && !request->chunked)
        conn->close_after = true; /* for HTTP/1.0, the end of the connection ends the stream */
    start_reply(request, code, content_type);
    if (request->bodyless)
        request->chunked = false;
    if (conn == NULL)
        return;
    if (request->chunked)
        put_text(conn, "Transfer-Encoding: chunked\r\n");
    put_connection(conn, request);
    put_text(conn, "\r\n");
    conn_flush_soon(conn);
}

void http_stream_write(struct http_request *request, struct td_str bytes)
{
    if (request->ended)
        return;
    ASSERT(request->started);
    struct conn *conn = request->conn;
    if (conn == NULL || request->bodyless || bytes.len == 0) /* an empty chunk would be the end */
        return;
    if (request->chunked) {
        char size[24];
        snprintf(size, sizeof size, "%zx\r\n", bytes.len);
        put_text(conn, size);
    }
    conn_put(conn, bytes.data, bytes.len);
    request->outcome.sent_bytes += bytes.len;
    if (request->chunked)
        put_text(conn, "\r\n");
    conn_flush_soon(conn);
}

size_t http_stream_pending(const struct http_request *request)
{
    return request->conn ? evbuffer_get_length(request->conn->out) : 0;
}

void http_stream_on_drain(struct http_request *request, loop_fn *fn, void *ctx)
{
    ASSERT(request != NULL && fn != NULL);
    if (request->ended)
        return;
    request->drain_fn = fn;
    request->drain_ctx = ctx;
    if (fn && request->server && http_stream_pending(request) == 0)
        run_soon(request);
}

void http_stream_abort(struct http_request *request)
{
    if (request->ended)
        return;
    ASSERT(request->started);
    struct conn *conn = request->conn;
    if (conn)
        conn->close_after = true;
    if (conn && !request->chunked)
        conn_reset(conn);
    end_reply(request);
}

void http_stream_end(struct http_request *request)
{
    if (request->ended)
        return;
    ASSERT(request->started);
    request->outcome.whole = request->conn != NULL;
    if (request->conn && request->chunked)
        put_text(request->conn, "0\r\n\r\n");
    end_reply(request);
}

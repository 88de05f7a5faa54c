/* Requests that come from this process instead of a connection. Their heads are texts like any
 * other's and are read by the same reader, so a handler meets nothing that it does not know. */
#include "net/server/server_internal.h"

#include "base/core/str.h"

#include <string.h>

#define HEAD_BYTES_MAX 8192

static void write_head(const struct http_inside *inside, struct buf *out)
{
    buf_printf(out, "POST %s HTTP/1.1\r\nHost: localhost\r\n", inside->path);
    for (const char *const *header = inside->headers; *header; header++)
        buf_printf(out, "%s\r\n", *header);
    buf_append_str(out, STR("\r\n"));
}

struct http_request *http_inside_new(struct server *server, const struct http_inside *inside)
{
    struct buf head;
    const char *reason;
    buf_init(&head, HEAD_BYTES_MAX);
    write_head(inside, &head);
    struct http_request *request = head.failed ? NULL : request_new(server, NULL, buf_view(&head));
    size_t len = head.len;
    buf_deinit(&head);
    if (!request)
        return NULL;
    buf_append_str(&request->body, inside->body);
    if (http_head_parse(&request->head, request->head_text, len, &reason) != 0 ||
        request->body.failed) {
        request_free(request);
        return NULL;
    }
    request_set_method(request);
    request->inside_done = inside->done;
    request->inside_ctx = inside->ctx;
    return request;
}

/* What frames a body, and what only a connection can do. */
static bool is_framing(const char *name)
{
    static const char *const names[] = {"Host",   "Content-Length", "Transfer-Encoding",
                                        "Expect", "Connection",     "Content-Encoding"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_equal_nocase(str_from(name), str_from(names[i])))
            return true;
    return false;
}

struct http_request *http_inside_like(const struct http_request *from, struct td_str body,
                                      void (*done)(void *ctx, int code, struct td_str body),
                                      void *ctx)
{
    const char *lines[HTTP_HEADERS_MAX + 1] = {NULL};
    size_t places[HTTP_HEADERS_MAX], count = 0; /* the text may move while it grows */
    struct buf texts;
    if (!from->server)
        return NULL;
    buf_init(&texts, HEAD_BYTES_MAX);
    for (size_t i = 0; i < from->head.header_count; i++) {
        const struct http_header *header = &from->head.headers[i];
        if (is_framing(header->name))
            continue;
        places[count++] = texts.len;
        buf_printf(&texts, "%s: %s", header->name, header->value);
        buf_append_char(&texts, '\0');
    }
    for (size_t i = 0; i < count; i++)
        lines[i] = texts.data + places[i];
    const struct http_inside inside = {
        .path = from->head.path, .headers = lines, .body = body, .done = done, .ctx = ctx};
    struct http_request *request = texts.failed ? NULL : http_inside_new(from->server, &inside);
    buf_deinit(&texts);
    if (request && from->client && !(request->client = strdup(from->client))) {
        request_free(request);
        return NULL;
    }
    return request;
}

bool http_request_is_inside(const struct http_request *request)
{
    return request->inside;
}

void http_inside_begin(struct http_request *request)
{
    request->dispatched = true;
}

void http_inside_cancel(struct http_request *request)
{
    request->inside_done = NULL;
    request_gone(request);
}

void request_tell_inside(struct http_request *request, int code, struct td_str body)
{
    void (*done)(void *, int, struct td_str) = request->inside_done;
    request->inside_done = NULL;
    if (done)
        done(request->inside_ctx, code, body);
}

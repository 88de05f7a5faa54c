/* The bytes of a request's body: kept, dropped, or given to a sink as they come (server.h), so that
 * a file of any size needs no memory. */
#include "net/server/server_internal.h"

#include "base/core/str.h"

#include <event2/buffer.h>

struct td_str conn_input(struct conn *conn)
{
    size_t len = evbuffer_get_length(conn->in);
    const unsigned char *bytes = len ? evbuffer_pullup(conn->in, -1) : NULL;
    if (len && bytes == NULL)
        conn->broken = true;
    return (struct td_str){(const char *)bytes, bytes ? len : 0};
}

uint64_t request_bytes_max(const struct http_request *request)
{
    return request->sink.take ? request->sink.bytes_max : request->body.bytes_max;
}

static uint64_t bytes_so_far(const struct http_request *request)
{
    return request->sink.take ? request->sunk_bytes : request->body.len;
}

void http_request_set_sink(struct http_request *request, const struct http_sink *sink)
{
    request->sink = *sink;
}

void *http_request_sink(const struct http_request *request)
{
    return request->sink.ctx;
}

/* Keeps a piece of the body. The buffer remembers what goes wrong. 0, or what a sink says. */
static int body_keep(struct http_request *request, struct td_str piece, const char **reason)
{
    if (request->body_drop)
        return 0;
    if (request->sink.take) {
        request->sunk_bytes += piece.len;
        return piece.len ? request->sink.take(request->sink.ctx, piece, reason) : 0;
    }
    buf_append_str(&request->body, piece);
    body_budget_take(request->budget, piece.len);
    request->held_bytes += piece.len;
    return 0;
}

enum http_chunks_result conn_take_body(struct conn *conn, int *code, const char **reason)
{
    struct http_request *request = conn->request;
    struct td_str bytes = conn_input(conn);
    size_t taken = 0;
    enum http_chunks_result result = HTTP_CHUNKS_MORE;
    *code = 0;
    if (!request->head.chunked) {
        taken = bytes.len < request->body_left ? bytes.len : (size_t)request->body_left;
        *code = body_keep(request, str_slice(bytes, 0, taken), reason);
        request->body_left -= taken;
        result = request->body_left ? HTTP_CHUNKS_MORE : HTTP_CHUNKS_END;
    }
    while (request->head.chunked && taken < bytes.len && !*code) {
        struct td_str data = {0};
        size_t used;
        result =
            http_chunks_feed(&request->chunks, str_slice(bytes, taken, bytes.len), &used, &data);
        taken += used;
        /* The announced size of a chunk counts, too: it is refused before its bytes come. */
        if (data.len + request->chunks.left > request_bytes_max(request) - bytes_so_far(request)) {
            *reason = "the body is larger than the limit";
            *code = 413;
            return HTTP_CHUNKS_BAD;
        }
        if (result == HTTP_CHUNKS_DATA)
            *code = body_keep(request, data, reason);
        if (result == HTTP_CHUNKS_BAD || result == HTTP_CHUNKS_END)
            break;
    }
    evbuffer_drain(conn->in, taken);
    if (*code)
        return HTTP_CHUNKS_BAD;
    bool malformed = result == HTTP_CHUNKS_BAD;
    *code = malformed ? 400 : 503;
    *reason = malformed ? "a chunk of the body is malformed" : "no memory for the body";
    return request->body.failed ? HTTP_CHUNKS_BAD : result;
}

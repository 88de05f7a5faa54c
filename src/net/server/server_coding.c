/* Requests whose bodies are compressed: handlers get what was meant.
 *
 * A body is kept as it comes, and decoded when it is whole. What it becomes is known only then, so
 * the loop that read it decodes as much as a small request may have. Where there is more, the
 * request moves to the loop for large ones (server_move.c), which decodes it from the beginning:
 * some 64 KiB are decoded twice, and nothing has to be carried over. The output counts as bodies do
 * (body_budget.h). Without room for it the client is told to come again, unless nothing is in work
 * that could make room. */
#include "net/server/server_internal.h"

#include "net/server/content_coding.h"

#include <strings.h>

enum content_coding server_coding_of(const struct http_head *head)
{
    enum content_coding found = CODING_NONE;
    for (size_t i = 0; i < head->header_count; i++) {
        if (strcasecmp(head->headers[i].name, "Content-Encoding") != 0)
            continue;
        enum content_coding coding = content_coding_of(head->headers[i].value);
        if (coding != CODING_NONE)
            found = found == CODING_NONE ? coding : CODING_UNKNOWN;
    }
    return found;
}

static bool take_room(void *ctx, size_t bytes)
{
    struct http_request *request = ctx;
    if (!body_budget_has_room(request->budget) && body_budget_moves(request->budget))
        return false;
    body_budget_take(request->budget, bytes);
    request->held_bytes += bytes;
    return true;
}

static void give_back(struct http_request *request, size_t bytes)
{
    body_budget_give(request->budget, bytes, false);
    request->held_bytes -= bytes;
}

/* On success the body is the decoded one. */
static enum content_result decode(struct http_request *request, size_t bytes_max)
{
    struct buf out;
    size_t held = request->held_bytes, coded = request->body.len;
    buf_init(&out, bytes_max);
    enum content_result result =
        content_decode(request->coding, buf_view(&request->body), take_room, request, &out);
    if (result != CONTENT_OK) {
        give_back(request, request->held_bytes - held);
        buf_deinit(&out);
        return result;
    }
    out.bytes_max = request->body.bytes_max;
    buf_deinit(&request->body);
    request->body = out;
    request->coding = CODING_NONE;
    give_back(request, coded);
    return CONTENT_OK;
}

bool server_coding_is_small(struct http_request *request)
{
    return request->body.len < SERVER_LARGE_BYTES &&
           (request->coding == CODING_NONE ||
            decode(request, SERVER_LARGE_BYTES - 1) != CONTENT_TOO_LARGE);
}

static const struct {
    int code;
    const char *reason;
} faults[] = {
    [CONTENT_DAMAGED] = {400, "the body is not what its Content-Encoding says, or is damaged"},
    [CONTENT_TRUNCATED] = {400, "the compressed body ends early"},
    [CONTENT_WINDOW] = {400, "the body's zstd window is larger than 8 MB; compress it with less"},
    [CONTENT_TOO_LARGE] = {413, "the decompressed body is larger than the limit"},
    [CONTENT_NO_ROOM] = {503, "the bodies of other requests hold all the memory for bodies"},
    [CONTENT_NO_MEMORY] = {503, "no memory for the body"},
};

bool server_coding_decode(struct http_request *request, int *code, const char **reason)
{
    if (request->coding == CODING_NONE)
        return true;
    enum content_result result = decode(request, request->body.bytes_max);
    *code = faults[result].code;
    *reason = faults[result].reason;
    return result == CONTENT_OK;
}

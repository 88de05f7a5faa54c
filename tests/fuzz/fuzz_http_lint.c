/* Any bytes as a request's head, and as a chunked body. A head that is accepted must be framed in
 * one way only, and a chunked body must come to the same however it is cut. */
#include "base/core/str.h"
#include "net/server/http_lint.h"

#include <stdlib.h>
#include <string.h>

struct chunked {
    enum http_chunks_result result;
    size_t taken; /* up to the end or the fault */
    size_t body_bytes;
    uint64_t hash;
};

static struct chunked read_chunks(struct td_str bytes, size_t step)
{
    struct http_chunks chunks = {0};
    struct chunked read = {.result = HTTP_CHUNKS_MORE};
    size_t at = 0;
    while (at < bytes.len && read.result != HTTP_CHUNKS_END && read.result != HTTP_CHUNKS_BAD) {
        struct td_str data = {0};
        size_t used = 0;
        read.result = http_chunks_feed(&chunks, str_slice(bytes, at, at + step), &used, &data);
        if (used == 0)
            abort(); /* would loop for ever */
        at += used;
        read.body_bytes += data.len;
        for (size_t i = 0; i < data.len; i++)
            read.hash = read.hash * 31 + (unsigned char)data.data[i];
    }
    if (read.result == HTTP_CHUNKS_DATA) /* the last bytes were data or not: the same */
        read.result = HTTP_CHUNKS_MORE;
    read.taken = at;
    return read;
}

static void check_head(const struct http_head *head)
{
    if (!http_is_token(str_from(head->method)) || head->path == NULL ||
        (head->chunked && (head->has_length || head->content_length)))
        abort();
    size_t hosts = 0, lengths = 0;
    for (size_t i = 0; i < head->header_count; i++) {
        struct td_str name = str_from(head->headers[i].name);
        if (!http_is_token(name) || !http_is_field_value(str_from(head->headers[i].value)))
            abort();
        hosts += str_equal_nocase(name, STR("host"));
        lengths += str_equal_nocase(name, STR("content-length"));
    }
    if (hosts > 1 || lengths > 1 || (hosts == 0 && head->version_1_1))
        abort();
}

static void read_head(struct td_str bytes, size_t step)
{
    size_t whole_scanned = 0, cut_scanned = 0, cut_end = 0;
    size_t end = http_head_end(bytes, &whole_scanned);
    for (size_t len = step; cut_end == 0 && len < bytes.len + step; len += step)
        cut_end = http_head_end(str_slice(bytes, 0, len), &cut_scanned);
    if (end != cut_end)
        abort();
    if (end == 0)
        return;
    char *text = malloc(end + 1);
    struct http_head *head = malloc(sizeof *head);
    struct http_header *headers = malloc(HTTP_HEADERS_MAX * sizeof *headers);
    const char *reason = NULL;
    if (text == NULL || head == NULL || headers == NULL)
        abort();
    memcpy(text, bytes.data, end);
    *head = (struct http_head){.headers = headers, .headers_max = HTTP_HEADERS_MAX};
    int code = http_head_parse(head, text, end, &reason);
    if (code == 0)
        check_head(head);
    else if (code < 400 || code > 505 || reason == NULL)
        abort();
    free(head);
    free(headers);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t step = 1 + data[0] % 7;
    struct td_str bytes = {(const char *)data + 1, size - 1};
    read_head(bytes, step);
    struct chunked whole = read_chunks(bytes, bytes.len), cut = read_chunks(bytes, step);
    if (whole.result != cut.result || whole.taken != cut.taken ||
        whole.body_bytes != cut.body_bytes || whole.hash != cut.hash)
        abort();
    return 0;
}

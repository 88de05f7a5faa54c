/* Strict framing of HTTP/1.1 requests (RFC 9110, RFC 9112). It refuses a request that a proxy
 * before us may have understood differently. No state except the structs, no allocation; any
 * thread.
 *
 * Refused, although lenient servers accept them: bare LF; folded headers; white space around a
 * header's name; NUL and other control bytes; no Host or two; Content-Length that is not plain
 * digits or comes twice; Content-Length with Transfer-Encoding; any transfer coding except one
 * "chunked"; chunk sizes with other characters than hexadecimal digits; broken percent encodings;
 * fragments and dot segments in the path. */
#ifndef NET_HTTP_LINT_H
#define NET_HTTP_LINT_H

#include "tandem/types.h"

#define HTTP_HEADERS_MAX 100 /* browsers send about 20 */

struct http_header {
    const char *name;
    const char *value; /* trimmed */
};

struct http_head {
    const char *method;
    const char *path;            /* decoded */
    const char *query;           /* raw, or NULL */
    struct http_header *headers; /* [header_count]; room for headers_max is the caller's */
    size_t header_count, headers_max;
    uint64_t content_length; /* 0 when absent or chunked */
    bool has_length;
    bool chunked;
    bool keep_alive;
    bool expect_continue;
    bool version_1_1; /* else 1.0 */
};

/* The length of the head, with its empty line; 0 = not complete yet. *scanned belongs to the caller
 * and is 0 at first: the bytes that were searched before. */
size_t http_head_end(struct td_str bytes, size_t *scanned);

/* Reads a complete head in place: text[len] must be writable, and `head` **borrows** from text.
 * The caller has set headers and headers_max; all else is written. Returns 0, or the HTTP code to
 * refuse with and a reason. */
TD_MUST_CHECK int http_head_parse(struct http_head *head, char *text, size_t len,
                                  const char **reason);

/* The first header of this name, in any case of letters; NULL when there is none. */
const char *http_head_find(const struct http_head *head, const char *name);

/* Whether a name or a value may be written into a head. */
bool http_is_token(struct td_str text);
bool http_is_field_value(struct td_str text);

/* Reads a chunked body, fed in pieces that are cut anywhere. Start with {0}. */
struct http_chunks {
    uint64_t left;       /* bytes of the current chunk that are still to come */
    uint32_t line_bytes; /* of the current size line, or of all trailers */
    uint8_t digits;      /* of the chunk size so far */
    uint8_t state;
};

enum http_chunks_result {
    HTTP_CHUNKS_MORE, /* all bytes taken; the body goes on */
    HTTP_CHUNKS_DATA, /* *data is a piece of the body; feed the rest again */
    HTTP_CHUNKS_END,  /* the body is complete; the rest belongs to the next request */
    HTTP_CHUNKS_BAD   /* refuse with 400 */
};

/* Reads *used of the bytes; *data borrows from them. */
enum http_chunks_result http_chunks_feed(struct http_chunks *chunks, struct td_str bytes,
                                         size_t *used, struct td_str *data);

#endif

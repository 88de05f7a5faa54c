/* Strict framing of HTTP/1.1 requests (RFC 9110, RFC 9112): what we answer is what every proxy
 * before us understood, or it is refused. No state but the structs; no allocation; any thread.
 *
 * Refused, where lenient servers guess: bare LF, obs-fold, white space around a header's name, NUL
 * and other control bytes, no Host or two, Content-Length that is not plain digits or is there
 * twice, Content-Length with Transfer-Encoding, any transfer coding but one "chunked", chunk sizes
 * with anything but hex digits, broken percent encodings, fragments and dot segments in the
 * path. */
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
    const char *path;  /* decoded */
    const char *query; /* raw, or NULL */
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t header_count;
    uint64_t content_length; /* 0 when absent or chunked */
    bool has_length;
    bool chunked;
    bool keep_alive;
    bool expect_continue;
    bool version_1_1; /* else 1.0 */
};

/* How many of the bytes belong to the head, its blank line included; 0 = not whole yet. *scanned is
 * the caller's, 0 at first: the bytes that need not be looked at again. */
size_t http_head_end(struct td_str bytes, size_t *scanned);

/* Reads a whole head in place: text[len] must be writable and `head` borrows from text. Returns 0,
 * or the code to refuse with and a reason. */
TD_MUST_CHECK int http_head_parse(struct http_head *head, char *text, size_t len,
                                  const char **reason);

/* The first header of this name (any case), or NULL. */
const char *http_head_find(const struct http_head *head, const char *name);

/* Names and values that may be written into a head. */
bool http_is_token(struct td_str text);
bool http_is_field_value(struct td_str text);

/* A chunked body, fed in pieces cut anywhere. Start with {0}. */
struct http_chunks {
    uint64_t left;       /* bytes of the current chunk still to come */
    uint32_t line_bytes; /* of the current size line, or of all trailers */
    uint8_t digits;      /* of the chunk size so far */
    uint8_t state;
};

enum http_chunks_result {
    HTTP_CHUNKS_MORE, /* all taken, the body goes on */
    HTTP_CHUNKS_DATA, /* *data is a piece of the body; feed the rest again */
    HTTP_CHUNKS_END,  /* the body is whole; what is left belongs to the next request */
    HTTP_CHUNKS_BAD   /* refuse with 400 */
};

/* Takes *used of the bytes; *data points into them. */
enum http_chunks_result http_chunks_feed(struct http_chunks *chunks, struct td_str bytes,
                                         size_t *used, struct td_str *data);

#endif

/* Codings of a request's body (RFC 9110, section 8.4; RFC 9659 for zstd): which one a header names,
 * and the body without it. No state; any thread. */
#ifndef NET_CONTENT_CODING_H
#define NET_CONTENT_CODING_H

#include "base/bytes/buf.h"

enum content_coding {
    CODING_NONE,
    CODING_GZIP,
    CODING_DEFLATE, /* zlib's format, or its bare stream, which some clients send */
    CODING_ZSTD,
    CODING_UNKNOWN /* or several: nobody sends them, and each would multiply the size */
};

/* What an answer may offer as Accept-Encoding. */
#define CONTENT_CODINGS "gzip, deflate, zstd"

/* Of a Content-Encoding header; NULL and an empty one are none. */
enum content_coding content_coding_of(const char *header);

enum content_result {
    CONTENT_OK,
    CONTENT_DAMAGED,   /* it is no such stream, or has something after its end */
    CONTENT_TRUNCATED, /* it ends early */
    CONTENT_WINDOW,    /* zstd: its writer wanted a larger window than RFC 9659 allows */
    CONTENT_TOO_LARGE, /* more than out->bytes_max */
    CONTENT_NO_ROOM,   /* `room` said no */
    CONTENT_NO_MEMORY
};

/* Asked before each piece of the output; NULL = there is always room. */
typedef bool content_room_fn(void *ctx, size_t bytes);

/* Appends the decoded bytes to `out`, which is empty, piece by piece and never more than its
 * maximum. After a failure its contents mean nothing. */
enum content_result content_decode(enum content_coding coding, struct td_str bytes,
                                   content_room_fn *room, void *ctx, struct buf *out);

#endif

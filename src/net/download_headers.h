/* What the headers of one HTTP answer say about a file. Pure functions on hostile bytes: nothing is
 * believed that does not parse whole. */
#ifndef NET_DOWNLOAD_HEADERS_H
#define NET_DOWNLOAD_HEADERS_H

#include "tandem/types.h"

#define DOWNLOAD_TAG_BYTES 256
#define DOWNLOAD_SHA256_HEX 64

struct download_headers {
    bool has_length; /* Content-Length */
    uint64_t length;
    bool has_range; /* Content-Range: bytes begin-end/total, end exclusive here */
    uint64_t begin, end, total;
    bool total_alone; /* Content-Range gave the total alone, as a 416 does */
    char validator
        [DOWNLOAD_TAG_BYTES]; /* strong ETag, else Last-Modified; "" = none: for If-Range */
    char sha256[DOWNLOAD_SHA256_HEX + 1]; /* lower-case; X-Linked-ETag of Hugging Face; "" = none */
    bool is_etag;                         /* validator is an ETag */
    bool encoded; /* Content-Encoding other than identity: not the file's bytes */
};

/* One header line, with or without its line end, into *headers (zeroed before the first). Unknown
 * and malformed lines change nothing. A status line begins a new answer and forgets what was
 * before. */
void download_headers_feed(struct download_headers *headers, struct td_str line);

/* 64 hex digits, in either case, optionally quoted: into out in lower case. */
bool download_sha256_parse(struct td_str text, char out[static DOWNLOAD_SHA256_HEX + 1]);

#endif

/* What the headers of one HTTP answer say about a file. Pure functions on hostile bytes: a header
 * that does not parse completely is ignored. Any thread. */
#ifndef NET_DOWNLOAD_HEADERS_H
#define NET_DOWNLOAD_HEADERS_H

#include "tandem/types.h"

#define DOWNLOAD_TAG_BYTES 256
#define DOWNLOAD_SHA256_HEX 64

struct download_headers {
    bool has_length; /* Content-Length */
    uint64_t length;
    bool has_range; /* Content-Range: bytes begin-end/total; `end` is exclusive here */
    uint64_t begin, end, total;
    bool total_alone; /* Content-Range gave only the total, as in a 416 */
    char validator
        [DOWNLOAD_TAG_BYTES]; /* for If-Range: the strong ETag, else Last-Modified; "" = none */
    char sha256[DOWNLOAD_SHA256_HEX + 1]; /* X-Linked-ETag of Hugging Face; "" = none */
    bool is_etag;                         /* the validator is an ETag */
    bool encoded; /* a Content-Encoding other than identity: the bytes are not the file's */
};

/* Reads one header line, with or without its line end, into *headers (zeroed before the first
 * line). Unknown and malformed lines change nothing. A status line begins a new answer and clears
 * what came before. */
void download_headers_feed(struct download_headers *headers, struct td_str line);

/* Reads 64 hexadecimal digits in either case, perhaps quoted; writes them to out in lower case. */
bool download_sha256_parse(struct td_str text, char out[static DOWNLOAD_SHA256_HEX + 1]);

#endif

/* Server-sent events (WHATWG HTML, 9.2): reading streams cut at any byte, and writing. */
#ifndef NET_SSE_H
#define NET_SSE_H

#include "base/buf.h"

struct sse_reader {
    struct buf line;  /* unfinished line */
    struct buf data;  /* data of the unfinished event */
    struct buf event; /* its name */
    bool skip_lf;     /* after a CR at the end of a chunk */
    bool started;     /* a BOM at the very start was looked for */
};

/* Both views are valid during the call only; it must not deinit the reader. */
typedef void sse_fn(void *ctx, struct td_str event, struct td_str data);

void sse_reader_init(struct sse_reader *reader, size_t event_bytes_max);
void sse_reader_deinit(struct sse_reader *reader);
/* TD_LIMIT when one event is larger than the maximum; nothing more may be fed then. */
TD_MUST_CHECK enum td_status sse_reader_feed(struct sse_reader *reader, struct td_str bytes,
                                             sse_fn *fn, void *ctx, struct td_error *err);

/* An event: sse_begin, data in one line (such as compact JSON), sse_end. name NULL: without one. */
void sse_begin(struct buf *out, const char *name);
void sse_end(struct buf *out);

#endif

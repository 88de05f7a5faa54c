/* Server-sent events (WHATWG HTML, 9.2): reading streams that are cut at any byte, and writing. One
 * owner, one thread. */
#ifndef NET_SSE_H
#define NET_SSE_H

#include "base/bytes/buf.h"

struct sse_reader {
    struct buf line;  /* the unfinished line */
    struct buf data;  /* the data of the unfinished event */
    struct buf event; /* its name */
    bool skip_lf;     /* after a CR at the end of a chunk */
    bool started;     /* the BOM at the start was looked for */
};

/* Both views are valid during the call only. The call must not deinit the reader. */
typedef void sse_fn(void *ctx, struct td_str event, struct td_str data);

void sse_reader_init(struct sse_reader *reader, size_t event_bytes_max);
void sse_reader_deinit(struct sse_reader *reader);
/* TD_LIMIT when an event is larger than the maximum; feed nothing more afterwards. */
TD_MUST_CHECK enum td_status sse_reader_feed(struct sse_reader *reader, struct td_str bytes,
                                             sse_fn *fn, void *ctx, struct td_error *err);

/* Writes an event: sse_begin, its data in one line (compact JSON), sse_end. name NULL: no name. */
void sse_begin(struct buf *out, const char *name);
void sse_end(struct buf *out);

#endif

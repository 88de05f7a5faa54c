/* The trace of one request, as W3C's Trace Context (https://www.w3.org/TR/trace-context-1) writes
 * it: a trace id that all systems on the way share, and a span id for each piece of work.
 *
 * A request has a span; each attempt on a tier has one of its own under it. Plain data; any
 * thread. */
#ifndef BASE_TRACE_H
#define BASE_TRACE_H

#include "tandem/types.h"

#define TRACE_ID_BYTES 33     /* 32 hex digits, NUL */
#define TRACE_SPAN_BYTES 17   /* 16 hex digits, NUL */
#define TRACE_HEADER_BYTES 56 /* "00-TRACE-SPAN-01", NUL */
#define TRACE_STATE_MAX 512   /* characters of a tracestate that are passed on, as W3C asks */

struct trace {
    char id[TRACE_ID_BYTES];
    char span[TRACE_SPAN_BYTES];
    char parent[TRACE_SPAN_BYTES]; /* the caller's span; "" = it sent none */
    uint8_t flags;
    bool restarted; /* a header came, and was malformed */
};

/* Goes on with the trace of a traceparent header. Begins a new one where there is none (NULL) or it
 * is malformed, as W3C asks. */
void trace_begin(struct trace *trace, const char *header);
/* The id of the number-th span under the trace's own, from 1. */
void trace_child(const struct trace *trace, uint32_t number, char out[static TRACE_SPAN_BYTES]);
/* The header that names this span as the parent of what follows. */
void trace_write(const struct trace *trace, const char *span, char out[static TRACE_HEADER_BYTES]);

#endif

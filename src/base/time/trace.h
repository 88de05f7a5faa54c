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

/* Writes the time, to a minute or so, over the first TRACE_TIME_DIGITS hex digits of a random name.
 * Names of one time are neighbours then in an index of the ledger: a page of it is written once for
 * many rows that come, or go, together, and not once for each. The digits come again after two
 * years; the others are random. */
#define TRACE_TIME_DIGITS 5
void trace_mark_time(char *digits);

/* Goes on with the trace of a traceparent header. Begins a new one where there is none (NULL) or it
 * is malformed, as W3C asks. */
void trace_begin(struct trace *trace, const char *header);
/* The id of the number-th span under the trace's own, from 1. */
void trace_child(const struct trace *trace, uint32_t number, char out[static TRACE_SPAN_BYTES]);
/* The header that names this span as the parent of what follows. */
void trace_write(const struct trace *trace, const char *span, char out[static TRACE_HEADER_BYTES]);

#endif

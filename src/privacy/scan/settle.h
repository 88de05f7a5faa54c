/* Settles findings that overlap, and hands them on in order. One owner: a pass. */
#ifndef PRIVACY_SETTLE_H
#define PRIVACY_SETTLE_H

#include "privacy/kind/spans.h"

/* A mail address's local part reaches at most 512 bytes back; within them there is no room for more
 * findings that could still grow than SETTLE_KEPT. When the list is full the older ones go out. */
#define SETTLE_MAX 64
#define SETTLE_KEPT 16

struct settle {
    struct td_str text;
    span_fn *emit;
    void *ctx;
    struct privacy_span pending[SETTLE_MAX]; /* by position, not overlapping */
    size_t pending_count;
    size_t floor; /* end of what has gone out */
};

/* ctx: struct settle. A span_fn: the next finding, at about the place of the ones before. */
void settle_add(void *ctx, const struct privacy_span *span);
/* All findings go out. */
void settle_finish(struct settle *settle);

#endif

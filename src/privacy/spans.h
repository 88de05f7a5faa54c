/* A growing list of findings, as a scan's receiver. One owner. */
#ifndef PRIVACY_SPANS_H
#define PRIVACY_SPANS_H

#include "privacy/privacy.h"

struct spans {
    struct privacy_span *spans; /* from malloc; NULL: none yet */
    size_t count, capacity;
    bool failed; /* without memory: some are missing */
};

/* ctx: struct spans. A scan_fn. */
void spans_add(void *ctx, const struct privacy_span *span);

#endif

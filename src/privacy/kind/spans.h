/* A finding: where in a text a private value stands and what it is; and a growing list of them. One owner. */
#ifndef PRIVACY_SPANS_H
#define PRIVACY_SPANS_H

#include "base/names.h"
#include "privacy/kind/kind.h"

struct privacy_span {
    enum privacy_kind kind;
    size_t begin, end;             /* bytes */
    float score;                   /* 0..1 */
    enum td_data_class data_class; /* at least the kind's; a date of birth is more than a date */
    uint16_t rule;                 /* PRIVACY_CUSTOM: whose finding it is (rules.h) */
};

struct spans {
    struct privacy_span *spans; /* from malloc; NULL: none yet */
    size_t count, capacity;
    bool failed; /* without memory: some are missing */
};

/* ctx: struct spans. A scan_fn (scan/scan.h). */
void spans_add(void *ctx, const struct privacy_span *span);

#endif

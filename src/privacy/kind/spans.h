/* A finding says where a private value stands in a text, and of what kind it is. Also a list of
 * findings that grows. One owner. */
#ifndef PRIVACY_SPANS_H
#define PRIVACY_SPANS_H

#include "base/text/names.h"
#include "privacy/kind/kind.h"

struct privacy_span {
    enum privacy_kind kind;
    size_t begin, end;             /* bytes */
    float score;                   /* 0..1 */
    enum td_data_class data_class; /* at least the kind's; a date of birth is more than a date */
    bool guessed; /* a name, or a street that only the tagger sees: nothing checks it */
    /* PRIVACY_CUSTOM: the name of the operator's rule, **borrowed** from the scanner; else NULL. */
    const char *rule;
};

/* What a finding is called: its kind's name, or the operator's for a rule of theirs. */
const char *span_name(const struct privacy_span *span);

struct spans {
    struct privacy_span *spans; /* from malloc; NULL: none yet */
    size_t count, capacity;
    bool failed; /* without memory: some are missing */
};

/* Takes one finding after another. */
typedef void span_fn(void *ctx, const struct privacy_span *span);
/* ctx: struct spans. A span_fn. */
void spans_add(void *ctx, const struct privacy_span *span);

#endif

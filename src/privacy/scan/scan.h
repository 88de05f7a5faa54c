/* The pass over a text that privacy.c offers in its two forms. Pure; any thread. */
#ifndef PRIVACY_SCAN_H
#define PRIVACY_SCAN_H

#include "privacy/names/name_finder.h"
#include "privacy/scan/privacy.h"

/* What is told of a text from elsewhere. */
struct scan_beside {
    const struct name_finder *names;
    /* Findings of other sources, by their begin; they are settled with those of the pass. */
    const struct privacy_span *others;
    size_t other_count;
    bool strict;                     /* names that are only likely count too */
    const struct reading *reading;   /* whose text it is; NULL: one text */
    const struct rereader *rereader; /* NULL: nobody asks */
};

/* Calls emit for every finding, in order, not overlapping. */
void scan_text(struct td_str text, const struct scan_beside *beside, span_fn *emit, void *ctx);

struct place; /* detect.h */
/* The same without looking into encoded text: what is decoded is scanned by this. around: where it
 * stood; the words that announce something there announce it inside too. */
void scan_plain(struct td_str text, const struct place *around, span_fn *emit, void *ctx);

#endif

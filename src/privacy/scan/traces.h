/* What a strict scan takes beside the findings, where a name that is missed costs more than a word
 * that is none. Two traces: the parts of names that were found, wherever they stand again, in small
 * letters too; and what looks like a number of somebody or something (eight digits, or five with
 * capitals). Any thread. */
#ifndef PRIVACY_TRACES_H
#define PRIVACY_TRACES_H

#include "privacy/scan/scan.h"

/* found: in order, not overlapping. Calls emit for what stands outside of them, in order. False
 * without memory. */
TD_MUST_CHECK bool traces_find(const struct name_finder *names, struct td_str text,
                               const struct spans *found, span_fn *emit, void *ctx);

#endif

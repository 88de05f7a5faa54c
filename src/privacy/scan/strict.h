/* Recall first: what a scan takes beside its findings where a name that is missed costs more than a word that
 * is none. Names that were found once are found wherever they stand, by their parts, in lower case too; and
 * what looks like a number of somebody or something: eight digits, or capitals with five. Any thread. */
#ifndef PRIVACY_STRICT_H
#define PRIVACY_STRICT_H

#include "privacy/scan/scan.h"

/* found: in order, not overlapping. Calls emit for what stands outside of them, in order. False without
 * memory. */
TD_MUST_CHECK bool strict_find(const struct name_finder *names, struct td_str text,
                               const struct spans *found, span_fn *emit, void *ctx);

#endif

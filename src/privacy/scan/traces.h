/* What a strict scan finds in addition. It is for masking, where a missed name costs more than an
 * ordinary word that is replaced. There are two kinds of traces. One is parts of names that were
 * found, wherever they occur again, also in lower case. The other is numbers that may belong to a
 * person or a thing: eight digits, or five with capitals. Any thread. */
#ifndef PRIVACY_TRACES_H
#define PRIVACY_TRACES_H

#include "privacy/scan/scan.h"

/* found: in order, not overlapping. Calls emit for what stands outside of them, in order. False
 * without memory. */
TD_MUST_CHECK bool traces_find(const struct name_finder *names, struct td_str text,
                               const struct spans *found, span_fn *emit, void *ctx);

#endif

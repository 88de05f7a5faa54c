/* Private values that show only when JSON's escapes are read (text/escaped.h). Any thread. */
#ifndef PRIVACY_ESCAPED_FIND_H
#define PRIVACY_ESCAPED_FIND_H

#include "privacy/kind/spans.h"

struct privacy_scanner;

/* Reads the escapes in the text, up to three levels of them, and adds what it finds to *spans.
 * *spans is an array of *count from malloc, or NULL; it is grown and ordered by begin. strict: as
 * scan_text. rereader (may be NULL): is told what is read. False without memory. */
struct rereader;
TD_MUST_CHECK bool escaped_find(const struct privacy_scanner *scanner, struct td_str text,
                                bool strict, const struct rereader *rereader,
                                struct privacy_span **spans, size_t *count);

#endif

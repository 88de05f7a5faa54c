/* Numbers that are not written as numbers are: in unusual groups, or within a word. Pure; any
 * thread. */
#ifndef PRIVACY_REGROUP_H
#define PRIVACY_REGROUP_H

#include "privacy/detect/detect.h"

/* "4111 | 1111 | 1111 | 1111": scans the numbers of a row that begins at the place without what
 * stands between them. announced: some word before says what it is. Answers where the row ends. */
size_t regroup_scan_row(const struct place *place, bool announced, span_fn *emit, void *ctx);
/* "Visa4111111111111111": scans the word at the place as the words and numbers that it is made of.
 */
void regroup_scan_word(const struct place *place, span_fn *emit, void *ctx);

#endif

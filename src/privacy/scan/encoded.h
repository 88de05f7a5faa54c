/* Private values in text that is encoded in base64 or with %-escapes. Pure; any thread. */
#ifndef PRIVACY_ENCODED_H
#define PRIVACY_ENCODED_H

#include "privacy/detect/detect.h"

/* Scans the value with %-escapes around the place, which begins at `floor` or later. Returns its
 * end. Findings have the offsets of the escaped text. Words that announce something at the place
 * announce it inside as well: "my SSN is MTIzLTQ1LTY3ODk=". */
size_t encoded_scan_escaped(const struct place *place, size_t floor, span_fn *emit, void *ctx);

enum encoded_base64 { BASE64_NO_TEXT, BASE64_TEXT };
/* If the characters from the place on are text in base64, scans it, and *end is the offset after
 * them. Otherwise *end is the offset of the first bytes that are not text, or the place itself. The
 * caller can skip the places before *end that are a multiple of four characters away: they decode
 * to the same bytes. */
enum encoded_base64 encoded_scan_base64(const struct place *place, size_t *end, span_fn *emit,
                                        void *ctx);

#endif

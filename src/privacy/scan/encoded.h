/* Private values in encoded text. Pure; any thread. */
#ifndef PRIVACY_ENCODED_H
#define PRIVACY_ENCODED_H

#include "privacy/detect/detect.h"

/* Scans the value with %-escapes around the place, not reaching before `floor`; answers where it
 * ends. Findings have the offsets of the escaped text. What is announced at the place is announced
 * inside as well: "my SSN is MTIzLTQ1LTY3ODk=". */
size_t encoded_scan_escaped(const struct place *place, size_t floor, span_fn *emit, void *ctx);

enum encoded_base64 { BASE64_NO_TEXT, BASE64_TEXT };
/* If the characters from the place on are text in base64, scans it; *end: after them. Otherwise
 * *end is where the first bytes stand that are no text, or the place itself: what begins a multiple
 * of four characters further on decodes to the same bytes and need not be tried before it. */
enum encoded_base64 encoded_scan_base64(const struct place *place, size_t *end, span_fn *emit,
                                        void *ctx);

#endif

/* What is hidden by spelling or encoding. Pure; any thread. */
#ifndef PRIVACY_DETECT_HIDDEN_H
#define PRIVACY_DETECT_HIDDEN_H

#include "privacy/detect/detect.h"
#include "privacy/scan/scan.h"

/* place: at the word "dot" that ends at word_end. */
bool detect_spelled_email(const struct place *place, size_t word_end, struct privacy_span *out);
/* place: at the first label of a host that ends at `host_end`; "ann.lee at example.com" where a word says
 * that an address follows. */
bool detect_at_host(const struct place *place, size_t host_end, struct privacy_span *out);
/* place: at the word "at" behind an opening bracket. */
bool detect_bracketed_email(const struct place *place, size_t word_end, struct privacy_span *out);

/* Scans the value with %-escapes around the place, not reaching before `floor`; answers where it ends.
 * Findings have the offsets of the escaped text. What is announced at the place is announced inside as
 * well: "my SSN is MTIzLTQ1LTY3ODk=". */
size_t scan_escaped(const struct place *place, size_t floor, scan_fn *emit, void *ctx);

enum base64_text { BASE64_NO_TEXT, BASE64_TEXT };
/* If the characters from the place on are text in base64, scans it; *end: behind them. Else *end is where
 * the first bytes stand that are no text, or the place itself: what begins a multiple of four characters
 * further on decodes to the same bytes and need not be tried before it. */
enum base64_text scan_base64(const struct place *place, size_t *end, scan_fn *emit, void *ctx);

#endif

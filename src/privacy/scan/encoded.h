/* Private values in text that is encoded: with escapes, in base64 and its like, as codes of
 * characters. Findings have the offsets of the encoded text. Words that announce something at the
 * place announce it inside as well: "my SSN is MTIzLTQ1LTY3ODk=". Pure; any thread. */
#ifndef PRIVACY_ENCODED_H
#define PRIVACY_ENCODED_H

#include "privacy/detect/detect.h"

/* Scans the value with escapes around the place, where a '%' or (quoted-printable) a '=' with two
 * hex digits stands. The value begins at `floor` or later. Returns its end, or the place when it
 * has no escape. */
size_t encoded_scan_escaped(const struct place *place, size_t floor, span_fn *emit, void *ctx);

enum encoded_alphabet { ENCODED_HEX, ENCODED_BASE32, ENCODED_BASE64 };
enum encoded_result { ENCODED_NO_TEXT, ENCODED_TEXT };
/* If the characters from the place on are text in this alphabet, scans it, and *end is the offset
 * after them. Otherwise *end is the offset of the first bytes that are not text, or the place
 * itself. The caller can skip the places before *end that decode to the same bytes: in base64
 * those a multiple of four characters away. */
enum encoded_result encoded_scan_alphabet(const struct place *place, enum encoded_alphabet which,
                                          size_t *end, span_fn *emit, void *ctx);

/* "52 49 49", "0x34, 0x31": scans what the codes from the place on say. Answers where they end. */
size_t encoded_scan_codes(const struct place *place, span_fn *emit, void *ctx);

#endif

/* UTF-8 (RFC 3629): validation, code points, and cutting streams only between characters. Pure; any
 * thread. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "tandem/types.h"

/* The offset of the first byte that is not valid UTF-8; text.len when all bytes are. */
size_t utf8_valid_prefix(struct td_str text);
static inline bool utf8_is_valid(struct td_str text)
{
    return utf8_valid_prefix(text) == text.len;
}
/* Decodes the character at text.data[*offset] and moves *offset past it. An invalid byte gives
 * 0xFFFD and counts as one byte. */
uint32_t utf8_next(struct td_str text, size_t *offset);
/* Where the valid character begins that the byte at `offset` continues; `offset` itself when it
 * continues none. */
size_t utf8_character_begin(struct td_str text, size_t offset);
size_t utf8_encode(uint32_t code_point, char out[static 4]); /* bytes written, 0 if not encodable */
/* The length of the longest prefix that does not end inside a character. */
size_t utf8_complete_len(struct td_str text);

#endif

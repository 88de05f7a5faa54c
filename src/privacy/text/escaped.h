/* Texts that hold another text with escapes: of JSON, as the arguments of a tool call do, or of a
 * program ("\x34", "\064"). Escapes hide private values: "\u00f8" may stand in the word that
 * announces a number, in a name, or in the value itself, and "\n" puts an n in front of the next
 * word. Pure; any thread. */
#ifndef PRIVACY_ESCAPED_H
#define PRIVACY_ESCAPED_H

#include "tandem/types.h"

struct buf;

/* The offset of the next escape that may hide something, or SIZE_MAX. */
size_t escaped_next(struct td_str text, size_t from);
/* Does an escape end at the offset? */
bool escaped_ends_at(struct td_str text, size_t offset);
/* Reads every escape once and writes the text to out[text.len]. Other bytes are copied.
 * origin[text.len + 1] gets the offset from which each byte came. `from` has such offsets of an
 * earlier reading; NULL: those of the text. out may be the text itself and origin may be `from`.
 * Returns the length, which is at most text.len. */
size_t escaped_read(struct td_str text, const uint32_t *from, char *out, uint32_t *origin);
/* Appends a value with its escaped letters decoded. Quotes, backslashes and control characters stay
 * escaped, so that the result can replace the value in its text. */
void escaped_value(struct td_str value, struct buf *out);

#endif

/* Texts that hold another text with JSON's escapes in it, as the arguments of a tool call do. A
 * letter that is written \u00f8 hides the word that announces a number, a name, or the value
 * itself; a line's end that is written \n joins a letter to the word after it. */
#ifndef PRIVACY_ESCAPED_H
#define PRIVACY_ESCAPED_H

#include "tandem/types.h"

struct buf;

/* Where, from the offset on, an escape stands that may hide something; SIZE_MAX when there is none.
 */
size_t escaped_next(struct td_str text, size_t from);
/* Does an escape end at the offset? */
bool escaped_ends_at(struct td_str text, size_t offset);
/* The text with all escapes of JSON read once, wherever they stand, into out[text.len]; what is no
 * escape stays. origin[text.len + 1]: where each byte stood, by the numbers in `from` (NULL: those
 * of the text); out may be the text itself and origin may be `from`. Returns the length, which is
 * never more. */
size_t escaped_read(struct td_str text, const uint32_t *from, char *out, uint32_t *origin);
/* Appends a value with its escaped letters as they are; quotes, backslashes and control characters
 * stay escaped, so that it may stand where the value stood. */
void escaped_value(struct td_str value, struct buf *out);

#endif

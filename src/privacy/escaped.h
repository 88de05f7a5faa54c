/* Texts that hold another text with JSON's escapes in it, as the arguments of a tool call do. A letter
 * that is written \u00f8 hides the word that announces a number, and a name. */
#ifndef PRIVACY_ESCAPED_H
#define PRIVACY_ESCAPED_H

#include "tandem/types.h"

/* Has it escaped letters? */
bool escaped_is_any(struct td_str text);
/* The text with all escapes of JSON read once, wherever they stand, into out[text.len]. Returns its
 * length, which is never more. What is no escape stays. */
size_t escaped_read(struct td_str text, char *out);

#endif

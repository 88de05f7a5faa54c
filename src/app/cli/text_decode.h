/* Texts of files in other encodings than UTF-8, as spreadsheets and old programs write them. */
#ifndef APP_TEXT_DECODE_H
#define APP_TEXT_DECODE_H

#include "base/bytes/buf.h"

/* Valid, and not UTF-16 of Latin letters without its mark, which is valid UTF-8 full of zeros. */
bool text_is_utf8(struct td_str bytes);
/* Appends the text as UTF-8: UTF-8 itself, UTF-16 that begins with its mark or whose every second
 * byte is mostly zero, or else Latin-1. A control character becomes a space. TD_UNSUPPORTED,
 * without words: it is no text (more than one character of a hundred is such a one). TD_LIMIT: it
 * is too large for the buffer or for the memory. */
TD_MUST_CHECK enum td_status text_decode(struct td_str bytes, struct buf *out,
                                         struct td_error *err);

#endif

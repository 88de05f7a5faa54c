/* What was typed in earlier conversations, in a file that only its owner may read: mode 0600, one
 * text a line, a line end in it written as \n and a backslash as \\. A file of another user, or one
 * that is a link, is refused: it is neither read nor written. The oldest texts go when there are
 * too many. Several programs may add to it at a time. Main thread. */
#ifndef APP_HISTORY_FILE_H
#define APP_HISTORY_FILE_H

#include "base/bytes/buf.h"

#define HISTORY_TEXTS_MAX 1000
#define HISTORY_TEXT_BYTES_MAX (16u << 10) /* a longer text is not kept */

/* Reads one line of the file. False: it has no such form, or is too long. `out` is cleared. */
bool history_file_decode(struct td_str line, struct buf *out);

/* Gives each text, oldest first. The view is valid during the call only. A missing file has none.
 * TD_DENIED: it belongs to somebody else. TD_IO, TD_LIMIT. */
TD_MUST_CHECK enum td_status history_file_read(const char *path,
                                               void (*each)(void *ctx, struct td_str text),
                                               void *ctx, struct td_error *err);

/* Adds a text at the end; makes the file when it is missing. The same failures. */
TD_MUST_CHECK enum td_status history_file_add(const char *path, struct td_str text,
                                              struct td_error *err);

#endif

/* Opens files to read them, and replaces files as a whole. Any thread. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "tandem/types.h"

/* Opens a regular file to read it. Anything else is refused at once: a FIFO would wait for whoever
 * writes to it, and a device may have no end. `flags` are further ones of open(2). *bytes: its
 * size; may be NULL. TD_NOT_FOUND, TD_IO. */
TD_MUST_CHECK enum td_status file_open_regular(const char *path, int flags, int *fd,
                                               uint64_t *bytes, struct td_error *err);

/* The same for a file that somebody else will open; a path of NULL is none, and TD_OK. */
TD_MUST_CHECK enum td_status file_check_regular(const char *path, struct td_error *err);

/* Writes the text to a temporary file in the same folder, flushes it to the disk and renames it to
 * `path`. `mode` is as in open(2), so the umask applies. 0600 lets only the owner read the file.
 * After TD_IO (with strerror) the old file is unchanged. */
TD_MUST_CHECK enum td_status file_replace(const char *path, struct td_str text, unsigned mode,
                                          struct td_error *err);

#endif

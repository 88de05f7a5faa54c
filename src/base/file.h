/* Replaces files as a whole. Any thread. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "tandem/types.h"

/* Writes the text to a temporary file in the same folder, flushes it to the disk and renames it to
 * `path`. `mode` is as in open(2), so the umask applies. 0600 lets only the owner read the file.
 * After TD_IO (with strerror) the old file is unchanged. */
TD_MUST_CHECK enum td_status file_replace(const char *path, struct td_str text, unsigned mode,
                                          struct td_error *err);

#endif

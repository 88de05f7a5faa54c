/* Files that are there whole or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "tandem/types.h"

/* Writes the text beside the file, flushes it to the disk and puts it in the file's place. mode: 0600 for
 * the owner alone. TD_IO with strerror; the old file then stays as it was. */
TD_MUST_CHECK enum td_status file_replace(const char *path, struct td_str text, unsigned mode,
                                          struct td_error *err);

#endif

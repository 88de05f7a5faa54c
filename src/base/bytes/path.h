/* Paths in buffers of a fixed size, built without the risk of a path that is cut in the middle. No
 * state; any thread. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "tandem/types.h"

/* Writes "folder/name" to out. TD_INVALID when it does not fit; out is then an empty text, errno is
 * ENAMETOOLONG, and the message says how the path begins. */
TD_MUST_CHECK enum td_status path_join(char *out, size_t size, const char *folder, const char *name,
                                       struct td_error *err);

/* The same for a path of any form: "%s/%s.gguf" or "%s.part". */
TD_MUST_CHECK enum td_status path_format(char *out, size_t size, struct td_error *err,
                                         const char *format, ...) TD_PRINTF(4, 5);

/* Makes the folders that lead to the file at `path`, as `mkdir -p` does. The last part of the path
 * is the file's own name. Folders that exist keep their mode. TD_IO with strerror; TD_INVALID when
 * the path is longer than PATH_MAX. */
TD_MUST_CHECK enum td_status path_make_parents(const char *path, unsigned mode,
                                               struct td_error *err);

#endif

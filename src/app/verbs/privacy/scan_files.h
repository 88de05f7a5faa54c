/* `tandem scan` of folders and of several files: a summary by file. Main thread. */
#ifndef APP_SCAN_FILES_H
#define APP_SCAN_FILES_H

#include "api/evidence/findings.h"

#define SCAN_PATHS_MAX 256
#define SCAN_CODE_PRIVATE 3 /* exit code: something is above public */

/* path: a regular file; of a pipe it would wait for a writer. */
bool scan_files_is_pdf(const char *path);
/* paths: files and folders, [count]; folders with all below them. Symbolic links are not followed.
 * Returns the exit code: 0 nothing private, 3 something is, 1 something could not be read. */
int scan_files(const char *const *paths, size_t count, const struct findings_options *how,
               bool json);

#endif

/* Opens files to read them. Makes, replaces and removes files as a whole, so that a loss of power
 * leaves the old contents or the new ones. Any thread. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/bytes/buf.h"
#include "tandem/types.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

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
/* The same for a file that is not there yet. TD_BUSY: it is, and stays as it is. Of several
 * processes one makes it. */
TD_MUST_CHECK enum td_status file_create(const char *path, struct td_str text, unsigned mode,
                                         struct td_error *err);
/* TD_OK also when there is none. */
TD_MUST_CHECK enum td_status file_remove(const char *path, struct td_error *err);
/* Makes the names in the folder of `path` survive a loss of power. */
void file_sync_folder(const char *path);
/* All of the text, at this offset. False with errno. */
bool file_write_at(int fd, struct td_str text, off_t at);
/* Maps a regular file of 1 to bytes_max bytes to read it. **returns new** (file_unmap).
 * TD_NOT_FOUND, TD_IO; TD_LIMIT says its size. */
TD_MUST_CHECK enum td_status file_map(const char *path, size_t bytes_max, struct td_str *out,
                                      struct td_error *err);
void file_unmap(struct td_str file); /* no bytes: does nothing */
/* What was read of it does not stay in this process: it comes back as it is read again. */
void file_rest(struct td_str file);
/* The next line, without its end; what does not fit is passed over, and `line` has failed then.
 * False at the end of the file and after an error (ferror). */
bool file_read_line(FILE *file, struct buf *line);

#endif

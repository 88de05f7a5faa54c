/* Keeps the classes of conversations in a file. A rise is in the kernel's hands when
 * conversation_classes_raise returns, so it outlives the process; a thread has it on the disk a few
 * milliseconds later, so it outlives the machine. The thread also rewrites the file when most of it
 * is superseded, and after a failure to write. */
#ifndef PRIVACY_CLASS_FILE_H
#define PRIVACY_CLASS_FILE_H

#include "privacy/scan/conversation.h"

struct class_file;

/* Reads the file, if it exists, and writes it from now on. The table lives longer. Call it before
 * anything is raised. TD_CORRUPT, TD_IO. **returns new** (class_file_close). */
TD_MUST_CHECK enum td_status class_file_open(const char *path, struct conversation_classes *classes,
                                             struct class_file **out, struct td_error *err);
void class_file_close(struct class_file *file);

/* Whether what rises is kept: the last write went well, the file is where it was. Any thread. */
TD_MUST_CHECK enum td_status class_file_check(struct class_file *file, struct td_error *err);
/* Waits at most timeout_ms until all that rose before is on the disk. Any thread. */
TD_MUST_CHECK enum td_status class_file_flush(struct class_file *file, uint32_t timeout_ms,
                                              struct td_error *err);

#endif

/* privacy.zero_retention, the process's part: what was a text is overwritten as soon as it is freed,
 * and no core file is written. */
#ifndef APP_RETENTION_H
#define APP_RETENTION_H

#include "tandem/types.h"

/* Before other threads are there: once for a process that the configuration wants so. arguments: those
 * of the verb, argv[0] its name, NULL-terminated; the process may begin anew with them, because glibc
 * reads at its start alone that freed memory is to be overwritten. TD_IO. */
TD_MUST_CHECK enum td_status retention_harden(char *const *arguments, struct td_error *err);

/* Does this process overwrite what it frees? */
bool retention_is_hard(void);

#endif

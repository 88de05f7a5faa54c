/* The process's part of privacy.zero_retention: texts are overwritten as soon as they are freed,
 * and no core file is written. */
#ifndef APP_RETENTION_H
#define APP_RETENTION_H

#include "tandem/types.h"

/* To be called before there are other threads. `arguments` are those of the verb, with its name
 * first and NULL last: the process may restart itself with them (retention.c). TD_IO. */
TD_MUST_CHECK enum td_status retention_harden(char *const *arguments, struct td_error *err);

#endif

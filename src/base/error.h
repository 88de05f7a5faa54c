/* Setting a caller's td_error. Any thread; no state. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "tandem/types.h"

/* Records the failure unless one is recorded already (the first is the cause), and returns `status`
 * so that a caller can write `return error_set(err, TD_INVALID, ...)`. err may be NULL. */
enum td_status error_set(struct td_error *err, enum td_status status, const char *format, ...)
    TD_PRINTF(3, 4);

/* Puts "context: " before the recorded message. No effect when nothing is recorded or err is
 * NULL. */
void error_prefix(struct td_error *err, const char *format, ...) TD_PRINTF(2, 3);

#endif

/* How a failure gets its words: a td_error that belongs to the caller is filled here. No state; any
 * thread. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include "tandem/types.h"

#include <stdarg.h>

/* Records the failure unless one is recorded already (the first is the cause), and returns `status`
 * so that a caller can write `return error_set(err, TD_INVALID, ...)`. err may be NULL. */
enum td_status error_set(struct td_error *err, enum td_status status, const char *format, ...)
    TD_PRINTF(3, 4);

/* As error_set, with "where: " before the words. For functions that know where. */
enum td_status error_set_at(struct td_error *err, enum td_status status, const char *where,
                            const char *format, va_list args);

/* Puts "context: " before the recorded message. No effect when nothing is recorded or err is
 * NULL. */
void error_prefix(struct td_error *err, const char *format, ...) TD_PRINTF(2, 3);

/* The end of a message about an unknown name. A value, so that a call can stand among the arguments
 * of printf: error_set(err, TD_INVALID, "unknown tier '%s'%s", name, error_suggest(...).text). */
struct error_suggestion {
    char text[96];
};

/* "; did you mean 'cloud'?" with the candidate that is nearest to the name (str_nearest), or an
 * empty text when no candidate is near. */
struct error_suggestion error_suggest(struct td_str name, const char *const *candidates,
                                      size_t candidate_count);

#endif

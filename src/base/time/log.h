/* The log: one line per event with time, level, a stable event name and key=value pairs.
 * Thread-safe. Prompts, answers and secrets never reach a log call: log lengths, hashes and ids
 * instead. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "tandem/types.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR, LOG_LEVEL_OFF };
extern const char *const log_level_names[]; /* in the order of the enum, then NULL */

void log_set_level(enum log_level level);
void log_set_fd(int fd); /* 2 by default */

/* format gives "key=value key=value"; control characters in the result become '?'. */
void log_event(enum log_level level, const char *event, const char *format, ...) TD_PRINTF(3, 4);

#endif

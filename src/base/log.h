/* One line an event: time, level, stable event name, key=value pairs. Thread-safe (one write(2) a
 * line). Prompt text, answers and secrets never reach a log call: log lengths, hashes and ids. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "tandem/types.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR, LOG_LEVEL_OFF };

void log_set_level(enum log_level level);
void log_set_fd(int fd); /* default 2 */

/* format makes "key=value key=value"; control characters in the result are replaced by '?'. */
void log_event(enum log_level level, const char *event, const char *format, ...) TD_PRINTF(3, 4);

#endif

/* The thread that keeps the watch (exchange/limits/watch.h): it looks at what time alone changes,
 * writes the watch to a file, and tells a webhook of alarms. A server has one. */
#ifndef APP_WATCH_KEEPER_H
#define APP_WATCH_KEEPER_H

#include "app/setup/process/runtime.h"

struct watch_keeper;

/* Reads the file and starts the thread. Before the first request. A file that cannot be read is
 * moved aside and logged. **returns new** (watch_keeper_stop). The runtime lives longer. */
TD_MUST_CHECK enum td_status watch_keeper_start(struct runtime *runtime, struct watch_keeper **out,
                                                struct td_error *err);
/* Writes the file a last time. Accepts NULL. */
void watch_keeper_stop(struct watch_keeper *keeper);

#endif

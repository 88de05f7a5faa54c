/* What the watch has learnt and the alarms it has raised, as a JSON file. It holds no text of a
 * request, and of callers 8 digits of a hash. Any thread. */
#ifndef APP_WATCH_FILE_H
#define APP_WATCH_FILE_H

#include "base/json/json.h"
#include "exchange/limits/watch.h"

/* The alarm as it is shown to others: without its caller. **returns new** (json_free). */
struct json *watch_file_alarm(const struct watch_alarm *alarm);

TD_MUST_CHECK enum td_status watch_file_write(const char *path, const struct watch_kept *kept,
                                              struct td_error *err);
/* *kept is what a new watch has. TD_OK also when there is no file. TD_CORRUPT: *kept is as it
 * was. */
TD_MUST_CHECK enum td_status watch_file_read(const char *path, struct watch_kept *kept,
                                             struct td_error *err);

#endif

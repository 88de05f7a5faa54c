/* A log of requests: lines go into a buffer, and a thread writes them five times a second, so that
 * a slow disk holds no request up. What does not fit is dropped and counted. Any thread. */
#ifndef API_ACCESS_LOG_H
#define API_ACCESS_LOG_H

#include "tandem/types.h"

struct access_log;

/* path: a file, which is appended to and made with the mode 0640; or "stderr". **returns new**
 * (access_log_free). TD_IO with the path and why. */
TD_MUST_CHECK enum td_status access_log_open(const char *path, struct access_log **out,
                                             struct td_error *err);
void access_log_free(struct access_log *log); /* writes what is there; accepts NULL */
/* The file was renamed: another one is begun under its name. Accepts NULL. */
void access_log_reopen(struct access_log *log);
/* One line, without its end. Accepts NULL for log. */
void access_log_put(struct access_log *log, struct td_str line);
uint64_t access_log_dropped(struct access_log *log);

#endif

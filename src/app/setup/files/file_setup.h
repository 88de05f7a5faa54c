/* The store of clients' files and batches, as the configuration says. Main thread. */
#ifndef APP_FILE_SETUP_H
#define APP_FILE_SETUP_H

#include "app/config/config.h"

struct file_store;

/* Whether files are kept at all. */
bool file_setup_keeps(const struct config *config);
/* **returns new** (file_store_close). */
TD_MUST_CHECK enum td_status file_setup_open(const struct config *config, struct file_store **out,
                                             struct td_error *err);
/* Without a server: removes what names the user. */
TD_MUST_CHECK enum td_status file_setup_forget(const struct config *config, const char *user,
                                               uint64_t *erased, struct td_error *err);

#endif

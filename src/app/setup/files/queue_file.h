/* Where the queues of tickets are (ledger/store/queue_store.h). Any thread. */
#ifndef APP_QUEUE_FILE_H
#define APP_QUEUE_FILE_H

#include "app/setup/files/state_file.h"

/* A path in the state folder, or the URL of the database that nodes share. TD_NOT_FOUND: there is
 * no state folder. */
TD_MUST_CHECK enum td_status queue_file_name(const struct config *config,
                                             char out[static STATE_PATH_BYTES],
                                             struct td_error *err);
/* Whether there may be tickets: the file is there, or nodes share a database. */
bool queue_file_exists(const struct config *config);

#endif

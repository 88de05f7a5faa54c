/* The two long steps of a batch, which run on a background thread: its input is checked before the
 * first line runs, and its output is written after the last one. */
#ifndef API_BATCH_WORK_H
#define API_BATCH_WORK_H

#include "ledger/store/batch_store.h"

struct batch_work {
    struct file_store *store;
    struct stored_batch batch;
    size_t line_bytes_max;
    enum td_status status; /* of the step; a batch that is found wrong is TD_OK */
    struct td_error err;
};

/* For struct background_work; ctx is the struct batch_work, from malloc. */
void batch_work_check(void *ctx);
void batch_work_finish(void *ctx);

#endif

/* Runs the lines of batches as requests of those who made the batches, a few at a time, on one loop
 * of the server. What a batch has reached stands in the store, so a runner that starts goes on
 * where another one ended.
 *
 * Made and freed by the main thread; attached before its loop runs, detached after it has ended;
 * batch_runner_wake from any thread; everything else on the loop. */
#ifndef API_BATCH_RUNNER_H
#define API_BATCH_RUNNER_H

#include "api/http/api_internal.h"

struct batch_runner;
struct file_store;

struct batch_runner_options {
    struct file_store *store;
    struct background *background;
    uint32_t lines_max;    /* that run at once, of all batches */
    size_t line_bytes_max; /* of an input's line */
};

/* **returns new** (batch_runner_free); NULL without memory. */
struct batch_runner *batch_runner_new(const struct batch_runner_options *options);
void batch_runner_free(struct batch_runner *runner); /* accepts NULL */

/* False without memory. */
bool batch_runner_attach(struct batch_runner *runner, struct api *api, struct server *server);
void batch_runner_detach(struct batch_runner *runner); /* accepts NULL */
/* Begins no more lines, and what ends from now on is not recorded unless it is an answer. */
void batch_runner_stop(struct batch_runner *runner);
/* Batches have changed in the store. */
void batch_runner_wake(struct batch_runner *runner);

#endif

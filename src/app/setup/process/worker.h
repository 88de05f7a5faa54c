/* One event loop of the server with its thread, HTTP server and API, and another one for large
 * requests. The process makes some of them on one port (SO_REUSEPORT: the kernel spreads
 * connections).
 *
 * worker_drain, worker_wait and worker_free may be called from the main thread; everything else
 * inside a worker happens on its own. */
#ifndef APP_WORKER_H
#define APP_WORKER_H

#include "api/api.h"

struct batch_runner;
struct deferral;
struct prober;
struct worker;

struct worker_options {
    const struct api_host *host;
    struct server_options server;
    const struct server_socket *sockets; /* whose descriptors worker_new **takes** */
    size_t socket_count;
    uint32_t index, large_index;  /* metrics shards of its two loops */
    struct deferral *deferral;    /* the same */
    struct batch_runner *batches; /* runs on this worker's second loop; NULL = on another one */
    struct prober *prober;        /* runs on this worker; NULL = on another one */
};

/* Listens; does not serve yet. **returns new** (worker_free). */
TD_MUST_CHECK enum td_status worker_new(const struct worker_options *options, struct worker **out,
                                        struct td_error *err);
TD_MUST_CHECK enum td_status worker_start(struct worker *worker, struct td_error *err);

/* Stops accepting; the loop ends when nothing runs any more, or after timeout_ms. A second call
 * with a shorter time cuts the wait. */
void worker_drain(struct worker *worker, uint32_t timeout_ms);
/* Whether both loops have run since the last call, and asks them to do so until the next. */
bool worker_is_alive(struct worker *worker);
/* Waits for the thread; the worker stays valid, so that another thread may still drain it. */
void worker_wait(struct worker *worker);
/* Waits, then frees everything. Accepts NULL and a worker that was never started. */
void worker_free(struct worker *worker);

#endif

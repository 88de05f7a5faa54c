/* A worker is one thread with a loop, a server and an API. Other threads reach it by calls that its
 * loop runs (worker_drain), and by one atomic deadline.
 *
 * A worker that listens has a second one for its large requests (net/server/server_move.c). That
 * one is drained when the first has ended, and so cannot hand it any more, with the same
 * deadline. */
#include "app/setup/process/worker.h"

#include "api/deferral/deferral.h"
#include "api/files/batch_runner.h"
#include "app/setup/process/link_watch.h"
#include "app/setup/process/prober.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/time/clock.h"
#include "net/client/loop_event.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* How often a draining worker looks whether it is idle, and how long the last words of cut
 * exchanges may take to reach their clients. */
#define DRAIN_POLL_MS 20
#define DRAIN_FLUSH_MS 200

struct worker {
    struct loop *loop;
    struct server *server;
    struct api *api;
    struct loop_timer *drain_timer;
    _Atomic uint64_t deadline_ms; /* monotonic; of draining */
    struct worker *large;         /* for large requests; NULL = this is one */
    struct worker *first;         /* which hands it large requests; NULL = this one listens */
    struct prober *prober;        /* that runs here, or NULL */
    struct link_watch *links;     /* the same */
    struct batch_runner *batches; /* the same */
    struct deferral *deferral;    /* the same */
    bool draining, cut;
    bool started;
    atomic_bool beat_asked; /* its loop has not run since */
    pthread_t thread;
};

static _Atomic uint64_t *deadline_of(struct worker *worker)
{
    return worker->first ? &worker->first->deadline_ms : &worker->deadline_ms;
}

static void drain_look(void *ctx)
{
    struct worker *worker = ctx;
    _Atomic uint64_t *deadline_ms = deadline_of(worker);
    bool idle = server_active(worker->server) == 0 && api_active(worker->api) == 0;
    uint64_t now = clock_monotonic_ns(NULL) / 1000000;
    bool late = now >= atomic_load(deadline_ms);
    if (late && !idle && !worker->cut) {
        worker->cut = true;
        api_cancel(worker->api);
        atomic_store(deadline_ms, now + DRAIN_FLUSH_MS);
        late = false;
    }
    if (idle || late)
        loop_event_stop(worker->loop);
    else
        loop_timer_start(worker->loop, worker->drain_timer, DRAIN_POLL_MS);
}

static void drain_begin(void *ctx)
{
    struct worker *worker = ctx;
    if (worker->draining)
        return;
    worker->draining = true;
    if (worker->batches)
        batch_runner_stop(worker->batches);
    if (worker->deferral)
        deferral_stop(worker->deferral);
    server_stop_accepting(worker->server);
    api_drain(worker->api);
    drain_look(worker);
}

static void drain(struct worker *worker)
{
    if (worker->started && !loop_post(worker->loop, drain_begin, worker))
        loop_event_stop(worker->loop);
}

void worker_drain(struct worker *worker, uint32_t timeout_ms)
{
    uint64_t now = clock_monotonic_ns(NULL) / 1000000;
    atomic_store(&worker->deadline_ms, now + timeout_ms);
    drain(worker);
}

static void beat(void *ctx)
{
    struct worker *worker = ctx;
    atomic_store(&worker->beat_asked, false);
}

bool worker_is_alive(struct worker *worker)
{
    bool alive = !worker->large || worker_is_alive(worker->large);
    if (atomic_exchange(&worker->beat_asked, true))
        return false;
    if (loop_post(worker->loop, beat, worker))
        return alive;
    atomic_store(&worker->beat_asked, false); /* a full queue: nobody empties it */
    return false;
}

static void *worker_run(void *ctx)
{
    struct worker *worker = ctx;
    loop_event_run(worker->loop);
    if (worker->large) {
        drain(worker->large);
        worker_wait(worker->large);
    }
    return NULL;
}

static bool attach(struct worker *worker, const struct worker_options *options)
{
    const struct prober_host host = {options->host->acquire, options->host->release,
                                     options->host->ctx};
    if (options->prober && !prober_attach(options->prober, worker->loop, &host))
        return false;
    worker->prober = options->prober;
    if (options->prober)
        worker->links = link_watch_new(worker->loop, options->host);
    return !options->prober || worker->links;
}

static enum td_status make(const struct worker_options *options, struct worker **out,
                           struct td_error *err)
{
    struct worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return error_set(err, TD_NO_MEMORY, "no memory for a worker");
    enum td_status status = loop_event_new(&worker->loop, err);
    if (status == TD_OK) {
        worker->api = api_new(worker->loop, options->host, options->index);
        worker->drain_timer = loop_timer_new(worker->loop, drain_look, worker);
        if (!worker->api || !worker->drain_timer || !attach(worker, options))
            status = error_set(err, TD_NO_MEMORY, "no memory for a worker");
    }
    if (status == TD_OK)
        status = server_new(worker->loop, &options->server, api_handle, worker->api,
                            &worker->server, err);
    if (status != TD_OK) {
        worker_free(worker);
        return status;
    }
    server_set_head(worker->server, api_admit);
    server_set_refuse(worker->server, api_refuse);
    if (options->host->access_log)
        server_set_end(worker->server, api_end);
    if (options->batches && !batch_runner_attach(options->batches, worker->api, worker->server)) {
        worker_free(worker);
        return error_set(err, TD_NO_MEMORY, "no memory for a worker");
    }
    worker->batches = options->batches;
    if (options->deferral && !deferral_attach(options->deferral, worker->api, worker->server)) {
        worker_free(worker);
        return error_set(err, TD_NO_MEMORY, "no memory for a worker");
    }
    worker->deferral = options->deferral;
    *out = worker;
    return TD_OK;
}

/* Takes the sockets also when it fails. */
static enum td_status listen_all(struct worker *worker, const struct worker_options *options,
                                 enum td_status status, struct td_error *err)
{
    for (size_t i = 0; i < options->socket_count; i++) {
        if (status == TD_OK)
            status = server_listen(worker->server, &options->sockets[i], err);
        else
            close(options->sockets[i].fd);
    }
    return status;
}

enum td_status worker_new(const struct worker_options *options, struct worker **out,
                          struct td_error *err)
{
    struct worker_options first = *options, large = *options;
    first.batches = NULL;
    first.deferral = NULL;
    *out = NULL;
    large.prober = NULL;
    large.index = options->large_index;
    enum td_status status = make(&first, out, err);
    status = listen_all(*out, options, status, err);
    if (status == TD_OK)
        status = make(&large, &(*out)->large, err);
    if (status != TD_OK) {
        worker_free(*out);
        *out = NULL;
        return status;
    }
    (*out)->large->first = *out;
    server_set_large((*out)->server, (*out)->large->server);
    return TD_OK;
}

static enum td_status start(struct worker *worker, struct td_error *err)
{
    ASSERT(!worker->started);
    if (pthread_create(&worker->thread, NULL, worker_run, worker) != 0)
        return error_set(err, TD_NO_MEMORY, "cannot start a thread");
    worker->started = true;
    return TD_OK;
}

enum td_status worker_start(struct worker *worker, struct td_error *err)
{
    enum td_status status = start(worker->large, err);
    return status == TD_OK ? start(worker, err) : status;
}

void worker_wait(struct worker *worker)
{
    if (!worker->started)
        return;
    pthread_join(worker->thread, NULL);
    worker->started = false;
}

void worker_free(struct worker *worker)
{
    if (!worker)
        return;
    worker_wait(worker);
    if (worker->large && worker->large->started) /* alone, then */
        loop_event_stop(worker->large->loop);
    worker_free(worker->large);
    link_watch_free(worker->links);
    if (worker->prober)
        prober_detach(worker->prober);
    batch_runner_detach(worker->batches);
    deferral_detach(worker->deferral);
    api_free(worker->api);
    if (worker->server)
        server_free(worker->server);
    if (worker->loop) {
        loop_timer_free(worker->loop, worker->drain_timer);
        loop_event_free(worker->loop);
    }
    free(worker);
}

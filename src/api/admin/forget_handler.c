/* POST /tandem/v1/forget {"user": "..."}: erases everything that this server holds of a user of the
 * tenant that asks, or for the operator, of all tenants' users of that name.
 *
 *   {"object": "forgotten", "exchanges", "texts", "comments" (of the ledger), "vaults", "consents",
 *    "similar" (remembered starts), "answers" (kept for the same request), "responses" (and
 *    conversations), "files" (of batches), "deferred" (questions and their answers), "tickets" (for
 *    people), "caches"}
 *
 * The ledger's part takes disk time and runs in the background. What is in memory follows on the
 * loop. What is switched off now may have kept something before, so its files are looked at, too.
 * Computed prompts are not stored by user, so all of the tenant go; "caches" is true when there
 * were engines to clear. The egress ledger keeps its lines, which hold hashes and no user. */
#include "api/admin/forgotten.h"
#include "api/admin/handlers.h"
#include "api/deferral/deferral.h"
#include "api/files/batch_lines.h"
#include "api/history/history.h"
#include "api/http/access.h"
#include "api/http/call.h"
#include "api/http/reply.h"
#include "base/background.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/record/forget.h"
#include "ledger/record/ledger.h"
#include "ledger/store/deferred_store.h"
#include "ledger/store/file_store.h"
#include "ledger/store/queue_store.h"

#include <stdlib.h>

#define USER_BYTES_MAX 512
#define FLUSH_MS 5000
#define REPLY_BYTES_MAX 4096

/* What the thread works on. */
struct forget_work {
    struct ledger *ledger; /* NULL = this server keeps none */
    const char *path;
    struct file_store *files;        /* NULL = this server keeps none */
    struct history *history;         /* likewise, of responses */
    struct deferred_store *deferred; /* likewise */
    struct queue_store *queue;       /* NULL = there are no tickets */
    const struct api_host *host;
    struct api_stored stored;
    char user[USER_BYTES_MAX];
    struct auth_who who;
    enum td_status status;
    struct td_error err;
};

struct forget_call {
    struct api_call base;      /* first */
    struct http_request *http; /* NULL when the client left: it is done all the same */
    struct background_task *task;
};

static void call_free(struct forget_call *call)
{
    api_call_end(&call->base);
    free(call);
}

static void call_gone(void *ctx)
{
    ((struct forget_call *)ctx)->http = NULL;
}

static struct api_forget whom(const struct forget_work *work)
{
    const struct auth_who *who = &work->who;
    return (struct api_forget){.user = work->user,
                               .tenant = access_view(who),
                               .caller = who->operates ? NULL : who->caller};
}

/* Where no keys are needed, files are a caller's by its address, and everybody is the operator. */
static void forget_files(struct forget_work *work)
{
    if (work->files && work->status == TD_OK)
        work->status = file_store_forget(work->files, whom(work).tenant, batch_line_names_user,
                                         work->user, &work->stored.files, &work->err);
    if (work->deferred && work->status == TD_OK)
        work->status = deferred_store_forget(work->deferred, whom(work).tenant, work->user,
                                             &work->stored.deferred, &work->err);
}

static void forget_tickets(struct forget_work *work)
{
    if (work->queue && work->status == TD_OK)
        work->status = queue_store_forget(work->queue, whom(work).tenant, work->user,
                                          &work->stored.tickets, &work->err);
}

/* Rows that wait for a database would come after what is erased there. */
static enum td_status refuse_while_rows_wait(struct ledger *ledger, struct td_error *err)
{
    uint64_t waiting;
    ledger_is_away(ledger, &waiting);
    return waiting == 0
               ? TD_OK
               : error_set(err, TD_UNAVAILABLE,
                           "the ledger's database is away, and records wait for it on this "
                           "node; try again when it is back");
}

static void work_run(void *ctx)
{
    struct forget_work *work = ctx;
    if (work->history)
        work->status = history_forget(work->history, whom(work).tenant, work->user,
                                      &work->stored.responses, &work->err);
    forget_files(work);
    forget_tickets(work);
    const struct api_forget unopened = whom(work);
    if (work->host->forget_stored && work->status == TD_OK)
        work->status =
            work->host->forget_stored(work->host->ctx, &unopened, &work->stored, &work->err);
    if (!work->ledger || work->status != TD_OK)
        return;
    work->status = ledger_flush(work->ledger, FLUSH_MS, &work->err);
    if (work->status == TD_OK)
        work->status = refuse_while_rows_wait(work->ledger, &work->err);
    if (work->status == TD_OK)
        work->status = ledger_forget(work->path, whom(work).tenant, work->user,
                                     &work->stored.ledger, &work->err);
}

struct json *forgotten_object(const struct api_stored *stored)
{
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"exchanges", stored->ledger.exchanges}, {"texts", stored->ledger.texts},
        {"comments", stored->ledger.comments},   {"vaults", stored->vaults},
        {"consents", stored->consents},          {"similar", stored->similar},
        {"responses", stored->responses},        {"files", stored->files},
        {"deferred", stored->deferred},          {"tickets", stored->tickets},
    };
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("forgotten"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        json_put(object, rows[i].name, json_new_int((int64_t)rows[i].count));
    return object;
}

static void reply(struct forget_call *call, const struct forget_work *work,
                  const struct api_forgotten *memory)
{
    struct fault fault;
    if (!call->http)
        return;
    if (work->status != TD_OK) {
        fault_from_status(&fault, work->status, work->err.message, NULL);
        api_reply_fault(call->base.api, call->http, &fault);
        return;
    }
    if (memory->failed) {
        fault_from_status(&fault, TD_IO, "a file of the state folder could not be written", NULL);
        api_reply_fault(call->base.api, call->http, &fault);
        return;
    }
    struct api_stored all = work->stored;
    all.vaults += memory->vaults;
    all.consents += memory->consents;
    all.similar += memory->similar;
    struct json *object = forgotten_object(&all);
    json_put(object, "answers", json_new_int((int64_t)memory->answers));
    json_put(object, "caches", json_new_bool(memory->caches));
    api_reply_value(call->base.api, call->http, object, REPLY_BYTES_MAX);
}

static void work_done(void *ctx, void *owner)
{
    struct forget_work *work = ctx;
    struct forget_call *call = owner;
    const struct api_host *host = call->base.api->host;
    const struct api_forget wanted = whom(work);
    struct api_forgotten memory = {0};
    deferral_wake(host->deferral); /* what runs of them is stopped */
    if (host->forget)
        host->forget(host->ctx, &wanted, &memory);
    reply(call, work, &memory);
    call_free(call);
}

/* What runs in the background goes on to its end: there is nothing to ask again. */
static void call_stop(struct api_call *base)
{
    struct forget_call *call = (struct forget_call *)base;
    struct fault fault;
    background_cancel(call->task);
    fault_stopping(&fault);
    fault.retry_after_s = 0;
    if (call->http)
        api_reply_fault(base->api, call->http, &fault);
    call_free(call);
}

/* It outlives the configuration. */
static struct queue_store *find_queue(struct api *api)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct queue_store *queue = services->queues;
    api->host->release(api->host->ctx, services);
    return queue;
}

static enum td_status begin(struct api *api, struct http_request *request, struct td_str user,
                            struct td_error *err)
{
    struct forget_call *call = calloc(1, sizeof *call);
    struct forget_work *work = calloc(1, sizeof *work);
    enum td_status status = TD_NO_MEMORY;
    if (call && work) {
        call->http = request;
        work->host = api->host;
        work->ledger = api->host->ledger;
        work->path = api->host->ledger_path;
        work->files = api->host->files;
        work->history = api->host->history;
        if (api->host->deferral)
            work->deferred = deferral_options(api->host->deferral)->store;
        work->queue = find_queue(api);
        work->who = api->who;
        memcpy(work->user, user.data, user.len);
        const struct background_work background = {.run = work_run,
                                                   .done = work_done,
                                                   .free_ctx = free,
                                                   .ctx = work,
                                                   .owner = call,
                                                   .loop = api->loop};
        status = background_submit(api->host->background, &background, &call->task, err);
    }
    if (status != TD_OK) {
        free(call);
        free(work);
        return status;
    }
    api_call_begin(api, &call->base, call_stop, false);
    http_request_on_gone(request, call_gone, call);
    return TD_OK;
}

void forget_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct td_error err = {0};
    struct json *body = NULL;
    enum td_status status = json_parse(http_request_body(request), &body, &err);
    struct td_str user = json_text(json_get(body, "user"));
    bool begun = false;
    if (status != TD_OK)
        fault_invalid_json(&fault, &err);
    else if (user.len == 0 || user.len >= USER_BYTES_MAX || memchr(user.data, '\0', user.len))
        fault_request(&fault, "user", "user must be a text of 1 to %d bytes", USER_BYTES_MAX - 1);
    else if ((status = begin(api, request, user, &err)) != TD_OK)
        fault_from_status(&fault, status, err.message[0] ? err.message : NULL, NULL);
    else
        begun = true;
    json_free(body);
    if (!begun)
        api_reply_fault(api, request, &fault);
}

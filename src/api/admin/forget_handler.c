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
#include "api/http/background_reply.h"
#include "api/http/reply.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
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
    struct background_reply reply; /* first */
    struct ledger *ledger;         /* NULL = this server keeps none */
    const char *path;
    struct file_store *files;        /* NULL = this server keeps none */
    struct history *history;         /* likewise, of responses */
    struct deferred_store *deferred; /* likewise */
    struct queue_store *queue;       /* NULL = there are no tickets */
    const struct api_host *host;
    struct api_stored stored;
    char user[USER_BYTES_MAX];
    struct auth_who who;
};

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
    if (work->files && work->reply.status == TD_OK)
        work->reply.status =
            file_store_forget(work->files, whom(work).tenant, batch_line_names_user, work->user,
                              &work->stored.files, &work->reply.err);
    if (work->deferred && work->reply.status == TD_OK)
        work->reply.status = deferred_store_forget(work->deferred, whom(work).tenant, work->user,
                                                   &work->stored.deferred, &work->reply.err);
}

static void forget_tickets(struct forget_work *work)
{
    if (work->queue && work->reply.status == TD_OK)
        work->reply.status = queue_store_forget(work->queue, whom(work).tenant, work->user,
                                                &work->stored.tickets, &work->reply.err);
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
        work->reply.status = history_forget(work->history, whom(work).tenant, work->user,
                                            &work->stored.responses, &work->reply.err);
    forget_files(work);
    forget_tickets(work);
    const struct api_forget unopened = whom(work);
    if (work->host->forget_stored && work->reply.status == TD_OK)
        work->reply.status =
            work->host->forget_stored(work->host->ctx, &unopened, &work->stored, &work->reply.err);
    if (!work->ledger || work->reply.status != TD_OK)
        return;
    work->reply.status = ledger_flush(work->ledger, FLUSH_MS, &work->reply.err);
    if (work->reply.status == TD_OK)
        work->reply.status = refuse_while_rows_wait(work->ledger, &work->reply.err);
    if (work->reply.status == TD_OK)
        work->reply.status = ledger_forget(work->path, whom(work).tenant, work->user,
                                           &work->stored.ledger, &work->reply.err);
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

static void reply(struct api *api, struct http_request *request, const struct forget_work *work,
                  const struct api_forgotten *memory)
{
    if (work->reply.status != TD_OK) {
        api_reply_status(api, request, work->reply.status, &work->reply.err, NULL);
        return;
    }
    if (memory->failed) {
        struct fault fault;
        fault_from_status(&fault, TD_IO, "a file of the state folder could not be written", NULL);
        api_reply_fault(api, request, &fault);
        return;
    }
    struct api_stored all = work->stored;
    all.vaults += memory->vaults;
    all.consents += memory->consents;
    all.similar += memory->similar;
    struct json *object = forgotten_object(&all);
    json_put(object, "answers", json_new_int((int64_t)memory->answers));
    json_put(object, "caches", json_new_bool(memory->caches));
    api_reply_value(api, request, object, REPLY_BYTES_MAX);
}

static void work_reply(struct api *api, struct http_request *request, void *ctx)
{
    const struct forget_work *work = ctx;
    const struct api_host *host = api->host;
    const struct api_forget wanted = whom(work);
    struct api_forgotten memory = {0};
    deferral_wake(host->deferral); /* what runs of them is stopped */
    if (host->forget)
        host->forget(host->ctx, &wanted, &memory);
    if (request)
        reply(api, request, work, &memory);
}

/* It outlives the configuration. */
static struct queue_store *find_queue(const struct api *api)
{
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct queue_store *queue = services->queues;
    api->host->release(api->host->ctx, services);
    return queue;
}

/* What runs in the background goes on to its end: there is nothing to ask again. */
static struct forget_work *work_new(const struct api *api, struct td_str user)
{
    struct forget_work *work = calloc(1, sizeof *work);
    if (!work)
        return NULL;
    work->reply = (struct background_reply){
        .run = work_run, .reply = work_reply, .goes_on = true, .no_retry = true};
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
    return work;
}

void forget_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault = {0};
    struct json *body;
    if (!api_read_body(api, request, &body))
        return;
    struct td_str user = json_text(json_get(body, "user"));
    if (user.len == 0 || user.len >= USER_BYTES_MAX || memchr(user.data, '\0', user.len))
        fault_request(&fault, "user", "user must be a text of 1 to %d bytes", USER_BYTES_MAX - 1);
    else
        background_reply_begin(api, request, work_new(api, user));
    json_free(body);
    if (fault.code)
        api_reply_fault(api, request, &fault);
}

/* GET /tandem/v1/exchanges and /tandem/v1/exchanges/ID explain exchanges from the ledger.
 * /tandem/v1/shadows lists what ran in shadows. Other handlers look up exchanges here. A tenant's
 * look-up finds its own exchanges, as if no others were there.
 *
 * The ledger commits in batches, so an exchange that was answered a moment ago may not be there
 * yet. The loop must not wait for the disk. A look-up that finds nothing is repeated by a timer
 * until a commit interval has passed. */
#include "api/admin/handlers.h"
#include "api/admin/lookup.h"
#include "api/http/access.h"
#include "api/http/call.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/ledger.h"

#include <assert.h>
#include <stdlib.h>

/* The ledger commits at most 200 ms apart; five times that is enough for a slow disk. */
#define LOOKUP_INTERVAL_MS 25
#define LOOKUP_TRIES_MAX 40
/* What "last" may wait on the loop for the commit of the newest exchange. */
#define LAST_FLUSH_MS 20
#define EXCHANGES_BYTES_MAX (8u << 20)
#define LIST_LIMIT_DEFAULT 20
#define LIST_LIMIT_MAX 1000

struct lookup {
    struct api_call base;      /* first */
    struct http_request *http; /* NULL when the client left */
    struct loop_timer *timer;
    uint32_t tries;
    api_found_fn *found;
    void *ctx; /* owned: freed with free */
    char id[160];
    struct auth_who who;
};

static void lookup_free(struct lookup *lookup)
{
    api_call_end(&lookup->base);
    loop_timer_free(lookup->base.api->loop, lookup->timer);
    free(lookup->ctx);
    free(lookup);
}

static enum td_status open_reader(struct api *api, struct td_error *err)
{
    if (api->reader)
        return TD_OK;
    if (!api->host->ledger_path) {
        *err = (struct td_error){TD_UNAVAILABLE, "this server keeps no ledger"};
        return TD_UNAVAILABLE;
    }
    return ledger_reader_open(api->host->ledger_path, &api->reader, err);
}

static void reply_value(struct api *api, struct http_request *request, struct json *value,
                        void *ctx)
{
    (void)ctx;
    api_reply_value(api, request, value, EXCHANGES_BYTES_MAX);
}

static void reply_error(struct api *api, struct http_request *request, enum td_status status,
                        const struct td_error *err)
{
    api_reply_status(api, request, status, err, status == TD_NOT_FOUND ? "id" : NULL);
}

/* True when the client got an answer. last: also answers that there is no such exchange. */
static bool lookup_try(struct lookup *lookup, bool last)
{
    struct api *api = lookup->base.api;
    struct td_error err = {0};
    struct json *value = NULL;
    enum td_status status = open_reader(api, &err);
    if (status == TD_OK)
        status =
            ledger_reader_find(api->reader, access_view(&lookup->who), lookup->id, &value, &err);
    if (status == TD_NOT_FOUND && !last)
        return false;
    if (status == TD_OK)
        lookup->found(api, lookup->http, value, lookup->ctx);
    else
        reply_error(api, lookup->http, status, &err);
    return true;
}

static void lookup_again(void *ctx)
{
    struct lookup *lookup = ctx;
    lookup->tries++;
    if (!lookup->http || lookup_try(lookup, lookup->tries >= LOOKUP_TRIES_MAX))
        lookup_free(lookup);
    else
        loop_timer_start(lookup->base.api->loop, lookup->timer, LOOKUP_INTERVAL_MS);
}

static void lookup_gone(void *ctx)
{
    struct lookup *lookup = ctx;
    lookup->http = NULL; /* the timer frees it */
}

static void lookup_stop(struct api_call *call)
{
    struct lookup *lookup = (struct lookup *)call;
    struct api *api = call->api;
    struct http_request *request = lookup->http;
    lookup_free(lookup);
    if (!request)
        return;
    struct fault fault; /* answering also takes lookup_gone off the request */
    fault_stopping(&fault);
    api_reply_fault(api, request, &fault);
}

void exchanges_find(struct api *api, struct http_request *request, const char *id,
                    api_found_fn *found, void *ctx)
{
    assert(request && id && found);
    struct fault fault;
    struct lookup *lookup = calloc(1, sizeof *lookup);
    bool fits = strlen(id) < sizeof lookup->id;
    if (lookup)
        lookup->timer = loop_timer_new(api->loop, lookup_again, lookup);
    if (!lookup || !lookup->timer || !fits) {
        free(ctx);
        if (lookup)
            loop_timer_free(api->loop, lookup->timer);
        free(lookup);
        fault_from_status(&fault, fits ? TD_NO_MEMORY : TD_NOT_FOUND,
                          fits ? NULL : "no exchange has such an id", fits ? NULL : "id");
        api_reply_fault(api, request, &fault);
        return;
    }
    api_call_begin(api, &lookup->base, lookup_stop, false);
    lookup->http = request;
    lookup->who = api->who;
    lookup->found = found;
    lookup->ctx = ctx;
    memcpy(lookup->id, id, strlen(id) + 1);
    if (lookup_try(lookup, false)) {
        lookup_free(lookup);
        return;
    }
    http_request_on_gone(request, lookup_gone, lookup);
    loop_timer_start(api->loop, lookup->timer, LOOKUP_INTERVAL_MS);
}

void exchanges_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct td_error err = {0};
    if (api->host->ledger && strcmp(rest, "last") == 0 &&
        ledger_flush(api->host->ledger, LAST_FLUSH_MS, &err) != TD_OK)
        err.message[0] = '\0'; /* late: the newest committed exchange is the answer */
    exchanges_find(api, request, rest, reply_value, NULL);
}

/* The parameter since_wall_ms. False: the request was refused. */
static bool query_since(struct api *api, struct http_request *request, uint64_t *out)
{
    struct fault fault;
    if (query_number(request, STR("since_wall_ms"), 0, out))
        return true;
    fault_request(&fault, "since_wall_ms", "since_wall_ms must be milliseconds since 1970");
    api_reply_fault(api, request, &fault);
    return false;
}

/* In the form of OpenAI's lists. **takes** list. */
static void reply_list(struct api *api, struct http_request *request, struct json *list)
{
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("list"));
    json_put(object, "data", list);
    reply_value(api, request, object, NULL);
}

void exchanges_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    uint64_t limit, since;
    struct fault fault;
    if (!query_number(request, STR("limit"), LIST_LIMIT_DEFAULT, &limit) || limit < 1 ||
        limit > LIST_LIMIT_MAX) {
        fault_request(&fault, "limit", "limit must be from 1 to %d", LIST_LIMIT_MAX);
        api_reply_fault(api, request, &fault);
        return;
    }
    if (!query_since(api, request, &since))
        return;
    struct td_error err = {0};
    struct json *list = NULL;
    enum td_status status = open_reader(api, &err);
    if (status == TD_OK)
        status = ledger_reader_list(api->reader, access_view(&api->who), since, (size_t)limit,
                                    &list, &err);
    if (status != TD_OK) {
        reply_error(api, request, status, &err);
        return;
    }
    if (json_kind_of(list) == JSON_KIND_ARRAY)
        reply_list(api, request, list);
    else
        reply_value(api, request, list, NULL);
}

void shadows_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    uint64_t since;
    struct td_error err = {0};
    struct json *list = NULL;
    if (!query_since(api, request, &since))
        return;
    enum td_status status = open_reader(api, &err);
    if (status == TD_OK)
        status = ledger_reader_shadows(api->reader, since, &list, &err);
    if (status == TD_OK)
        reply_list(api, request, list);
    else
        reply_error(api, request, status, &err);
}

/* GET /tandem/v1/exchanges and /tandem/v1/exchanges/ID explain exchanges from the ledger.
 * /tandem/v1/shadows lists what ran in shadows, /tandem/v1/report has the sums. Other handlers
 * look up exchanges here. A tenant's look-up finds its own exchanges, as if no others were
 * there.
 *
 * The ledger commits in batches, so an exchange that was answered a moment ago may not be there
 * yet. A look-up that finds nothing is repeated by a timer until a commit interval has passed.
 * The loop waits neither for that nor for the ledger's database (ledger_desk.h). */
#include "api/admin/handlers.h"
#include "api/admin/ledger_desk.h"
#include "api/admin/lookup.h"
#include "api/http/access.h"
#include "api/http/call.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/core/assertion.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "ledger/record/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The ledger commits at most 200 ms apart; five times that is enough for a slow disk. */
#define LOOKUP_INTERVAL_MS 25
#define LOOKUP_TRIES_MAX 40
#define EXCHANGES_BYTES_MAX (8u << 20)
#define LIST_LIMIT_DEFAULT 20
#define LIST_LIMIT_MAX 1000

/* A question to the ledger. It is asked again by the timer where the answer may be on its way. */
struct lookup {
    struct api_call base; /* first */
    struct http_request *http;
    struct background_task *task; /* while the desk has the question */
    struct loop_timer *timer;
    uint32_t tries;
    api_found_fn *found;
    void *ctx; /* owned: freed with free */
    struct ledger_question question;
};

static void lookup_free(struct lookup *lookup)
{
    if (lookup->task)
        background_cancel(lookup->task);
    api_call_end(&lookup->base);
    loop_timer_free(lookup->base.api->loop, lookup->timer);
    free(lookup->ctx);
    free(lookup);
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

static void lookup_done(void *owner, struct ledger_answer *answer)
{
    struct lookup *lookup = owner;
    struct api *api = lookup->base.api;
    struct json *value = answer->value;
    bool may_come = lookup->question.what == LEDGER_ASKED_ONE && answer->status == TD_NOT_FOUND;
    lookup->task = NULL;
    answer->value = NULL;
    if (may_come && lookup->tries < LOOKUP_TRIES_MAX) {
        loop_timer_start(api->loop, lookup->timer, LOOKUP_INTERVAL_MS);
        return;
    }
    if (answer->status == TD_OK)
        lookup->found(api, lookup->http, value, lookup->ctx);
    else
        reply_error(api, lookup->http, answer->status, &answer->err);
    lookup_free(lookup);
}

static void lookup_ask(struct lookup *lookup)
{
    struct api *api = lookup->base.api;
    const struct ledger_asker asker = {api->loop, lookup_done, lookup};
    struct td_error err = {0};
    enum td_status status = TD_UNAVAILABLE;
    if (api->host->ledger_desk)
        status =
            ledger_desk_ask(api->host->ledger_desk, &lookup->question, &asker, &lookup->task, &err);
    else
        error_set(&err, status, "this server keeps no ledger");
    if (status == TD_OK)
        return;
    reply_error(api, lookup->http, status, &err);
    lookup_free(lookup);
}

static void lookup_again(void *ctx)
{
    struct lookup *lookup = ctx;
    lookup->tries++;
    lookup->question.hurry = false; /* whoever asks for what is not there costs one commit */
    lookup_ask(lookup);
}

static void lookup_gone(void *ctx)
{
    lookup_free(ctx);
}

static void lookup_stop(struct api_call *call)
{
    struct lookup *lookup = (struct lookup *)call;
    struct api *api = call->api;
    struct http_request *request = lookup->http;
    struct fault fault; /* answering also takes lookup_gone off the request */
    lookup_free(lookup);
    fault_stopping(&fault);
    api_reply_fault(api, request, &fault);
}

void exchanges_ask(struct api *api, struct http_request *request,
                   const struct ledger_question *question, api_found_fn *found, void *ctx)
{
    struct fault fault;
    const char *tenant = access_view(&api->who);
    struct lookup *lookup = calloc(1, sizeof *lookup);
    if (lookup)
        lookup->timer = loop_timer_new(api->loop, lookup_again, lookup);
    if (!lookup || !lookup->timer) {
        free(ctx);
        free(lookup);
        fault_from_status(&fault, TD_NO_MEMORY, NULL, NULL);
        api_reply_fault(api, request, &fault);
        return;
    }
    api_call_begin(api, &lookup->base, lookup_stop, false);
    lookup->http = request;
    lookup->question = *question;
    lookup->question.of_all = !tenant;
    snprintf(lookup->question.tenant, sizeof lookup->question.tenant, "%s", tenant ? tenant : "");
    lookup->found = found;
    lookup->ctx = ctx;
    http_request_on_gone(request, lookup_gone, lookup);
    lookup_ask(lookup);
}

/* Of one exchange. **takes** ctx. */
static void find(struct api *api, struct http_request *request, const char *id,
                 struct ledger_question *question, api_found_fn *found, void *ctx)
{
    struct fault fault;
    if (strlen(id) >= sizeof question->id) {
        free(ctx);
        fault_from_status(&fault, TD_NOT_FOUND, "no exchange has such an id", "id");
        api_reply_fault(api, request, &fault);
        return;
    }
    memcpy(question->id, id, strlen(id) + 1);
    question->hurry = true;
    exchanges_ask(api, request, question, found, ctx);
}

void exchanges_find(struct api *api, struct http_request *request, const char *id,
                    api_found_fn *found, void *ctx)
{
    ASSERT(request && id && found);
    struct ledger_question question = {.what = LEDGER_ASKED_ONE};
    find(api, request, id, &question, found, ctx);
}

void exchanges_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct ledger_question question = {.what = LEDGER_ASKED_ONE, .egress = true};
    find(api, request, rest, &question, reply_value, NULL);
}

/* In the form of OpenAI's lists, where it is none yet. **takes** list. */
static void reply_list(struct api *api, struct http_request *request, struct json *list, void *ctx)
{
    struct json *object = list;
    if (json_kind_of(list) == JSON_KIND_ARRAY) {
        object = json_new_object();
        json_put(object, "object", json_new_cstr("list"));
        json_put(object, "data", list);
    }
    reply_value(api, request, object, ctx);
}

/* What is wanted of a list: limit, since_wall_ms, tier, route, class, degraded. False: the request
 * was refused. */
static bool read_wanted(struct api *api, struct http_request *request,
                        struct ledger_question *question)
{
    const struct {
        const char *name;
        char *to;
        size_t size;
    } texts[] = {{"tier", question->tier, sizeof question->tier},
                 {"route", question->route, sizeof question->route},
                 {"class", question->data_class, sizeof question->data_class}};
    uint64_t limit, degraded;
    struct fault fault = {0};
    if (!query_number(request, STR("limit"), LIST_LIMIT_DEFAULT, &limit) || limit < 1 ||
        limit > LIST_LIMIT_MAX)
        fault_request(&fault, "limit", "limit must be from 1 to %d", LIST_LIMIT_MAX);
    else if (!query_number(request, STR("degraded"), 0, &degraded) || degraded > 1)
        fault_request(&fault, "degraded", "degraded must be 1 or 0");
    for (size_t i = 0; i < sizeof texts / sizeof *texts && !fault.code; i++)
        if (!query_text(request, str_from(texts[i].name), texts[i].to, texts[i].size))
            fault_request(&fault, texts[i].name, "%s is malformed or too long", texts[i].name);
    if (fault.code) {
        api_reply_fault(api, request, &fault);
        return false;
    }
    question->limit = (size_t)limit;
    question->degraded = degraded == 1;
    return query_wall_ms(api, request, "since_wall_ms", &question->since_wall_ms);
}

void exchanges_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct ledger_question question = {.what = LEDGER_ASKED_LIST};
    if (query_check(api, request, "limit since_wall_ms tier route class degraded") &&
        read_wanted(api, request, &question))
        exchanges_ask(api, request, &question, reply_list, NULL);
}

void shadows_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct ledger_question question = {.what = LEDGER_ASKED_SHADOWS};
    if (query_check(api, request, "since_wall_ms") &&
        query_wall_ms(api, request, "since_wall_ms", &question.since_wall_ms))
        exchanges_ask(api, request, &question, reply_list, NULL);
}

/* The whole report is about all tenants: a tenant gets the sums of its own exchanges alone. */
void report_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct ledger_question question = {.what = LEDGER_ASKED_REPORT, .by = LEDGER_BY_COUNT};
    char by[16] = "";
    struct fault fault;
    if (!query_check(api, request, "since_wall_ms by until_wall_ms key_id"))
        return;
    bool known = query_text(request, STR("by"), by, sizeof by);
    for (question.by = 0; *by && ledger_by_names[question.by]; question.by++)
        if (strcmp(ledger_by_names[question.by], by) == 0)
            break;
    if (!*by)
        question.by = access_view(&api->who) ? LEDGER_BY_DAY : LEDGER_BY_COUNT;
    if (!known || (*by && question.by == LEDGER_BY_COUNT))
        fault_request(&fault, "by", "by must be app, user, route, model, tier, class, day or key");
    else if (!query_text(request, STR("key_id"), question.key_id, sizeof question.key_id))
        fault_request(&fault, "key_id", "key_id must be the id of a key");
    else {
        if (query_wall_ms(api, request, "since_wall_ms", &question.since_wall_ms) &&
            query_wall_ms(api, request, "until_wall_ms", &question.until_wall_ms))
            exchanges_ask(api, request, &question, reply_value, NULL);
        return;
    }
    api_reply_fault(api, request, &fault);
}

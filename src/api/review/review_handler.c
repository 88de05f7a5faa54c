/* Reviews for people (docs/review.md), in the form of review_desk.h:
 *
 *   GET  /tandem/v1/review/tickets          those that wait; ?state=all, ?limit=, ?after=ID
 *   GET  /tandem/v1/review/tickets/ID       one
 *   POST /tandem/v1/review/take             the oldest that is open
 *   POST /tandem/v1/review/tickets/ID/VERB  take, renew, release, answer, edit, reject
 *   GET  /tandem/v1/review/answers/EX       for the client: what became of its exchange
 *
 * All but the last want the role of a reviewer, or an operator's key. */
#include "api/http/access.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "api/review/handlers.h"
#include "api/review/review_desk.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "exchange/private/review_case.h"
#include "ledger/record/ledger.h"
#include "tier/review/review.h"

#include <stdio.h>
#include <string.h>

#define REPLY_BYTES_MAX (64u << 20)
#define LIST_LIMIT_MAX 1000
#define PERSON_BYTES_MAX 40

struct review_call {
    struct api *api;
    struct http_request *request;
    struct exchange_services *services;
    struct review_desk desk;
    struct json *body; /* NULL = none came */
};

static uint32_t lease_of(void *ctx, const char *tier)
{
    const struct review_call *call = ctx;
    for (size_t i = 0; i < call->services->tier_count; i++)
        if (strcmp(call->services->tiers[i]->facts.name, tier) == 0)
            return tier_review_lease_s(call->services->tiers[i]);
    return REVIEW_LEASE_S;
}

static void close_call(struct review_call *call)
{
    json_free(call->body);
    call->api->host->release(call->api->host->ctx, call->services);
}

/* Several people may share a key: "reviewer" tells them apart. */
static bool read_person(struct review_call *call, struct fault *fault)
{
    const struct json *value = json_get(call->body, "reviewer");
    struct td_str name = json_text(value);
    const char *key = *call->api->who.key_id ? call->api->who.key_id : "operator";
    bool plain = name.len > 0 && name.len <= PERSON_BYTES_MAX;
    for (size_t i = 0; i < name.len && plain; i++)
        plain = (unsigned char)name.data[i] > 0x20 && name.data[i] != 0x7f;
    snprintf(call->desk.viewer.who, sizeof call->desk.viewer.who, "%s", key);
    if (json_absent(value))
        return true;
    if (!plain)
        return fault_request(fault, "reviewer", "reviewer must be a name of 1 to %d bytes",
                             PERSON_BYTES_MAX);
    snprintf(call->desk.viewer.who, sizeof call->desk.viewer.who, "%s/" STR_FMT, key,
             STR_ARG(name));
    return true;
}

/* Who may review, and what they may see. */
static bool read_rights(struct review_call *call, struct fault *fault)
{
    const struct auth_who *who = &call->api->who;
    struct key_terms terms = key_terms_none;
    bool known = who->stored && auth_terms(call->api->host->auth, who->key_id, &terms);
    call->desk.viewer.owner = access_view(who);
    if (known && terms.reviews) {
        call->desk.viewer.clearance =
            terms.clearance ? (enum td_data_class)(terms.clearance - 1) : TD_CLASS_PUBLIC;
        return true;
    }
    call->desk.viewer.clearance = TD_CLASS_RESTRICTED;
    if (who->operates)
        return true;
    fault_set(fault, 403, "permission_error", "reviewer_only",
              "reviews take a key with the role of a reviewer: tandem keys limit KEY --role "
              "reviewer --clearance sensitive");
    return false;
}

static bool read_body(struct review_call *call, struct fault *fault)
{
    struct td_str body = str_trim(http_request_body(call->request));
    if (body.len == 0)
        return true;
    if (!fault_parse_json(body, &call->body, fault))
        return false;
    return json_kind_of(call->body) == JSON_KIND_OBJECT ||
           fault_request(fault, NULL, "the body must be an object");
}

/* False when the request was answered here. Where there were never people, there are no tickets. */
static bool open_call(struct review_call *call, struct api *api, struct http_request *request,
                      bool lists)
{
    struct fault fault = {0};
    *call = (struct review_call){.api = api, .request = request};
    call->services = api->host->acquire(api->host->ctx);
    call->desk.queue = call->services->queues;
    call->desk.lease_s = lease_of;
    call->desk.ctx = call;
    if (!call->desk.queue && lists)
        return true;
    if (!call->desk.queue)
        fault_set(&fault, 404, "invalid_request_error", "no_reviews",
                  "no tier of this server has people: see docs/review.md");
    else if (read_body(call, &fault) && read_rights(call, &fault) && read_person(call, &fault))
        return true;
    close_call(call);
    api_reply_fault(api, request, &fault);
    return false;
}

/* A ticket's state is what the request conflicts with; a text is as long as a body may not be. */
static void reply_status(struct review_call *call, enum td_status status,
                         const struct td_error *err, const char *param)
{
    struct fault fault;
    if (status == TD_BUSY || status == TD_UNSUPPORTED)
        fault_set(&fault, 409, "invalid_request_error", "ticket_state", "%s", err->message);
    else if (status == TD_LIMIT)
        fault_set(&fault, 413, "invalid_request_error", "text_too_long", "%s", err->message);
    else if (status == TD_DENIED)
        fault_set(&fault, 403, "permission_error", "not_cleared", "%s", err->message);
    else
        fault_from_status(&fault, status, err->message, param);
    if (param && status == TD_LIMIT)
        snprintf(fault.param, sizeof fault.param, "%s", param);
    fault.no_retry = true;
    api_reply_fault(call->api, call->request, &fault);
}

static void finish(struct review_call *call, enum td_status status, struct json *value,
                   const char *param, const struct td_error *err)
{
    if (status == TD_OK) {
        api_reply_value(call->api, call->request, value, REPLY_BYTES_MAX);
    } else {
        json_free(value);
        reply_status(call, status, err, param);
    }
    close_call(call);
}

static struct json *empty_list(void)
{
    struct json *list = json_new_object();
    json_put(list, "object", json_new_cstr("list"));
    json_put(list, "data", json_new_array());
    return list;
}

static bool is_there(void *ctx, const struct queued *row)
{
    (void)ctx;
    (void)row;
    return false;
}

void review_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct review_call call;
    struct td_error err = {0};
    struct json *list = NULL;
    char after[QUEUED_ID_BYTES] = "", state[16] = "";
    uint64_t limit = 0;
    if (!query_check(api, request, "limit after state") || !open_call(&call, api, request, true))
        return;
    enum td_status status = TD_OK;
    const char *param = NULL;
    if (!query_number(request, STR("limit"), 100, &limit) || limit < 1 || limit > LIST_LIMIT_MAX)
        status = error_set(&err, TD_INVALID, "limit must be from 1 to %d", LIST_LIMIT_MAX);
    else if (!query_text(request, STR("after"), after, sizeof after) ||
             !query_text(request, STR("state"), state, sizeof state) ||
             (*state && strcmp(state, "all") != 0 && strcmp(state, "waiting") != 0))
        status = error_set(&err, TD_INVALID, "state must be waiting or all, and after a ticket");
    const struct queue_filter filter = {
        .after = after, .waiting = strcmp(state, "all") != 0, .limit = (uint32_t)limit};
    if (status == TD_OK && *after && call.desk.queue) {
        status =
            queue_store_find(call.desk.queue, call.desk.viewer.owner, after, is_there, NULL, &err);
        param = "after";
    }
    if (status == TD_OK && !call.desk.queue)
        list = empty_list();
    else if (status == TD_OK)
        status = review_desk_list(&call.desk, &filter, &list, &err);
    finish(&call, status, list, param, &err);
}

/* The id of a ticket and the verb behind it; "" where there is none. */
static bool read_path(const char *rest, char id[static QUEUED_ID_BYTES], char verb[static 16])
{
    struct td_str part = endpoint_part(rest);
    const char *after = rest + part.len;
    if (part.len >= QUEUED_ID_BYTES || strlen(after) > 15)
        return false;
    snprintf(id, QUEUED_ID_BYTES, STR_FMT, STR_ARG(part));
    snprintf(verb, 16, "%s", *after == '/' ? after + 1 : after);
    return true;
}

void review_handle_one(struct api *api, struct http_request *request, const char *rest)
{
    struct review_call call;
    struct td_error err = {0};
    struct json *value = NULL;
    char id[QUEUED_ID_BYTES] = "", verb[16] = "";
    if (!open_call(&call, api, request, false))
        return;
    enum td_status status = read_path(rest, id, verb) && !*verb
                                ? review_desk_show(&call.desk, id, &value, &err)
                                : error_set(&err, TD_NOT_FOUND, "no ticket has that id");
    finish(&call, status, value, NULL, &err);
}

/* --- what can be learnt --- */

/* Where the client was given the best candidate, the verdict is feedback on the exchange's answer;
 * where it was given a notice, what the device had said is compared with what people said. Of a
 * request that is still held the exchange learns itself (exchange/machine/review.c). */
static void learn(struct ledger *ledger, const struct review_verdict *verdict)
{
    const struct json *list = verdict->candidates;
    size_t count = json_count(list);
    struct ledger_feedback feedback = {.exchange = verdict->exchange,
                                       .wall_ms = clock_wall_ms(NULL),
                                       .score = verdict->accepted == (int64_t)count - 1};
    if (!ledger || count == 0)
        return;
    if (verdict->interim) /* the best candidate is the last */
        (void)!ledger_put_feedback(ledger, &feedback, NULL);
    for (size_t i = 0; verdict->notice && i < count; i++) {
        const struct json *row = json_at(list, i);
        struct ledger_shadow said = {.exchange = verdict->exchange,
                                     .wall_ms = feedback.wall_ms,
                                     .tier = json_cstr(json_get(row, "tier")),
                                     .place = json_cstr(json_get(row, "place")),
                                     .model = json_cstr(json_get(row, "model"))};
        review_case_learn(ledger, &said, (int64_t)i == verdict->accepted);
    }
}

static void finish_step(struct review_call *call, const char *id, const char *verb)
{
    struct td_error err = {0};
    struct json *value = NULL;
    const char *param = NULL;
    struct review_verdict verdict;
    enum td_status status =
        review_desk_step(&call->desk, id, verb, call->body, &value, &verdict, &param, &err);
    if (*verdict.exchange)
        learn(call->api->host->ledger, &verdict);
    json_free(verdict.candidates);
    finish(call, status, value, param, &err);
}

void review_handle_take(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct review_call call;
    if (open_call(&call, api, request, false))
        finish_step(&call, NULL, "take");
}

void review_handle_step(struct api *api, struct http_request *request, const char *rest)
{
    static const char *const verbs[] = {"take", "renew",  "release", "answer",
                                        "edit", "reject", NULL};
    struct review_call call;
    struct td_error err = {0};
    char id[QUEUED_ID_BYTES] = "", verb[16] = "";
    size_t which;
    if (!open_call(&call, api, request, false))
        return;
    if (!read_path(rest, id, verb) || !names_table_find(verbs, str_from(verb), &which))
        finish(&call,
               error_set(&err, TD_NOT_FOUND,
                         "behind the ticket comes take, renew, release, answer, edit or reject"),
               NULL, NULL, &err);
    else
        finish_step(&call, id, verb);
}

void review_handle_answer(struct api *api, struct http_request *request, const char *rest)
{
    struct review_call call = {.api = api, .request = request};
    struct td_error err = {0};
    struct json *value = NULL;
    char exchange[QUEUED_NAME_BYTES];
    call.services = api->host->acquire(api->host->ctx);
    struct queue_store *queue = call.services->queues;
    snprintf(exchange, sizeof exchange, "%.*s", (int)sizeof exchange - 1, rest);
    enum td_status status =
        queue ? review_desk_answer(queue, access_view(&api->who), exchange, &value, &err)
              : error_set(&err, TD_NOT_FOUND, "no tier of this server has people");
    finish(&call, status, value, NULL, &err);
}

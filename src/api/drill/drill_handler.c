/* POST /tandem/v1/drill {"fault": "http_429", "data_class": "sensitive", "model": "auto"}:
 * rehearses one cell of docs/failures.md. An operator's.
 *
 *   {"object": "drill", "fault", "data_class", "route", "status" (what a client would get), "tier",
 *    "degraded", "disclosure", "error": {"message", "type", "param", "code"}, "attempts": [{"tier",
 *    "outcome"}], "passed", "why" (it did not)} */
#include "api/drill/drill.h"
#include "api/drill/handlers.h"
#include "api/drill/scratch_ledger.h"
#include "api/http/call.h"
#include "api/http/reply.h"
#include "api/inference/exchange_reply.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"
#include "base/thread/background.h"
#include "base/time/log.h"
#include "exchange/machine/attempt.h"

#include <stdio.h>
#include <stdlib.h>

#define REPLY_BYTES_MAX 65536
#define MODEL_BYTES_MAX 256

/* What a thread does for the row of the locked ledger: it makes one, and later unlocks it. */
struct scratch_work {
    const char *beside; /* of the process */
    struct scratch_ledger *ledger;
    bool unlocks;
    int64_t written;
    enum td_status status;
    struct td_error err;
};

struct drill_call {
    struct api_call base;               /* first */
    struct http_request *http;          /* NULL when the client left */
    struct exchange_services *services; /* the server's */
    struct exchange *exchange;
    struct loop_timer *reaper;     /* the exchange's last event comes from inside of it */
    struct background_task *task;  /* NULL = none runs */
    struct scratch_ledger *ledger; /* NULL = there is none, or the task has it */
    struct json *reply;            /* while the task looks whether it is true */
    struct drill drill;
    char model[MODEL_BYTES_MAX];
    struct td_message message;
    struct td_request request;
};

static void call_free(struct drill_call *call)
{
    struct api *api = call->base.api;
    api_call_end(&call->base);
    api->host->release(api->host->ctx, call->services);
    loop_timer_free(api->loop, call->reaper);
    scratch_ledger_free(call->ledger);
    json_free(call->reply);
    free(call);
}

static void call_gone(void *ctx)
{
    ((struct drill_call *)ctx)->http = NULL;
}

static void call_stop(struct api_call *base)
{
    struct drill_call *call = (struct drill_call *)base;
    struct fault fault;
    if (call->task)
        background_cancel(call->task);
    if (call->exchange)
        exchange_cancel(call->exchange);
    fault_stopping(&fault);
    if (call->http)
        api_reply_fault(base->api, call->http, &fault);
    call_free(call);
}

static struct json *attempts_of(const struct exchange_summary *summary)
{
    struct json *list = json_new_array();
    for (uint32_t i = 0; summary->attempts && i < summary->attempt_count; i++) {
        struct json *row = json_new_object();
        json_put(row, "tier", json_new_cstr(summary->facts[summary->attempts[i]->tier].name));
        json_put(row, "outcome", json_new_cstr(names_outcome(summary->attempts[i]->outcome)));
        json_push(list, row);
    }
    return list;
}

static struct json *error_of(const struct fault *fault)
{
    struct json *object = NULL;
    struct buf text;
    buf_init(&text, REPLY_BYTES_MAX);
    fault_write(fault, &text);
    if (text.failed || json_parse(buf_view(&text), &object, NULL) != TD_OK)
        object = NULL;
    buf_deinit(&text);
    struct json *error = json_clone(json_get(object, "error"));
    json_free(object);
    return error;
}

/* The summary is gone after the event. */
static void note_end(struct drill_call *call, const struct exchange_event *event)
{
    const struct exchange_summary *summary = event->summary;
    struct fault fault = {.code = 200};
    char why[DRILL_WHY_BYTES];
    bool failed = event->kind == EXCHANGE_FAILED;
    if (failed)
        exchange_reply_fault(event, &fault);
    bool passed = drill_judge(&call->drill, summary, failed ? fault.message : NULL, why);
    const char *name = drill_fault_names[call->drill.fault];
    log_event(LOG_LEVEL_INFO, "drill", "exchange=%s fault=%s class=%s status=%d tier=%s passed=%d",
              summary->id, name, names_class(summary->data_class), fault.code,
              failed || !summary->tier ? "-" : summary->tier, passed);
    struct json *object = json_new_object();
    json_put(object, "object", json_new_cstr("drill"));
    json_put(object, "fault", json_new_cstr(name));
    json_put(object, "data_class", json_new_cstr(names_class(summary->data_class)));
    json_put(object, "route", json_new_cstr(summary->route));
    json_put(object, "status", json_new_int(fault.code));
    json_put(object, "tier", json_new_cstr(failed ? NULL : summary->tier));
    json_put(object, "degraded", json_new_bool(!failed && summary->degraded));
    json_put(object, "disclosure", json_new_cstr(failed ? NULL : summary->disclosure));
    json_put(object, "error", failed ? error_of(&fault) : json_new_null());
    json_put(object, "attempts", attempts_of(summary));
    json_put(object, "passed", json_new_bool(passed));
    json_put(object, "why", json_new_cstr(passed ? NULL : why));
    call->reply = object;
}

/* --- the locked ledger --- */

static void scratch_run(void *ctx)
{
    struct scratch_work *work = ctx;
    if (work->unlocks)
        work->status = scratch_ledger_unlock(work->ledger, &work->written, &work->err);
    else
        work->status = scratch_ledger_open(work->beside, &work->ledger, &work->err);
}

static void scratch_free(void *ctx)
{
    scratch_ledger_free(((struct scratch_work *)ctx)->ledger);
    free(ctx);
}

static void reply_and_end(struct drill_call *call)
{
    if (call->http)
        api_reply_value(call->base.api, call->http, call->reply, REPLY_BYTES_MAX);
    else
        json_free(call->reply);
    call->reply = NULL;
    call_free(call);
}

static void end_with_fault(struct drill_call *call, struct fault *fault)
{
    if (call->http)
        api_reply_fault(call->base.api, call->http, fault);
    call_free(call);
}

static void start(struct drill_call *call);

static void scratch_done(void *ctx, void *owner)
{
    struct scratch_work *work = ctx;
    struct drill_call *call = owner;
    struct fault fault = {0};
    call->task = NULL;
    if (work->status != TD_OK && !work->unlocks) {
        fault_from_status(&fault, work->status, work->err.message, NULL);
        end_with_fault(call, &fault);
    } else if (!work->unlocks) {
        call->ledger = work->ledger;
        work->ledger = NULL;
        call->drill.services.ledger = scratch_ledger_of(call->ledger);
        start(call);
    } else {
        if (work->status != TD_OK || work->written != 1) {
            json_put(call->reply, "passed", json_new_bool(false));
            json_put(call->reply, "why",
                     json_new_cstr("its record was not written when the ledger was free"));
        }
        reply_and_end(call);
    }
}

/* Unlocks the call's ledger where it has one, else makes it. */
static bool scratch_submit(struct drill_call *call, struct td_error *err)
{
    struct api *api = call->base.api;
    struct scratch_work *work = calloc(1, sizeof *work);
    if (!work)
        return error_set(err, TD_NO_MEMORY, "no memory for a drill") == TD_OK;
    *work = (struct scratch_work){
        .beside = api->host->ledger_path, .ledger = call->ledger, .unlocks = call->ledger != NULL};
    const struct background_work background = {.run = scratch_run,
                                               .done = scratch_done,
                                               .free_ctx = scratch_free,
                                               .ctx = work,
                                               .owner = call,
                                               .loop = api->loop};
    if (background_submit(api->host->background, &background, &call->task, err) != TD_OK) {
        free(work);
        return false;
    }
    call->ledger = NULL; /* the task has it */
    return true;
}

/* The exchange has ended, and is gone. */
static void reap(void *ctx)
{
    struct drill_call *call = ctx;
    struct td_error err = {0};
    struct fault fault;
    if (!call->ledger) {
        reply_and_end(call);
    } else if (!scratch_submit(call, &err)) {
        fault_from_status(&fault, err.status, err.message, NULL);
        end_with_fault(call, &fault);
    }
}

static void on_event(void *ctx, const struct exchange_event *event)
{
    struct drill_call *call = ctx;
    if (event->kind != EXCHANGE_DONE && event->kind != EXCHANGE_FAILED)
        return;
    call->exchange = NULL;
    note_end(call, event);
    loop_timer_start(call->base.api->loop, call->reaper, 0);
}

static bool read_wish(struct drill_call *call, const struct json *body, enum drill_fault *out,
                      struct fault *fault)
{
    struct td_str name = json_text(json_get(body, "fault"));
    struct td_str model = json_text(json_get(body, "model"));
    size_t which;
    if (name.len == 0 || !names_table_find(drill_fault_names, name, &which))
        return fault_request(fault, "fault",
                             "fault must be one of those of docs/failures.md, such as http_429");
    *out = (enum drill_fault)which;
    if (!names_class_parse(json_text(json_get(body, "data_class")), &call->request.data_class))
        return fault_request(fault, "data_class",
                             "data_class must be public, sensitive, contractual or restricted");
    if (model.len >= sizeof call->model || memchr(model.data ? model.data : "", '\0', model.len))
        return fault_request(fault, "model", "model must be the name of a route");
    snprintf(call->model, sizeof call->model, STR_FMT, STR_ARG(model));
    return true;
}

static void start(struct drill_call *call)
{
    struct td_error err = {0};
    struct fault fault = {0};
    enum td_status status = exchange_start(&call->drill.services, call->base.api->loop,
                                           &call->request, on_event, call, &call->exchange, &err);
    if (status == TD_OK)
        return;
    exchange_reply_refusal(status, &err, NULL, &fault);
    end_with_fault(call, &fault);
}

static void begin(struct drill_call *call, const struct json *body)
{
    struct api *api = call->base.api;
    enum drill_fault which = DRILL_FAULT_COUNT;
    struct fault fault = {0};
    struct td_error err = {0};
    call->message = (struct td_message){TD_ROLE_USER, STR("This is a drill.")};
    call->request = (struct td_request){.messages = &call->message, .message_count = 1};
    if (!read_wish(call, body, &which, &fault)) {
        end_with_fault(call, &fault);
        return;
    }
    call->request.model = *call->model ? call->model : NULL;
    enum td_status status = drill_init(&call->drill, which, call->services, &err);
    drill_prepare(&call->drill, &call->request);
    if (status == TD_OK && which == DRILL_LEDGER_LOCKED && api->host->ledger) {
        if (scratch_submit(call, &err))
            return;
        status = err.status;
    }
    if (status == TD_OK) {
        start(call);
        return;
    }
    fault_from_status(&fault, status, err.message, NULL);
    end_with_fault(call, &fault);
}

void drill_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct fault fault;
    struct json *body = NULL;
    struct drill_call *call = calloc(1, sizeof *call);
    if (call)
        call->reaper = loop_timer_new(api->loop, reap, call);
    if (!call || !call->reaper) {
        free(call);
        fault_from_status(&fault, TD_NO_MEMORY, "no memory for a drill", NULL);
        api_reply_fault(api, request, &fault);
        return;
    }
    api_call_begin(api, &call->base, call_stop, true);
    call->services = api->host->acquire(api->host->ctx);
    call->http = request;
    http_request_on_gone(request, call_gone, call);
    if (fault_parse_json(http_request_body(request), &body, &fault))
        begin(call, body);
    else
        end_with_fault(call, &fault);
    json_free(body);
}

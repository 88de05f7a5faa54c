/* GET /tandem/v1/egress?since=SECONDS: the sums of what left since then, the newest transfers, and
 * whether the whole record is complete and unchanged, as `tandem egress report` and `verify` say.
 *
 *   {"object": "egress", "state": "kept", "none" (nothing has left yet) or "off", the sums,
 *    "newest": [the record's lines], "proof": {"sound", "transfers", "heads", "bad_row", "problem",
 *    "unsigned_rows", "unwritten_rows", "key"}}
 *
 * A record may have a million lines, so it is read in the background. */
#include "api/evidence/egress_report.h"
#include "api/evidence/handlers.h"
#include "api/http/call.h"
#include "api/http/query.h"
#include "api/http/reply.h"
#include "base/background.h"
#include "base/json.h"
#include "base/str.h"
#include "ledger/egress_verify.h"

#include <stdlib.h>
#include <sys/stat.h>

#define REPLY_BYTES_MAX ((size_t)8 << 20)

/* What the thread works on. */
struct work {
    const char *path;
    uint64_t since_wall_ms;
    struct json *value;
    enum td_status status;
    struct td_error err;
};

struct egress_call {
    struct api_call base; /* first */
    struct http_request *http;
    struct background_task *task;
};

static void call_free(struct egress_call *call)
{
    api_call_end(&call->base);
    free(call);
}

/* --- the thread --- */

static struct json *newest_json(struct egress_report *report)
{
    struct json *list = json_new_array();
    uint64_t count = report->transfers < EGRESS_NEWEST_MAX ? report->transfers : EGRESS_NEWEST_MAX;
    for (uint64_t i = 1; i <= count; i++)
        json_push(list, json_clone(report->newest[(report->transfers - i) % EGRESS_NEWEST_MAX]));
    return list;
}

static void work_run(void *ctx)
{
    struct work *work = ctx;
    struct stat info;
    struct egress_report report = {0};
    struct egress_verdict verdict;
    bool there = work->path && stat(work->path, &info) == 0;
    if (there)
        work->status = egress_verify(work->path, NULL, &verdict, &work->err);
    /* What is damaged has no sums that mean anything. */
    if (there && work->status == TD_OK && verdict.sound)
        work->status = egress_report_read(work->path, work->since_wall_ms, &report, &work->err);
    if (work->status == TD_OK) {
        work->value = egress_report_json(&report);
        json_put(work->value, "object", json_new_cstr("egress"));
        json_put(work->value, "state", json_new_cstr(there ? "kept" : work->path ? "none" : "off"));
        json_put(work->value, "newest", newest_json(&report));
        json_put(work->value, "proof", there ? egress_proof_json(&verdict) : json_new_null());
    }
    egress_report_deinit(&report);
}

static void work_free(void *ctx)
{
    json_free(((struct work *)ctx)->value);
    free(ctx);
}

/* --- the loop --- */

static void work_done(void *ctx, void *owner)
{
    struct work *work = ctx;
    struct egress_call *call = owner;
    struct api *api = call->base.api;
    if (work->status == TD_OK)
        api_reply_value(api, call->http, work->value, REPLY_BYTES_MAX);
    else
        api_reply_status(api, call->http, work->status, &work->err, NULL);
    work->value = NULL;
    call_free(call);
}

static void call_gone(void *ctx)
{
    struct egress_call *call = ctx;
    background_cancel(call->task);
    call_free(call);
}

static void call_stop(struct api_call *base)
{
    struct egress_call *call = (struct egress_call *)base;
    struct fault fault;
    background_cancel(call->task);
    fault_stopping(&fault);
    api_reply_fault(base->api, call->http, &fault);
    call_free(call);
}

static enum td_status begin(struct api *api, struct http_request *request, uint64_t since,
                            struct td_error *err)
{
    struct egress_call *call = calloc(1, sizeof *call);
    struct work *work = calloc(1, sizeof *work);
    enum td_status status = TD_NO_MEMORY;
    if (call && work) {
        call->http = request;
        work->path = api->host->egress_path;
        work->since_wall_ms = since * 1000;
        const struct background_work background = {.run = work_run,
                                                   .done = work_done,
                                                   .free_ctx = work_free,
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

void egress_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    uint64_t since;
    struct fault fault = {0};
    struct td_error err = {0};
    if (!query_number(request, STR("since"), 0, &since) || since > (uint64_t)INT64_MAX / 1000) {
        fault_request(&fault, "since", "since must be a whole number of seconds since 1970");
        api_reply_fault(api, request, &fault);
        return;
    }
    enum td_status status = begin(api, request, since, &err);
    if (status != TD_OK)
        api_reply_status(api, request, status, &err, NULL);
}

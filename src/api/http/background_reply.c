#include "api/http/background_reply.h"

#include "api/http/call.h"
#include "api/http/reply.h"
#include "base/json/json.h"
#include "base/thread/background.h"

#include <stdlib.h>

struct waiting {
    struct api_call base;      /* first */
    struct http_request *http; /* NULL when the client left, and the work goes on */
    struct background_task *task;
    bool goes_on, no_retry; /* of the work, which is the thread's */
};

static void waiting_free(struct waiting *call)
{
    api_call_end(&call->base);
    free(call);
}

static void reply(struct api *api, struct http_request *request, struct background_reply *work)
{
    if (work->reply) {
        work->reply(api, request, work);
    } else if (work->status == TD_OK) {
        api_reply_value(api, request, work->value, work->bytes_max);
        work->value = NULL;
    } else if (work->status == TD_BUSY && work->conflict) {
        struct fault fault;
        fault_set(&fault, 409, "invalid_request_error", work->conflict, "%s", work->err.message);
        fault.no_retry = true;
        api_reply_fault(api, request, &fault);
    } else {
        api_reply_status(api, request, work->status, &work->err, work->param);
    }
}

static void work_done(void *ctx, void *owner)
{
    struct waiting *call = owner;
    struct api *api = call->base.api;
    struct http_request *request = call->http;
    api_begin_event(api);
    waiting_free(call);
    reply(api, request, ctx);
}

static void call_gone(void *ctx)
{
    struct waiting *call = ctx;
    call->http = NULL;
    if (call->goes_on)
        return;
    background_cancel(call->task);
    waiting_free(call);
}

static void call_stop(struct api_call *base)
{
    struct waiting *call = (struct waiting *)base;
    struct fault fault;
    background_cancel(call->task);
    fault_stopping(&fault);
    if (call->no_retry)
        fault.retry_after_s = 0;
    if (call->http)
        api_reply_fault(base->api, call->http, &fault);
    waiting_free(call);
}

void background_reply_free(void *work)
{
    struct background_reply *reply = work;
    if (!reply)
        return;
    json_free(reply->value);
    if (reply->deinit)
        reply->deinit(work);
    free(work);
}

void background_reply_begin(struct api *api, struct http_request *request, void *work)
{
    struct td_error err = {0};
    enum td_status status = TD_NO_MEMORY;
    struct waiting *call = work ? calloc(1, sizeof *call) : NULL;
    if (call) {
        const struct background_reply *reply = work;
        call->http = request;
        call->goes_on = reply->goes_on;
        call->no_retry = reply->no_retry;
        const struct background_work background = {.run = reply->run,
                                                   .done = work_done,
                                                   .free_ctx = background_reply_free,
                                                   .ctx = work,
                                                   .owner = call,
                                                   .loop = api->loop};
        status = background_submit(api->host->background, &background, &call->task, &err);
    }
    if (status == TD_OK) {
        api_call_begin(api, &call->base, call_stop, false);
        http_request_on_gone(request, call_gone, call);
        return;
    }
    free(call);
    background_reply_free(work);
    api_reply_status(api, request, status, &err, NULL);
}

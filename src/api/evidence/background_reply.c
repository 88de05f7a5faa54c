#include "api/evidence/background_reply.h"

#include "api/http/call.h"
#include "api/http/reply.h"
#include "base/background.h"

#include <stdlib.h>

struct waiting {
    struct api_call base; /* first */
    struct http_request *http;
    struct background_task *task;
};

static void waiting_free(struct waiting *call)
{
    api_call_end(&call->base);
    free(call);
}

static void work_done(void *ctx, void *owner)
{
    struct background_reply *work = ctx;
    struct waiting *call = owner;
    struct api *api = call->base.api;
    if (work->status == TD_OK) {
        api_reply_value(api, call->http, work->value, work->bytes_max);
    } else if (work->status == TD_BUSY && work->conflict) {
        struct fault fault;
        fault_set(&fault, 409, "invalid_request_error", work->conflict, "%s", work->err.message);
        fault.no_retry = true;
        api_reply_fault(api, call->http, &fault);
    } else {
        api_reply_status(api, call->http, work->status, &work->err, work->param);
    }
    work->value = NULL;
    waiting_free(call);
}

static void call_gone(void *ctx)
{
    struct waiting *call = ctx;
    background_cancel(call->task);
    waiting_free(call);
}

static void call_stop(struct api_call *base)
{
    struct waiting *call = (struct waiting *)base;
    struct fault fault;
    background_cancel(call->task);
    fault_stopping(&fault);
    api_reply_fault(base->api, call->http, &fault);
    waiting_free(call);
}

enum td_status background_reply_begin(struct api *api, struct http_request *request,
                                      struct background_reply *work, struct td_error *err)
{
    struct waiting *call = calloc(1, sizeof *call);
    const struct background_work background = {.run = work->run,
                                               .done = work_done,
                                               .free_ctx = work->free,
                                               .ctx = work,
                                               .owner = call,
                                               .loop = api->loop};
    enum td_status status = TD_NO_MEMORY;
    if (call)
        status = background_submit(api->host->background, &background, &call->task, err);
    if (status != TD_OK) {
        free(call);
        return status;
    }
    call->http = request;
    api_call_begin(api, &call->base, call_stop, false);
    http_request_on_gone(request, call_gone, call);
    return TD_OK;
}

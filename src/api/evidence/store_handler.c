/* Models for the operator: those that can be had, and the one that is on its way.
 *
 *   GET    /tandem/v1/store          as `tandem models recommend --json`, with "default"
 *   POST   /tandem/v1/store/default  {"model": NAME or null}: from the next start on
 *   POST   /tandem/v1/store/pull     {"model": a name of the list, or hf:ORG/REPO...}
 *   GET    /tandem/v1/store/pull     {"object": "model.pull", "state": "none", "running", "done",
 *                                    "failed" or "cancelled", "model", "last": the last event of
 *                                    `tandem models pull --json`, "error"}
 *   DELETE /tandem/v1/store/pull     ends it; the same pull goes on where it stopped */
#include "api/evidence/handlers.h"
#include "api/http/background_reply.h"
#include "api/http/reply.h"
#include "base/core/error.h"
#include "base/core/str.h"
#include "base/json/json.h"

#include <stdlib.h>
#include <string.h>

#define REPLY_BYTES_MAX ((size_t)1 << 20)

struct work {
    struct background_reply reply; /* first */
    const struct api_models *models;
};

static void work_run(void *ctx)
{
    struct work *work = ctx;
    work->reply.status =
        work->models->list(work->models->ctx, &work->reply.value, &work->reply.err);
}

void store_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct work *work = calloc(1, sizeof *work);
    if (work) {
        work->models = &api->host->models;
        work->reply = (struct background_reply){.run = work_run, .bytes_max = REPLY_BYTES_MAX};
    }
    background_reply_begin(api, request, work);
}

static void reply_state(struct api *api, struct http_request *request)
{
    api_reply_value(api, request, api->host->models.state(api->host->models.ctx), REPLY_BYTES_MAX);
}

void store_handle_state(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    reply_state(api, request);
}

void store_handle_cancel(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    api->host->models.cancel(api->host->models.ctx);
    reply_state(api, request);
}

/* The name in the body goes to `call`. */
static void name_one(struct api *api, struct http_request *request, bool may_be_null,
                     enum td_status (*call)(void *, const char *, struct td_error *))
{
    struct td_error err = {0};
    struct json *body;
    if (!api_read_body(api, request, &body))
        return;
    const struct json *model = json_get(body, "model");
    struct td_str name = json_text(model);
    bool is_text = json_kind_of(model) == JSON_KIND_TEXT && !memchr(name.data, '\0', name.len);
    bool is_null = may_be_null && model && json_kind_of(model) == JSON_KIND_NULL;
    enum td_status status =
        is_text || is_null ? call(api->host->models.ctx, is_text ? json_cstr(model) : NULL, &err)
                           : error_set(&err, TD_INVALID, "model must be a string%s",
                                       may_be_null ? " or null" : "");
    json_free(body);
    if (status == TD_OK)
        reply_state(api, request);
    else
        api_reply_status(api, request, status, &err, "model");
}

void store_handle_pull(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    name_one(api, request, false, api->host->models.pull);
}

void store_handle_choose(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    name_one(api, request, true, api->host->models.choose);
}

/* The configuration's file and calibrations, for operators. Whatever waits for a disk or for the
 * server to reload does so in a thread.
 *
 *   GET  /tandem/v1/config         {"object": "config", "file", "text", "version", "may_change",
 *                                   "why_not", "sections": that alone may be changed ([] = all)}
 *   POST /tandem/v1/config/check   {"text"}: {"object": "config_check", "ok", "errors": [{"line",
 *                                   "text"}], "error_count"}, and where it is sound, "warnings",
 *                                   "policy_version", "tiers", "routes", "rules", "tests" (those
 *                                   beside the file, or null), "restart" (sections that wait for
 *                                   one)
 *   POST /tandem/v1/config         {"text", "version"}: the same of a text that is now in force.
 *                                   409 config_changed: the file is another one than was read
 *   GET  /tandem/v1/config/schema  its JSON Schema
 *   GET, POST {"tier", "questions"}, DELETE /tandem/v1/calibration/run, and POST
 *   /tandem/v1/calibration/keep    {"object": "calibration_run", "state", "tier", "asked",
 *                                   "questions", "right", "left_s", "error", "found": as `tandem
 *                                   calibrate --json` has it, "kept"} */
#include "api/evidence/handlers.h"
#include "api/http/auth.h"
#include "api/http/background_reply.h"
#include "api/http/reply.h"
#include "base/core/error.h"
#include "base/json/json.h"

#include <stdio.h>
#include <stdlib.h>

#define REPLY_BYTES_MAX ((size_t)8 << 20)

struct work {
    struct background_reply reply; /* first */
    const struct api_host *host;
    struct api_desk_ask ask;
    struct json *body; /* what the ask borrows from */
    char key_id[SPENDING_KEY_ID_BYTES];
};

static void work_run(void *ctx)
{
    struct work *work = ctx;
    struct background_reply *reply = &work->reply;
    reply->status = work->host->desk(work->host->desk_ctx, &work->ask, &reply->value, &reply->err);
}

static void work_deinit(void *ctx)
{
    json_free(((struct work *)ctx)->body);
}

/* What of the body each step needs. */
static bool read_body(struct work *work, struct fault *fault)
{
    struct api_desk_ask *ask = &work->ask;
    bool calibrates = ask->step == API_DESK_CALIBRATE;
    bool edits = ask->step == API_DESK_CHECK || ask->step == API_DESK_APPLY;
    ask->text = json_text(json_get(work->body, calibrates ? "questions" : "text"));
    ask->version = json_cstr(json_get(work->body, "version"));
    ask->tier = json_cstr(json_get(work->body, "tier"));
    if (edits && !ask->text.data)
        return fault_request(fault, "text", "text must be the configuration as YAML");
    if (ask->step == API_DESK_APPLY && !ask->version)
        return fault_request(fault, "version",
                             "version must be the one of the text that was changed");
    return true;
}

static bool prepare(struct api *api, const struct http_request *request, enum api_desk_step step,
                    struct work *work, struct fault *fault)
{
    bool reads = step == API_DESK_CHECK || step == API_DESK_APPLY || step == API_DESK_CALIBRATE;
    snprintf(work->key_id, sizeof work->key_id, "%s", api->who.key_id);
    work->host = api->host;
    work->ask = (struct api_desk_ask){.step = step,
                                      .admin = !api->who.stored,
                                      .open = auth_is_open(api->host->auth),
                                      .key_id = work->key_id};
    work->reply = (struct background_reply){.run = work_run,
                                            .deinit = work_deinit,
                                            .conflict = step == API_DESK_APPLY ? "config_changed"
                                                                               : "calibration_runs",
                                            .bytes_max = REPLY_BYTES_MAX};
    return !reads || (fault_parse_json(http_request_body(request), &work->body, fault) &&
                      read_body(work, fault));
}

static void begin(struct api *api, struct http_request *request, enum api_desk_step step)
{
    struct fault fault = {0};
    struct work *work = NULL;
    if (!api->host->desk)
        fault_from_status(&fault, TD_UNAVAILABLE, "this server has no configuration of its own",
                          NULL);
    else if (!(work = calloc(1, sizeof *work)) || prepare(api, request, step, work, &fault))
        background_reply_begin(api, request, work);
    if (!fault.code)
        return;
    background_reply_free(work);
    api_reply_fault(api, request, &fault);
}

#define HANDLER(name, step)                                                    \
    void name(struct api *api, struct http_request *request, const char *rest) \
    {                                                                          \
        (void)rest;                                                            \
        begin(api, request, step);                                             \
    }

HANDLER(desk_handle_config, API_DESK_SHOW)
HANDLER(desk_handle_schema, API_DESK_SCHEMA)
HANDLER(desk_handle_check, API_DESK_CHECK)
HANDLER(desk_handle_apply, API_DESK_APPLY)
HANDLER(desk_handle_run, API_DESK_CALIBRATION)
HANDLER(desk_handle_start, API_DESK_CALIBRATE)
HANDLER(desk_handle_cancel, API_DESK_CANCEL)
HANDLER(desk_handle_keep, API_DESK_KEEP)

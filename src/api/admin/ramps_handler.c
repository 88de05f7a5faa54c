/* GET /tandem/v1/ramps: the state of the routes' ramps (exchange/memory/ramp_table.h).
 * POST /tandem/v1/ramps/ROUTE {"restart": true}: a ramp, stopped or not, begins again at its first
 * step.
 *
 *   {object: "list", data: [{route, to, percent, step (from 1), steps, stopped,
 *    cause (null: not stopped), cause_loss, changed,
 *    evidence: {agreement, outcomes, feedback: {judged, loss (null: none)}}}]} */
#include "api/admin/handlers.h"
#include "api/http/metrics.h"
#include "api/http/reply.h"
#include "api/metrics/metric_writers.h"
#include "base/json/json.h"
#include "exchange/memory/ramp_file.h"
#include "exchange/memory/ramp_table.h"

#include <math.h>
#include <stdlib.h>

#define REPLY_BYTES_MAX (1u << 20)

static struct json *ramp_json(const struct ramp_view *ramp)
{
    struct json *object = json_new_object(), *evidence = json_new_object();
    char changed[25];
    clock_format_iso8601(ramp->changed_wall_ms, changed);
    json_put(object, "route", json_new_cstr(ramp->route));
    json_put(object, "to", json_new_cstr(ramp->to));
    json_put(object, "percent", json_new_double(ramp->percent));
    json_put(object, "step", json_new_int((int64_t)ramp->step + 1));
    json_put(object, "steps", json_new_int(ramp->step_count));
    json_put(object, "stopped", json_new_bool(ramp->stopped));
    json_put(object, "cause",
             json_new_cstr(ramp->stopped ? ramp_evidence_name(ramp->cause) : NULL));
    json_put(object, "cause_loss",
             ramp->stopped ? json_new_double(ramp->cause_loss) : json_new_null());
    json_put(object, "changed", json_new_cstr(changed));
    for (int i = 0; i < RAMP_EVIDENCE_COUNT; i++) {
        struct json *one = json_new_object();
        json_put(one, "judged", json_new_int(ramp->evidence[i].judged));
        json_put(one, "loss", json_new_double(ramp->evidence[i].loss));
        json_put(evidence, ramp_evidence_name((enum ramp_evidence)i), one);
    }
    json_put(object, "evidence", evidence);
    return object;
}

/* **returns new** (free), with *count. NULL without memory. */
static struct ramp_view *views_of(struct ramp_table *ramps, size_t *count)
{
    struct ramp_view *views = calloc(RAMP_FILE_MAX, sizeof *views);
    *count = views ? ramp_table_list(ramps, views, RAMP_FILE_MAX) : 0;
    if (*count > RAMP_FILE_MAX)
        *count = RAMP_FILE_MAX;
    return views;
}

static void reply(struct api *api, struct http_request *request, struct json *value)
{
    api_reply_value(api, request, value, REPLY_BYTES_MAX);
}

static struct json *list_json(struct ramp_table *ramps)
{
    struct json *object = json_new_object(), *list = json_new_array();
    size_t count = 0;
    struct ramp_view *views = ramps ? views_of(ramps, &count) : NULL;
    for (size_t i = 0; i < count; i++)
        json_push(list, ramp_json(&views[i]));
    free(views);
    json_put(object, "object", json_new_cstr("list"));
    json_put(object, "data", list);
    return object;
}

void ramps_handle_list(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct json *value = list_json(services->ramp_table);
    api->host->release(api->host->ctx, services);
    reply(api, request, value);
}

void ramps_handle_restart(struct api *api, struct http_request *request, const char *rest)
{
    struct fault fault = {0};
    struct td_error err = {0};
    struct json *body;
    if (!api_read_body(api, request, &body))
        return;
    bool wanted = json_bool(json_get(body, "restart"), false);
    json_free(body);
    if (!wanted) {
        fault_request(&fault, "restart", "the body must be {\"restart\": true}");
        api_reply_fault(api, request, &fault);
        return;
    }
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    enum td_status status = services->ramp_table
                                ? ramp_table_restart(services->ramp_table, rest, &err)
                                : (enum td_status)TD_NOT_FOUND;
    struct json *value = status == TD_OK ? list_json(services->ramp_table) : NULL;
    api->host->release(api->host->ctx, services);
    if (status == TD_OK) {
        reply(api, request, value);
        return;
    }
    fault_from_status(&fault, status, err.message, NULL);
    api_reply_fault(api, request, &fault);
}

void ramps_write_metrics(const struct api_host *host, const struct exchange_services *services,
                         struct buf *out)
{
    (void)host;
    if (!services->ramp_table)
        return;
    size_t count = 0;
    struct ramp_view *views = views_of(services->ramp_table, &count);
    if (count > 0)
        metrics_write_head(out, "tandem_ramp_percent",
                           "Share of a route's users that its ramp takes");
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "tandem_ramp_percent{route=\"%s\",to=\"%s\"} %g\n", views[i].route,
                   views[i].to, views[i].percent);
    if (count > 0)
        metrics_write_head(out, "tandem_ramp_stopped", "Whether it stopped for what was lost");
    for (size_t i = 0; i < count; i++)
        buf_printf(out, "tandem_ramp_stopped{route=\"%s\"} %d\n", views[i].route, views[i].stopped);
    if (count > 0)
        metrics_write_head(out, "tandem_ramp_judged", "Judgements in the ramp's step, by evidence");
    for (size_t i = 0; i < count; i++)
        for (int j = 0; j < RAMP_EVIDENCE_COUNT; j++)
            buf_printf(out, "tandem_ramp_judged{route=\"%s\",evidence=\"%s\"} %u\n", views[i].route,
                       ramp_evidence_name((enum ramp_evidence)j), views[i].evidence[j].judged);
    free(views);
}

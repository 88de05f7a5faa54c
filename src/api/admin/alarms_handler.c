/* GET /tandem/v1/alarms: alarms of the watch (exchange/limits/watch.h), the newest first.
 *
 *   {object: "list", data: [{alarm, kind, caller, subject,
 *   begun, ended (null: not yet), value, usual,
 *    text}], phrases: [{phrase, seen, escalated, lift}], escalation_share, score_psi,
 *    calibration_error (null: not known yet)} */
#include "api/admin/handlers.h"
#include "api/http/metrics.h"
#include "api/http/reply.h"
#include "api/metrics/metric_writers.h"
#include "base/json/json.h"
#include "base/time/clock.h"
#include "exchange/limits/watch.h"

#include <math.h>
#include <stdlib.h>

#define ALARMS_BYTES_MAX (1u << 20)
#define PHRASES_SHOWN 20

static struct json *time_json(uint64_t wall_ms)
{
    char iso[25];
    if (wall_ms == 0)
        return json_new_null();
    clock_format_iso8601(wall_ms, iso);
    return json_new_cstr(iso);
}

static struct json *alarm_json(const struct watch_alarm *alarm)
{
    struct json *object = json_new_object();
    json_put(object, "alarm", json_new_int((int64_t)alarm->number));
    json_put(object, "kind", json_new_cstr(watch_kind_name(alarm->kind)));
    json_put(object, "caller", json_new_cstr(*alarm->caller ? alarm->caller : NULL));
    json_put(object, "subject", json_new_cstr(*alarm->subject ? alarm->subject : NULL));
    json_put(object, "begun", time_json(alarm->begin_wall_ms));
    json_put(object, "ended", time_json(alarm->end_wall_ms));
    json_put(object, "value", json_new_double(alarm->value));
    json_put(object, "usual", json_new_double(alarm->usual));
    json_put(object, "text", json_new_cstr(alarm->text));
    return object;
}

static struct json *phrases_json(struct watch *watch)
{
    struct phrase_lift lifts[PHRASES_SHOWN];
    struct json *list = json_new_array();
    size_t count = watch_phrases(watch, lifts, PHRASES_SHOWN);
    for (size_t i = 0; i < count; i++) {
        struct json *object = json_new_object();
        json_put(object, "phrase", json_new_cstr(lifts[i].text));
        json_put(object, "seen", json_new_int(lifts[i].seen));
        json_put(object, "escalated", json_new_int(lifts[i].escalated));
        json_put(object, "lift", json_new_double(lifts[i].lift));
        json_push(list, object);
    }
    return list;
}

static struct json *watch_json(struct watch *watch)
{
    struct watch_alarm *alarms = calloc(WATCH_ALARMS_MAX, sizeof *alarms);
    struct json *object = json_new_object(), *list = json_new_array();
    struct watch_numbers numbers;
    size_t count = alarms ? watch_alarms(watch, alarms, WATCH_ALARMS_MAX) : 0;
    for (size_t i = 0; i < count; i++)
        json_push(list, alarm_json(&alarms[i]));
    free(alarms);
    watch_numbers(watch, &numbers);
    json_put(object, "object", json_new_cstr("list"));
    json_put(object, "data", list);
    json_put(object, "phrases", phrases_json(watch));
    json_put(object, "escalation_share", json_new_double(numbers.escalation_share));
    json_put(object, "score_psi", json_new_double(numbers.psi));
    json_put(object, "calibration_error", json_new_double(numbers.calibration_error));
    return object;
}

void alarms_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    struct exchange_services *services = api->host->acquire(api->host->ctx);
    struct json *value = services->watch ? watch_json(services->watch) : NULL;
    api->host->release(api->host->ctx, services);
    if (!value) {
        struct fault fault;
        fault_from_status(&fault, TD_UNAVAILABLE, "nothing is watched here", NULL);
        api_reply_fault(api, request, &fault);
        return;
    }
    api_reply_value(api, request, value, ALARMS_BYTES_MAX);
}

void alarms_write_metrics(const struct api_host *host, const struct exchange_services *services,
                          struct buf *out)
{
    (void)host;
    if (!services->watch)
        return;
    struct watch_numbers numbers;
    watch_numbers(services->watch, &numbers);
    metrics_write_head(out, "tandem_alarms_active", "Alarms that last, by kind");
    for (int kind = 0; kind < WATCH_KIND_COUNT; kind++)
        buf_printf(out, "tandem_alarms_active{kind=\"%s\"} %u\n",
                   watch_kind_name((enum watch_kind)kind), numbers.active[kind]);
    metrics_write_head(out, "tandem_alarms_total", "Alarms that began, by kind");
    for (int kind = 0; kind < WATCH_KIND_COUNT; kind++)
        buf_printf(out, "tandem_alarms_total{kind=\"%s\"} %llu\n",
                   watch_kind_name((enum watch_kind)kind), (unsigned long long)numbers.begun[kind]);
    if (!isnan(numbers.escalation_share))
        metrics_write_value(out, "tandem_escalation_share",
                            "Share of the last 500 or so exchanges that left the device although "
                            "they might have stayed",
                            numbers.escalation_share);
    metrics_write_value(out, "tandem_score_psi",
                        "Stability index of the confidences' distribution, last 500", numbers.psi);
    static const char *const windows[WATCH_BURN_COUNT] = {"5m", "1h"};
    if (!isnan(numbers.burn[1]))
        metrics_write_head(out, "tandem_objective_burn_rate",
                           "Share of answers later than asked for, by the share that may be "
                           "(watch.objective)");
    for (int i = 0; i < WATCH_BURN_COUNT; i++)
        if (!isnan(numbers.burn[i]))
            buf_printf(out, "tandem_objective_burn_rate{window=\"%s\"} %.9g\n", windows[i],
                       numbers.burn[i]);
    if (!isnan(numbers.calibration_error))
        metrics_write_value(out, "tandem_calibration_error",
                            "Mean of confidence minus what people said of the answers, last 300",
                            numbers.calibration_error);
}

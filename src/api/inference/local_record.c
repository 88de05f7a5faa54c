#include "api/inference/local_record.h"

#include "api/http/access_note.h"
#include "api/http/metrics.h"
#include "api/inference/exchange_reply.h"
#include "api/inference/quota.h"
#include "api/telemetry/live.h"
#include "base/core/assertion.h"
#include "base/core/str.h"
#include "base/crypto/crypto.h"
#include "base/time/clock.h"
#include "base/time/log.h"

#include <math.h>
#include <stdio.h>

enum td_status local_record_begin(struct local_record *record, struct api *api, const char *route,
                                  const char *prefix, struct td_error *err)
{
    uint8_t random[(sizeof record->id - 4) / 2];
    ASSERT(strlen(prefix) == 2);
    record->api = api;
    record->route = route;
    record->tracing = api->tracing;
    memcpy(record->tenant, api->who.tenant, sizeof record->tenant);
    enum td_status status = crypto_random(random, sizeof random, err);
    snprintf(record->id, sizeof record->id, "%s_", prefix);
    if (status == TD_OK)
        crypto_hex(random, sizeof random, record->id + 3);
    return status;
}

bool local_record_may(const struct local_record *record, struct api *api, struct fault *fault)
{
    return quota_may_use(api, record->tier, record->data_class, fault);
}

bool local_record_enter(struct local_record *record, struct api *api, struct http_request *http,
                        const char *model, struct fault *fault)
{
    record->api = api;
    return quota_may_name(api, model, fault) && local_record_may(record, api, fault) &&
           quota_enter(api, http, quota_guess_tokens(http_request_body(http).len), 0,
                       &record->meters, fault);
}

void local_record_leave(struct local_record *record)
{
    if (record->api)
        meters_leave(record->api->host->meters, &record->meters, 0, 0);
}

void local_record_raise(struct local_record *record, enum td_data_class data_class)
{
    if (data_class > record->data_class)
        record->data_class = data_class;
}

bool local_record_declare(struct local_record *record, struct http_request *http,
                          enum td_data_class of_server, struct fault *fault)
{
    const char *declared = http_request_header(http, "x-tandem-data-class");
    enum td_data_class data_class;
    if (declared && !names_class_parse(str_from(declared), &data_class))
        return fault_request(fault, "x-tandem-data-class",
                             "x-tandem-data-class: unknown data class '%.40s'", declared);
    if (declared)
        local_record_raise(record, data_class);
    local_record_raise(record, of_server);
    return true;
}

static void count(const struct local_record *record, enum exchange_end end, uint64_t token_count,
                  double total_ms)
{
    struct metrics *metrics = record->api->host->metrics;
    uint32_t shard = record->api->shard;
    char tier[METRICS_LABELS_BYTES] = "", labels[METRICS_LABELS_BYTES] = "";
    metrics_label(tier, "tier", record->tier);
    snprintf(labels, sizeof labels, "%s", tier);
    metrics_label(labels, "route", record->route);
    metrics_label(labels, "status", names_end(end));
    metrics_add(metrics, shard, METRICS_EXCHANGES, labels, 1);
    exchange_reply_count_class(record->api, record->route, record->data_class, end);
    metrics_add(metrics, shard, METRICS_PROMPT_TOKENS, tier, (double)token_count);
    if (end != ENDED_CANCELLED)
        metrics_observe(metrics, shard, METRICS_TOTAL_SECONDS, tier, total_ms / 1e3);
}

static void put(const struct local_record *record, enum exchange_end end, uint64_t token_count,
                double total_ms, const char *error)
{
    const struct api_host *host = record->api->host;
    struct ledger_attempt attempt = {
        .tier = record->tier,
        .model = record->model,
        .place = names_place(TD_PLACE_DEVICE),
        .outcome = end == ENDED_OK          ? ATTEMPT_ANSWERED
                   : end == ENDED_CANCELLED ? ATTEMPT_CANCELLED
                                            : ATTEMPT_FAILED,
        .error = error,
        .confidence = NAN,
        .prompt_tokens = (uint32_t)token_count,
        .total_ms = total_ms,
    };
    struct ledger_exchange exchange = {
        .id = record->id,
        .wall_ms = clock_wall_ms(NULL),
        .user = host->zero_retention ? NULL : record->user,
        .tenant = *record->tenant ? record->tenant : NULL,
        .route = record->route,
        .requested_model = record->requested_model,
        .tier = record->tier,
        .model = record->model,
        .place = names_place(TD_PLACE_DEVICE),
        .data_class = names_class(record->data_class),
        .status = end,
        .trace_id = host->zero_retention ? NULL : record->tracing.trace.id,
        .request_id = host->zero_retention ? NULL : record->tracing.request_id,
        .standing = end == ENDED_OK ? ANSWER_FULL : ANSWER_NONE,
        .confidence = NAN,
        .prompt_tokens = (uint32_t)token_count,
        .ttft_ms = NAN,
        .total_ms = total_ms,
        .attempts = &attempt,
        .attempt_count = 1,
    };
    struct td_error err = {0};
    if (ledger_put(host->ledger, &exchange, &err) != TD_OK)
        log_event(LOG_LEVEL_WARN, "ledger_put_failed", "exchange=%s error=\"%s\"", record->id,
                  err.message);
}

static void tell(const struct local_record *record, enum exchange_end end, double total_ms)
{
    const struct exchange_summary summary = {
        .id = record->id,
        .tenant = *record->tenant ? record->tenant : NULL,
        .route = record->route,
        .tier = record->tier,
        .model = record->model,
        .place = TD_PLACE_DEVICE,
        .data_class = record->data_class,
        .confidence = NAN,
        .ttft_ms = NAN,
        .total_ms = total_ms,
        .usage = {.prompt_tokens = (uint32_t)record->token_count},
        .end = end,
    };
    live_exchange(record->api->host->live, &summary);
}

void local_record_end(struct local_record *record, enum td_status status, uint64_t token_count,
                      const char *error)
{
    double total_ms = clock_monotonic_ms(NULL) - record->start_ms;
    record->token_count = token_count;
    enum exchange_end end = status == TD_OK          ? ENDED_OK
                            : status == TD_CANCELLED ? ENDED_CANCELLED
                                                     : ENDED_FAILED;
    meters_leave(record->api->host->meters, &record->meters, token_count, 0);
    if (record->api->host->ledger)
        put(record, end, token_count, total_ms, error);
    count(record, end, token_count, total_ms);
    tell(record, end, total_ms);
}

void local_record_headers(const struct local_record *record, struct http_request *http)
{
    http_reply_header(http, "x-tandem-tier", record->tier);
    http_reply_header(http, "x-tandem-place", names_place(TD_PLACE_DEVICE));
    http_reply_header(http, "x-tandem-exchange", record->id);
    access_note_local(
        http, &(struct access_local){record->id, record->route, record->tier, record->token_count});
}

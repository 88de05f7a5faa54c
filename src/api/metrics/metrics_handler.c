/* GET /metrics: the counters of this process's loops, then what each source tells of itself.
 *
 * A source is a row of the table: a function that appends its families, and nothing when what it
 * tells of is not there. A family that only counts what handlers see is a row of http/metrics.c. */
#include "api/http/metrics.h"
#include "api/http/reply.h"
#include "api/metrics/handlers.h"
#include "api/metrics/metric_writers.h"
#include "base/core/str.h"
#include "ledger/record/ledger.h"

#define METRICS_BYTES_MAX (4u << 20)

static void confidence_write_metrics(const struct api_host *host,
                                     const struct exchange_services *services, struct buf *out)
{
    (void)host;
    metrics_write_value(out, "tandem_confidence_calibrated",
                        "1: by a confidence model; 0: by the rule; -1: the model given is stale",
                        services->confidence_state == CONFIDENCE_CALIBRATED ? 1
                        : services->confidence_state == CONFIDENCE_STALE    ? -1
                                                                            : 0);
}

static void ledger_write_metrics(const struct api_host *host,
                                 const struct exchange_services *services, struct buf *out)
{
    (void)services;
    if (!host->ledger)
        return;
    metrics_write_value(out, "tandem_ledger_dropped_total",
                        "Exchanges that the ledger could not record",
                        (double)ledger_dropped(host->ledger));
    if (ledger_is_file(host->ledger_path))
        return;
    uint64_t waiting;
    bool away = ledger_is_away(host->ledger, &waiting);
    metrics_write_value(out, "tandem_ledger_database_up", "0: the ledger's database is away",
                        !away);
    metrics_write_value(out, "tandem_ledger_waiting_rows",
                        "Rows that wait on this node's disk for the database", (double)waiting);
}

static void limits_write_metrics(const struct api_host *host,
                                 const struct exchange_services *services, struct buf *out)
{
    uint32_t nodes;
    (void)host;
    metrics_write_value(out, "tandem_limits_alone",
                        "1: limits are shared, but Redis is away, and this node has its share",
                        tier_health_is_alone(services->health, &nodes));
}

static metric_writer_fn *const writers[] = {
    account_write_metrics,     confidence_write_metrics, alarms_write_metrics,
    consistency_write_metrics, ramps_write_metrics,      shadows_write_metrics,
    hedging_write_metrics,     ledger_write_metrics,     tiers_write_metrics,
    engine_write_metrics,      device_write_metrics,     cache_write_metrics,
    otlp_write_metrics,        keys_write_metrics,       limits_write_metrics,
    reviews_write_metrics,
};

void metrics_handle(struct api *api, struct http_request *request, const char *rest)
{
    (void)rest;
    const struct api_host *host = api->host;
    struct buf body;
    buf_init(&body, METRICS_BYTES_MAX);
    metrics_write(host->metrics, &body);
    struct exchange_services *services = host->acquire(host->ctx);
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        writers[i](host, services, &body);
    host->release(host->ctx, services);
    api_reply_text(api, request, 200, "text/plain; version=0.0.4; charset=utf-8", buf_view(&body));
    buf_deinit(&body);
}

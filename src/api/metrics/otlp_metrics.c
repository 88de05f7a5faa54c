/* What a collector (api/telemetry/otlp.h) and webhooks were told, and the access log, for GET
 * /metrics. */
#include "api/telemetry/otlp.h"

#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"
#include "api/telemetry/access_log.h"
#include "net/client/webhook.h"

void otlp_write_metrics(const struct api_host *host, const struct exchange_services *services,
                        struct buf *out)
{
    struct otlp_counts counts;
    (void)services;
    if (host->access_log)
        metrics_write_value(out, "tandem_access_log_dropped_total",
                            "Lines of the access log that did not fit its buffer",
                            (double)access_log_dropped(host->access_log));
    if (host->webhooks) {
        struct webhook_counts told;
        webhooks_read(host->webhooks, &told);
        metrics_write_value(out, "tandem_webhooks_sent_total",
                            "Messages that a webhook's receiver took", (double)told.sent);
        metrics_write_value(out, "tandem_webhooks_dropped_total",
                            "Messages that it did not take, or that did not fit the queue",
                            (double)told.dropped);
        metrics_write_value(out, "tandem_webhooks_failures_total",
                            "Transfers to webhooks that failed, also those repeated",
                            (double)told.failures);
    }
    if (!host->otlp)
        return;
    otlp_read(host->otlp, &counts);
    metrics_write_value(out, "tandem_otlp_spans_total", "Spans that the collector took",
                        (double)counts.spans);
    metrics_write_value(out, "tandem_otlp_spans_dropped_total",
                        "Spans that it did not take, or that did not fit the queue",
                        (double)counts.dropped);
    metrics_write_value(out, "tandem_otlp_failures_total", "Transfers to the collector that failed",
                        (double)counts.failures);
}

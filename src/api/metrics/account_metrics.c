/* What exchanges cost (exchange/limits/account.h), for GET /metrics. */
#include "exchange/limits/account.h"

#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"

static void write_tiers(const struct account_numbers *numbers, struct buf *out)
{
    metrics_write_head(out, "tandem_cost_usd_total",
                       "Cost of exchanges in USD, all attempts, by answering tier");
    for (size_t i = 0; i < numbers->tier_count; i++) {
        char labels[METRICS_LABELS_BYTES] = "";
        metrics_label(labels, "tier", numbers->tiers[i].name[0] ? numbers->tiers[i].name : NULL);
        buf_printf(out, "tandem_cost_usd_total{%s} %.12g\n", labels, numbers->tiers[i].cost_usd);
    }
    metrics_write_head(out, "tandem_usages_refused_total",
                       "Usages of tiers that cannot be true; estimates took their place");
    for (size_t i = 0; i < numbers->tier_count; i++) {
        char labels[METRICS_LABELS_BYTES] = "";
        metrics_label(labels, "tier", numbers->tiers[i].name[0] ? numbers->tiers[i].name : NULL);
        buf_printf(out, "tandem_usages_refused_total{%s} %llu\n", labels,
                   (unsigned long long)numbers->tiers[i].usages_refused);
    }
}

void account_write_metrics(const struct api_host *host, const struct exchange_services *services,
                           struct buf *out)
{
    (void)host;
    if (!services->account)
        return;
    struct account_numbers numbers;
    account_read(services->account, &numbers);
    write_tiers(&numbers, out);
    metrics_write_value(out, "tandem_all_cloud_cost_usd_total",
                        "What the cloud alone would have charged in USD, for whole answers",
                        numbers.all_cloud_usd);
    metrics_write_value(out, "tandem_degraded_all_cloud_cost_usd_total",
                        "The same for degraded answers, which save nothing",
                        numbers.degraded_all_cloud_usd);
    metrics_write_value(out, "tandem_estimated_cost_usd_total",
                        "The part of tandem_cost_usd_total that no usage was told for",
                        numbers.estimated_usd);
}

/* Results of hedging (exchange/limits/hedge_allowance.h), for GET /metrics. */
#include "exchange/limits/hedge_allowance.h"

#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"

void hedging_write_metrics(const struct api_host *host, const struct exchange_services *services,
                           struct buf *out)
{
    (void)host;
    if (!services->hedge_allowance)
        return;
    struct hedge_numbers numbers;
    hedge_allowance_numbers(services->hedge_allowance, &numbers);
    metrics_write_value(out, "tandem_hedgeable_requests_total",
                        "Requests of hedged routes that had another tier to ask",
                        (double)numbers.requests);
    metrics_write_value(out, "tandem_hedges_started_total", "Tiers asked beside one that was slow",
                        (double)numbers.started);
    metrics_write_value(out, "tandem_hedges_refused_total",
                        "Those not asked because the share of the requests was used up",
                        (double)numbers.refused);
    metrics_write_head(out, "tandem_hedges_total",
                       "Hedges that have ended; won: theirs was the answer given");
    for (int i = 0; i < HEDGE_RESULT_COUNT; i++)
        buf_printf(out, "tandem_hedges_total{result=\"%s\"} %llu\n",
                   hedge_result_name((enum hedge_result)i), (unsigned long long)numbers.ended[i]);
    metrics_write_value(out, "tandem_hedges_cost_usd_total",
                        "Spent on answers that were not used because the other one came first",
                        numbers.spent_usd);
}

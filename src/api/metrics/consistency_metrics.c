/* How often exchanges start where similar ones did (exchange/memory/consistency.h), for
 * GET /metrics. */
#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"
#include "exchange/memory/consistency.h"

#include <stdio.h>

static void write_results(const char *what, const uint64_t counts[static CONSISTENCY_RESULT_COUNT],
                          struct buf *out)
{
    for (int i = 0; i < CONSISTENCY_RESULT_COUNT; i++)
        buf_printf(out, "tandem_remembered_starts_total{of=\"%s\",result=\"%s\"} %llu\n", what,
                   keeping_name((enum keeping)(i + KEEPING_SAME)), (unsigned long long)counts[i]);
}

void consistency_write_metrics(const struct api_host *host,
                               const struct exchange_services *services, struct buf *out)
{
    (void)host;
    if (!services->consistency)
        return;
    struct consistency_numbers numbers;
    consistency_numbers(services->consistency, &numbers);
    metrics_write_head(out, "tandem_remembered_starts_total",
                       "Requests with a remembered start, by what came of it; moved and barred are "
                       "flips");
    write_results("similar", numbers.similar, out);
    write_results("conversation", numbers.conversation, out);
    uint64_t all = 0;
    for (int i = 0; i < CONSISTENCY_RESULT_COUNT; i++)
        all += numbers.similar[i];
    if (all > 0)
        metrics_write_value(
            out, "tandem_flip_rate",
            "Share of similar questions that started on another tier than the earlier one",
            (double)(numbers.similar[CONSISTENCY_MOVED] + numbers.similar[CONSISTENCY_BARRED]) /
                (double)all);
    metrics_write_value(
        out, "tandem_stickiness_gain_given_up_total",
        "Probability of right answers beyond the gates' bounds that keeping gave up", numbers.gain);
    metrics_write_value(out, "tandem_stickiness_cost_usd_total",
                        "What keeping dearer tiers cost more, in USD", numbers.usd);
    metrics_write_value(out, "tandem_remembered_starts",
                        "Questions and conversations that are remembered", numbers.entries);
}

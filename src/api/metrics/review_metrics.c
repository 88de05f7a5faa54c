/* Tickets for people (tier/review/review.h), for GET /metrics. */
#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"
#include "base/time/clock.h"
#include "ledger/store/queue_store.h"
#include "tier/review/review.h"

struct writing {
    struct buf *out;
    const char *tier;
};

static void write_outcome(void *ctx, const char *outcome, uint64_t count)
{
    const struct writing *writing = ctx;
    buf_printf(writing->out, "tandem_review_ended{tier=\"%s\",outcome=\"%s\"} %llu\n",
               writing->tier, outcome, (unsigned long long)count);
}

void reviews_write_metrics(const struct api_host *host, const struct exchange_services *services,
                           struct buf *out)
{
    int64_t now_s = (int64_t)(clock_wall_ms(NULL) / 1000);
    bool any = false;
    (void)host;
    for (size_t i = 0; i < services->tier_count; i++) {
        struct queue_store *queue = tier_review_queue(services->tiers[i]);
        const char *tier = services->tiers[i]->facts.name;
        struct writing writing = {out, tier};
        struct queue_count count;
        if (!queue)
            continue;
        queue_store_count(queue, tier, &count);
        if (!any) {
            metrics_write_head(out, "tandem_review_tickets", "Tickets that have not ended");
            metrics_write_head(out, "tandem_review_oldest_seconds", "Age of the oldest of them");
            metrics_write_head(out, "tandem_review_ended",
                               "Tickets that are kept, by how they ended");
        }
        any = true;
        buf_printf(out, "tandem_review_tickets{tier=\"%s\",state=\"open\"} %llu\n", tier,
                   (unsigned long long)(count.waiting - count.taken));
        buf_printf(out, "tandem_review_tickets{tier=\"%s\",state=\"taken\"} %llu\n", tier,
                   (unsigned long long)count.taken);
        buf_printf(out, "tandem_review_oldest_seconds{tier=\"%s\"} %lld\n", tier,
                   (long long)(count.oldest_s ? now_s - count.oldest_s : 0));
        queue_store_outcomes(queue, tier, write_outcome, &writing);
    }
}

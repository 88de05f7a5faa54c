/* The cache of answers (api/cache/answer_cache.h), for GET /metrics. */
#include "api/cache/answer_cache.h"

#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"

/* What would have been given if nobody looked at it. */
static void write_unlike(const struct answer_cache_counts *counts, struct buf *out)
{
    static const char name[] = "tandem_cache_unlike_total";
    metrics_write_head(out, name,
                       "Attempts that found only similar questions with others of these");
    for (enum question_mark mark = 0; mark < MARK_COUNT; mark++)
        buf_printf(out, "%s{differs_in=\"%s\"} %llu\n", name, question_mark_name(mark),
                   (unsigned long long)counts->unlike[mark]);
}

void cache_write_metrics(const struct api_host *host, const struct exchange_services *services,
                         struct buf *out)
{
    struct answer_cache_counts counts;
    (void)services;
    if (!host->answers)
        return;
    answer_cache_read(host->answers, &counts);
    const struct {
        const char *name, *help;
        double value;
    } rows[] = {
        {"tandem_cache_hits_total", "Attempts that a kept answer was found for",
         (double)counts.hits},
        {"tandem_cache_misses_total", "Attempts that looked for one in vain",
         (double)counts.misses},
        {"tandem_cache_similar_total",
         "Of these, attempts that the answer to a similar question was given to",
         (double)counts.similar},
        {"tandem_cache_stored_total", "Answers that were kept", (double)counts.stored},
        {"tandem_cache_evicted_total", "Kept answers that were dropped for want of room",
         (double)counts.evicted},
        {"tandem_cache_expired_total",
         "Kept answers that were too old or of another server when they were asked for",
         (double)counts.expired},
        {"tandem_cache_answers", "Answers that are kept now", (double)counts.count},
        {"tandem_cache_bytes", "Their bytes", (double)counts.bytes},
        {"tandem_cache_saved_usd_total", "What the hits would have cost in USD", counts.saved_usd},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        metrics_write_value(out, rows[i].name, rows[i].help, rows[i].value);
    write_unlike(&counts, out);
}

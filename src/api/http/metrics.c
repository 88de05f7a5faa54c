/* Counters, gauges and histograms of this process.
 *
 * Each event loop counts in a shard of its own, so that counting never waits. A scrape adds up the
 * shards. A family has a fixed number of series; what would be one more is counted as "other", so
 * that a client cannot fill the memory with labels. A family is a row of the table below. */
#include "api/http/metrics.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

/* Series of a family: tiers x routes x statuses of a sane config, or reasons x tiers x classes; the
 * last one is "other". */
#define SERIES_MAX 256
/* Seconds. From a local first token (1 ms) to a slow cloud answer (2 min), about 2.5x a step. */
static const double bucket_bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                       0.5,   1,      2.5,   5,    10,    30,   60,  120};
#define BUCKET_COUNT (sizeof bucket_bounds / sizeof *bucket_bounds)

struct series {
    char labels[METRICS_LABELS_BYTES];
    double value; /* counters and gauges; sum of a histogram */
    uint64_t count;
    uint64_t buckets[BUCKET_COUNT]; /* not cumulative here */
};

struct shard {
    pthread_mutex_t lock; /* uncontended but during a scrape */
    struct series series[METRICS_FAMILY_COUNT][SERIES_MAX];
    size_t series_count[METRICS_FAMILY_COUNT];
};

struct metrics {
    uint32_t shard_count;
    struct shard shards[];
};

struct family {
    const char *name, *type, *help;
};

static const struct family families[METRICS_FAMILY_COUNT] = {
    [METRICS_REQUESTS] = {"tandem_http_requests_total", "counter", "HTTP requests by answer code"},
    [METRICS_EXCHANGES] = {"tandem_exchanges_total", "counter",
                           "Exchanges by answering tier, route and status"},
    [METRICS_CLASSES] = {"tandem_requests_total", "counter",
                         "Exchanges by route, data class and status"},
    [METRICS_ESCALATIONS] = {"tandem_escalations_total", "counter",
                             "Tiers that were left: why, which, for which one, of what class"},
    [METRICS_UNJUDGED] = {"tandem_unjudged_answers_total", "counter",
                          "Answers that no gate judged although a better tier was there"},
    [METRICS_DEGRADED] = {"tandem_degraded_total", "counter",
                          "Answers that were less than the plan's, by tier and route"},
    [METRICS_VERIFICATIONS] = {"tandem_verifications_total", "counter",
                               "Answers that a tier was to check, by what it found"},
    [METRICS_RETRIES] = {"tandem_retries_total", "counter",
                         "Requests that were sent to a tier again"},
    [METRICS_ATTEMPTS] = {"tandem_tier_attempts_total", "counter",
                          "Attempts on a tier, by what became of them"},
    [METRICS_FAILURES] = {"tandem_tier_failures_total", "counter",
                          "Attempts that failed, by kind: http_STATUS, timeout, unavailable, ..."},
    [METRICS_OBJECTIVES] = {"tandem_objectives_total", "counter",
                            "Times that requests asked for (slo_ttft_ms, slo_ms), hit or missed"},
    [METRICS_PROMPT_TOKENS] = {"tandem_prompt_tokens_total", "counter",
                               "Prompt tokens of final answers"},
    [METRICS_COMPLETION_TOKENS] = {"tandem_completion_tokens_total", "counter",
                                   "Completion tokens of final answers"},
    [METRICS_PSEUDONYMS] =
        {"tandem_pseudonyms_total", "counter",
         "Surrogates sent, and places in answers where they were put back or not"},
    [METRICS_IN_FLIGHT] = {"tandem_exchanges_in_flight", "gauge", "Exchanges not yet final"},
    [METRICS_TTFT_SECONDS] = {"tandem_ttft_seconds", "histogram",
                              "Time to the first text that the client could see"},
    [METRICS_TOTAL_SECONDS] = {"tandem_exchange_seconds", "histogram",
                               "Time until the answer was final"},
    [METRICS_TIER_FIRST] = {"tandem_tier_first_seconds", "histogram",
                            "Time from asking a tier to the first of its answer"},
    [METRICS_TIER_SECONDS] = {"tandem_tier_seconds", "histogram",
                              "Time from asking a tier to the end of the attempt"},
};

struct metrics *metrics_new(uint32_t shard_count)
{
    if (shard_count == 0)
        shard_count = 1;
    struct metrics *metrics = calloc(1, sizeof *metrics + shard_count * sizeof(struct shard));
    if (!metrics)
        return NULL;
    metrics->shard_count = shard_count;
    for (uint32_t i = 0; i < shard_count; i++)
        pthread_mutex_init(&metrics->shards[i].lock, NULL);
    return metrics;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics)
        return;
    for (uint32_t i = 0; i < metrics->shard_count; i++)
        pthread_mutex_destroy(&metrics->shards[i].lock);
    free(metrics);
}

void metrics_label(char *labels, const char *name, const char *value)
{
    size_t len = strlen(labels);
    char piece[METRICS_LABELS_BYTES];
    size_t name_len = strlen(name), at = 0;
    if (name_len + 3 + 8 >= sizeof piece)
        return;
    if (len)
        piece[at++] = ',';
    memcpy(piece + at, name, name_len);
    at += name_len;
    piece[at++] = '=';
    piece[at++] = '"';
    for (const char *c = value ? value : "none"; *c && at + 4 < sizeof piece; c++) {
        if (*c == '"' || *c == '\\')
            piece[at++] = '\\';
        piece[at++] = (unsigned char)*c < 0x20 ? '?' : *c;
    }
    piece[at++] = '"';
    if (len + at + 1 > METRICS_LABELS_BYTES)
        return; /* does not fit whole: half a label would be malformed */
    memcpy(labels + len, piece, at);
    labels[len + at] = '\0';
}

static struct series *series_find(struct series *list, size_t *count, const char *labels)
{
    for (size_t i = 0; i < *count; i++)
        if (strcmp(list[i].labels, labels) == 0)
            return &list[i];
    if (*count == SERIES_MAX)
        return &list[SERIES_MAX - 1];
    struct series *series = &list[(*count)++];
    snprintf(series->labels, sizeof series->labels, "%s",
             *count == SERIES_MAX ? "series=\"other\"" : labels);
    return series;
}

void metrics_add(struct metrics *metrics, uint32_t shard, enum metrics_family family,
                 const char *labels, double value)
{
    ASSERT(metrics && family < METRICS_FAMILY_COUNT && labels);
    struct shard *at = &metrics->shards[shard % metrics->shard_count];
    pthread_mutex_lock(&at->lock);
    series_find(at->series[family], &at->series_count[family], labels)->value += value;
    pthread_mutex_unlock(&at->lock);
}

void metrics_observe(struct metrics *metrics, uint32_t shard, enum metrics_family family,
                     const char *labels, double seconds)
{
    ASSERT(metrics && family < METRICS_FAMILY_COUNT && labels);
    struct shard *at = &metrics->shards[shard % metrics->shard_count];
    size_t bucket = 0;
    while (bucket < BUCKET_COUNT && !(seconds <= bucket_bounds[bucket]))
        bucket++;
    pthread_mutex_lock(&at->lock);
    struct series *series = series_find(at->series[family], &at->series_count[family], labels);
    series->value += seconds;
    series->count++;
    if (bucket < BUCKET_COUNT)
        series->buckets[bucket]++;
    pthread_mutex_unlock(&at->lock);
}

/* Adds every shard's series of one family into `sum`. */
static size_t family_sum(struct metrics *metrics, size_t family, struct series *sum)
{
    size_t count = 0;
    for (uint32_t i = 0; i < metrics->shard_count; i++) {
        struct shard *shard = &metrics->shards[i];
        pthread_mutex_lock(&shard->lock);
        for (size_t s = 0; s < shard->series_count[family]; s++) {
            const struct series *from = &shard->series[family][s];
            struct series *to = series_find(sum, &count, from->labels);
            to->value += from->value;
            to->count += from->count;
            for (size_t b = 0; b < BUCKET_COUNT; b++)
                to->buckets[b] += from->buckets[b];
        }
        pthread_mutex_unlock(&shard->lock);
    }
    return count;
}

static void write_histogram(const char *name, const struct series *series, struct buf *out)
{
    const char *comma = *series->labels ? "," : "";
    uint64_t total = 0;
    for (size_t b = 0; b < BUCKET_COUNT; b++) {
        total += series->buckets[b];
        buf_printf(out, "%s_bucket{%s%sle=\"%g\"} %llu\n", name, series->labels, comma,
                   bucket_bounds[b], (unsigned long long)total);
    }
    buf_printf(out, "%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, series->labels, comma,
               (unsigned long long)series->count);
    buf_printf(out, "%s_sum{%s} %.9g\n", name, series->labels, series->value);
    buf_printf(out, "%s_count{%s} %llu\n", name, series->labels, (unsigned long long)series->count);
}

void metrics_write(struct metrics *metrics, struct buf *out)
{
    struct series *sum = calloc(SERIES_MAX, sizeof *sum);
    if (!sum) {
        out->failed = true;
        return;
    }
    for (size_t f = 0; f < METRICS_FAMILY_COUNT; f++) {
        memset(sum, 0, SERIES_MAX * sizeof *sum);
        size_t count = family_sum(metrics, f, sum);
        const struct family *family = &families[f];
        buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", family->name, family->help, family->name,
                   family->type);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(family->type, "histogram") == 0)
                write_histogram(family->name, &sum[i], out);
            else if (*sum[i].labels)
                buf_printf(out, "%s{%s} %.12g\n", family->name, sum[i].labels, sum[i].value);
            else
                buf_printf(out, "%s %.12g\n", family->name, sum[i].value);
        }
    }
    free(sum);
}

void metrics_write_head(struct buf *out, const char *name, const char *help)
{
    bool counts = str_ends_with(str_from(name), STR("_total"));
    buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, counts ? "counter" : "gauge");
}

void metrics_write_value(struct buf *out, const char *name, const char *help, double value)
{
    metrics_write_head(out, name, help);
    buf_printf(out, "%s %.12g\n", name, value);
}

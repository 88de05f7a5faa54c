/* Running histograms of how long each tier takes, which the router plans with. Four buckets per
 * doubling (each 19 % wide) reach from 1 ms to 1 ms * 2^21 = 35 minutes. A quantile is the
 * geometric middle of its bucket, so the error is at most 9 %. Old measurements fade with a
 * half-life of five minutes. The fading is done when the histogram is next touched, so no timer is
 * needed. */
#include "base/core/assertion.h"
#include "tier/tier.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define BUCKETS_A_DOUBLING 4
#define BUCKET_COUNT (21 * BUCKETS_A_DOUBLING)
#define HALF_LIFE_MS 300000.0
/* The 95th percentile of fewer would be their maximum, which says too little. */
#define KNOWN_MIN 5.0

struct histogram {
    double count[BUCKET_COUNT];
    double sum;
};

struct record {
    struct histogram ttft, total;
    uint64_t touched_ms;
};

struct tier_latency {
    pthread_mutex_t lock;
    size_t tier_count;
    struct record records[];
};

struct tier_latency *tier_latency_new(size_t tier_count)
{
    if (tier_count > (SIZE_MAX - sizeof(struct tier_latency)) / sizeof(struct record))
        return NULL;
    struct tier_latency *latency =
        calloc(1, sizeof *latency + tier_count * sizeof latency->records[0]);
    if (!latency)
        return NULL;
    latency->tier_count = tier_count;
    pthread_mutex_init(&latency->lock, NULL);
    return latency;
}

void tier_latency_free(struct tier_latency *latency)
{
    if (!latency)
        return;
    pthread_mutex_destroy(&latency->lock);
    free(latency);
}

static size_t bucket_of(double ms)
{
    double at = ms > 1 ? log2(ms) * BUCKETS_A_DOUBLING : 0;
    return at < BUCKET_COUNT - 1 ? (size_t)at : BUCKET_COUNT - 1;
}

/* at: where in the bucket the quantile is read; 0.5 is the middle, 1 the upper edge. */
static double quantile(const struct histogram *histogram, double q, double at)
{
    double below = 0;
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        below += histogram->count[i];
        if (below >= q * histogram->sum && below > 0)
            return exp2(((double)i + at) / BUCKETS_A_DOUBLING);
    }
    return 0;
}

static void add(struct histogram *histogram, double ms)
{
    histogram->count[bucket_of(ms)]++;
    histogram->sum++;
}

static void fade(struct histogram *histogram, double factor)
{
    for (size_t i = 0; i < BUCKET_COUNT; i++)
        histogram->count[i] *= factor;
    histogram->sum *= factor;
}

/* Fades only after a tenth of the half-life: younger measurements have lost at most 7 %. */
static void fade_locked(struct record *record, uint64_t now_ms)
{
    if (now_ms < record->touched_ms + (uint64_t)(HALF_LIFE_MS / 10))
        return;
    double factor = exp2(-(double)(now_ms - record->touched_ms) / HALF_LIFE_MS);
    fade(&record->ttft, factor);
    fade(&record->total, factor);
    record->touched_ms = now_ms;
}

void tier_latency_add(struct tier_latency *latency, size_t tier_index, double ttft_ms,
                      double total_ms, uint64_t now_ms)
{
    ASSERT(latency != NULL);
    if (tier_index >= latency->tier_count)
        return;
    pthread_mutex_lock(&latency->lock);
    struct record *record = &latency->records[tier_index];
    fade_locked(record, now_ms);
    add(&record->ttft, ttft_ms);
    add(&record->total, total_ms);
    pthread_mutex_unlock(&latency->lock);
}

void tier_latency_add_wait(struct tier_latency *latency, size_t tier_index, double waited_ms,
                           uint64_t now_ms)
{
    ASSERT(latency != NULL);
    if (tier_index >= latency->tier_count)
        return;
    pthread_mutex_lock(&latency->lock);
    struct record *record = &latency->records[tier_index];
    fade_locked(record, now_ms);
    add(&record->ttft, waited_ms);
    pthread_mutex_unlock(&latency->lock);
}

/* The next bucket is the first whose middle is certainly longer than what was waited. */
static double longer_than(double waited_ms)
{
    return fmax(waited_ms, 1) * exp2(1.0 / BUCKETS_A_DOUBLING);
}

void tier_latency_add_cut(struct tier_latency *latency, size_t tier_index, double ttft_ms,
                          double waited_ms, uint64_t now_ms)
{
    double longer = longer_than(waited_ms);
    tier_latency_add(latency, tier_index, ttft_ms > 0 ? ttft_ms : longer, longer, now_ms);
}

double tier_latency_ttft(struct tier_latency *latency, size_t tier_index, double q, uint64_t now_ms)
{
    ASSERT(latency != NULL && q >= 0 && q <= 1);
    if (tier_index >= latency->tier_count)
        return 0;
    pthread_mutex_lock(&latency->lock);
    struct record *record = &latency->records[tier_index];
    fade_locked(record, now_ms);
    double ms = record->ttft.sum >= KNOWN_MIN ? quantile(&record->ttft, q, 1) : 0;
    pthread_mutex_unlock(&latency->lock);
    return ms;
}

void tier_latency_read(struct tier_latency *latency, size_t tier_index, uint64_t now_ms,
                       struct tier_state *out)
{
    ASSERT(latency != NULL && out != NULL);
    out->ttft_p95_ms = out->total_p50_ms = out->total_p95_ms = 0;
    if (tier_index >= latency->tier_count)
        return;
    pthread_mutex_lock(&latency->lock);
    struct record *record = &latency->records[tier_index];
    fade_locked(record, now_ms);
    if (record->total.sum >= KNOWN_MIN) {
        out->ttft_p95_ms = quantile(&record->ttft, 0.95, 0.5);
        out->total_p50_ms = quantile(&record->total, 0.5, 0.5);
        out->total_p95_ms = quantile(&record->total, 0.95, 0.5);
    }
    pthread_mutex_unlock(&latency->lock);
}

void tier_latency_copy(struct tier_latency *from, size_t from_index, struct tier_latency *to,
                       size_t to_index)
{
    ASSERT(from != NULL && to != NULL && from != to);
    if (from_index >= from->tier_count || to_index >= to->tier_count)
        return;
    pthread_mutex_lock(&from->lock);
    struct record record = from->records[from_index];
    pthread_mutex_unlock(&from->lock);
    pthread_mutex_lock(&to->lock);
    to->records[to_index] = record;
    pthread_mutex_unlock(&to->lock);
}

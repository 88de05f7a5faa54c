/* Sums since the start ("cumulative"), so that a batch that is lost changes nothing of the next.
 * The bounds are those that the conventions ask for. */
#include "api/telemetry/otlp_histograms.h"

#include "base/core/assertion.h"
#include "base/core/str.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MAX 256
#define BOUNDS_MAX 16
#define CUMULATIVE 2

static const struct definition {
    const char *name, *unit, *description;
    size_t bound_count;
    double bounds[BOUNDS_MAX];
} definitions[OTLP_HISTOGRAM_COUNT] = {
    [OTLP_OPERATION_SECONDS] = {"gen_ai.client.operation.duration",
                                "s",
                                "Time that a tier took for an attempt",
                                14,
                                {0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24,
                                 20.48, 40.96, 81.92}},
    [OTLP_TOKENS] = {"gen_ai.client.token.usage",
                     "{token}",
                     "Tokens of an attempt",
                     14,
                     {1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304,
                      16777216, 67108864}},
    [OTLP_FIRST_SECONDS] = {"gen_ai.server.time_to_first_token",
                            "s",
                            "Time to the first text that the client could see",
                            16,
                            {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1,
                             2.5, 5, 7.5, 10}},
};

struct series {
    char *attributes;
    uint64_t count, buckets[BOUNDS_MAX + 1];
    double sum;
};

struct otlp_histograms {
    pthread_mutex_t lock;
    uint64_t start_wall_ms;
    struct series series[OTLP_HISTOGRAM_COUNT][SERIES_MAX];
    size_t count[OTLP_HISTOGRAM_COUNT];
};

struct otlp_histograms *otlp_histograms_new(uint64_t start_wall_ms)
{
    struct otlp_histograms *histograms = calloc(1, sizeof *histograms);
    if (!histograms)
        return NULL;
    pthread_mutex_init(&histograms->lock, NULL);
    histograms->start_wall_ms = start_wall_ms;
    return histograms;
}

void otlp_histograms_free(struct otlp_histograms *histograms)
{
    if (!histograms)
        return;
    for (size_t which = 0; which < OTLP_HISTOGRAM_COUNT; which++)
        for (size_t i = 0; i < histograms->count[which]; i++)
            free(histograms->series[which][i].attributes);
    pthread_mutex_destroy(&histograms->lock);
    free(histograms);
}

/* NULL without memory for a new one. */
static struct series *find_locked(struct otlp_histograms *histograms, enum otlp_histogram which,
                                  struct td_str attributes)
{
    struct series *list = histograms->series[which];
    size_t *count = &histograms->count[which];
    for (size_t i = 0; i < *count; i++)
        if (str_equal(str_from(list[i].attributes), attributes))
            return &list[i];
    if (*count == SERIES_MAX)
        return &list[SERIES_MAX - 1];
    bool last = *count == SERIES_MAX - 1; /* all others, of whatever attributes */
    char *copy = last ? strdup("") : strndup(attributes.data, attributes.len);
    if (!copy)
        return NULL;
    list[*count].attributes = copy;
    return &list[(*count)++];
}

void otlp_histograms_add(struct otlp_histograms *histograms, enum otlp_histogram which,
                         struct td_str attributes, double value)
{
    ASSERT(which < OTLP_HISTOGRAM_COUNT && attributes.len > 0);
    const struct definition *definition = &definitions[which];
    size_t bucket = 0;
    while (bucket < definition->bound_count && !(value <= definition->bounds[bucket]))
        bucket++;
    pthread_mutex_lock(&histograms->lock);
    struct series *series = find_locked(histograms, which, attributes);
    if (series) {
        series->count++;
        series->sum += value;
        series->buckets[bucket]++;
    }
    pthread_mutex_unlock(&histograms->lock);
}

static void write_series(const struct definition *definition, const struct series *series,
                         uint64_t start_ms, uint64_t now_ms, struct buf *out)
{
    buf_printf(out,
               "{\"attributes\":[%s],\"startTimeUnixNano\":\"%" PRIu64
               "000000\",\"timeUnixNano\":\"%" PRIu64 "000000\",\"count\":\"%" PRIu64
               "\",\"sum\":%.9g,\"bucketCounts\":[",
               series->attributes, start_ms, now_ms, series->count, series->sum);
    for (size_t i = 0; i <= definition->bound_count; i++)
        buf_printf(out, "%s\"%" PRIu64 "\"", i ? "," : "", series->buckets[i]);
    buf_append_str(out, STR("],\"explicitBounds\":["));
    for (size_t i = 0; i < definition->bound_count; i++)
        buf_printf(out, "%s%.9g", i ? "," : "", definition->bounds[i]);
    buf_append_str(out, STR("]}"));
}

void otlp_histograms_write(struct otlp_histograms *histograms, uint64_t wall_ms, struct buf *out)
{
    const char *comma = "";
    pthread_mutex_lock(&histograms->lock);
    for (size_t which = 0; which < OTLP_HISTOGRAM_COUNT; which++) {
        const struct definition *definition = &definitions[which];
        if (histograms->count[which] == 0)
            continue;
        buf_printf(out,
                   "%s{\"name\":\"%s\",\"unit\":\"%s\",\"description\":\"%s\",\"histogram\":{"
                   "\"aggregationTemporality\":%d,\"dataPoints\":[",
                   comma, definition->name, definition->unit, definition->description, CUMULATIVE);
        comma = ",";
        for (size_t i = 0; i < histograms->count[which]; i++) {
            if (i)
                buf_append_char(out, ',');
            write_series(definition, &histograms->series[which][i], histograms->start_wall_ms,
                         wall_ms, out);
        }
        buf_append_str(out, STR("]}}"));
    }
    pthread_mutex_unlock(&histograms->lock);
}

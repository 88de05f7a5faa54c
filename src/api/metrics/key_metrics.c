/* What keys of the store and tenants with limits use, by their ids alone, for GET /metrics. A
 * gauge of a budget begins anew with its period. */
#include "api/http/metrics.h"
#include "api/metrics/metric_writers.h"
#include "base/core/str.h"
#include "exchange/limits/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MAX 255 /* more are one series together, as in api/http/metrics.h */

struct shown {
    struct meter_numbers of[SERIES_MAX + 1];
    size_t count;
};

static void add_to_rest(struct meter_numbers *rest, const struct meter_numbers *numbers)
{
    snprintf(rest->whom, sizeof rest->whom, "%s", "");
    rest->requests += numbers->requests;
    for (int i = 0; i < METER_LIMIT_COUNT; i++)
        rest->refused[i] += numbers->refused[i];
    for (int i = 0; i < KEY_PERIOD_COUNT; i++) {
        rest->usd[i] += numbers->usd[i];
        rest->tokens[i] += numbers->tokens[i];
    }
}

static void add(void *ctx, const struct meter_numbers *numbers)
{
    struct shown *shown = ctx;
    uint64_t refused = 0;
    for (int i = 0; i < METER_LIMIT_COUNT; i++)
        refused += numbers->refused[i];
    if (!numbers->requests && !refused && !numbers->tokens[KEY_MONTH])
        return;
    if (shown->count < SERIES_MAX) {
        shown->of[shown->count++] = *numbers;
        return;
    }
    shown->count = SERIES_MAX + 1;
    add_to_rest(&shown->of[SERIES_MAX], numbers);
}

/* key="ID", tenant="ID" or series="other". */
static void write_whom(const struct meter_numbers *numbers, char labels[METRICS_LABELS_BYTES])
{
    labels[0] = '\0';
    if (!*numbers->whom)
        metrics_label(labels, "series", "other");
    else
        metrics_label(labels, *numbers->whom == 'k' ? "key" : "tenant", numbers->whom + 1);
}

static void write_refused(const struct shown *shown, struct buf *out)
{
    static const char *const names[METER_LIMIT_COUNT] = {[METER_REQUESTS] = "requests",
                                                         [METER_TOKENS] = "tokens",
                                                         [METER_TOO_LARGE] = "too_large",
                                                         [METER_SPENT] = "budget"};
    char labels[METRICS_LABELS_BYTES];
    metrics_write_head(out, "tandem_key_refused_total",
                       "Requests that a limit of their key or tenant refused");
    for (size_t i = 0; i < shown->count; i++) {
        for (int limit = METER_REQUESTS; limit < METER_LIMIT_COUNT; limit++) {
            if (!shown->of[i].refused[limit])
                continue;
            write_whom(&shown->of[i], labels);
            metrics_label(labels, "limit", names[limit]);
            buf_printf(out, "tandem_key_refused_total{%s} %llu\n", labels,
                       (unsigned long long)shown->of[i].refused[limit]);
        }
    }
}

static void write_spent(const struct shown *shown, bool tokens, struct buf *out)
{
    static const char *const periods[] = {"day", "month"};
    const char *name = tokens ? "tandem_key_tokens" : "tandem_key_spent_usd";
    char labels[METRICS_LABELS_BYTES];
    metrics_write_head(out, name,
                       tokens ? "Tokens of the running day and month, by key or tenant"
                              : "USD of the running day and month, by key or tenant");
    for (size_t i = 0; i < shown->count; i++) {
        for (int period = 0; period < KEY_PERIOD_COUNT; period++) {
            write_whom(&shown->of[i], labels);
            metrics_label(labels, "period", periods[period]);
            buf_printf(out, "%s{%s} %.10g\n", name, labels,
                       tokens ? (double)shown->of[i].tokens[period] : shown->of[i].usd[period]);
        }
    }
}

void keys_write_metrics(const struct api_host *host, const struct exchange_services *services,
                        struct buf *out)
{
    (void)services;
    char labels[METRICS_LABELS_BYTES];
    struct shown *shown = host->meters ? calloc(1, sizeof *shown) : NULL;
    if (!shown)
        return;
    meters_each(host->meters, add, shown);
    metrics_write_head(out, "tandem_key_requests_total",
                       "Requests that were let in, by key or tenant");
    for (size_t i = 0; i < shown->count; i++) {
        write_whom(&shown->of[i], labels);
        buf_printf(out, "tandem_key_requests_total{%s} %llu\n", labels,
                   (unsigned long long)shown->of[i].requests);
    }
    write_refused(shown, out);
    write_spent(shown, false, out);
    write_spent(shown, true, out);
    free(shown);
}

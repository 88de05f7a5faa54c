/* Counters and histograms in Prometheus' text format (0.0.4). One shard an event loop, so that
 * counting never waits; a scrape adds up the shards. Labels hold only names from the configuration
 * and numbers, never text of a request. A family has a bounded number of series; the rest is
 * counted as "other". Any thread may call anything; a shard is meant for one. */
#ifndef API_METRICS_H
#define API_METRICS_H

#include "base/bytes/buf.h"

enum metrics_family {
    METRICS_REQUESTS,      /* code, route of the URL */
    METRICS_EXCHANGES,     /* tier, route, status */
    METRICS_CLASSES,       /* route, class, status */
    METRICS_ESCALATIONS,   /* reason, from, to, class */
    METRICS_UNJUDGED,      /* reason, tier */
    METRICS_DEGRADED,      /* tier, route */
    METRICS_VERIFICATIONS, /* tier, state */
    METRICS_RETRIES,       /* tier */
    METRICS_ATTEMPTS,      /* tier, outcome */
    METRICS_FAILURES,      /* tier, kind */
    METRICS_OBJECTIVES,    /* tier, route, objective, result */
    METRICS_PROMPT_TOKENS, /* tier */
    METRICS_COMPLETION_TOKENS,
    METRICS_PSEUDONYMS,    /* result: sent, restored, not_restored */
    METRICS_IN_FLIGHT,     /* gauge */
    METRICS_TTFT_SECONDS,  /* tier; histogram */
    METRICS_TOTAL_SECONDS, /* tier; histogram */
    METRICS_TIER_FIRST,    /* tier; histogram; of attempts, as the next */
    METRICS_TIER_SECONDS,
    METRICS_FAMILY_COUNT
};

struct metrics;

struct metrics *metrics_new(uint32_t shard_count); /* **returns new** (metrics_free), or NULL */
void metrics_free(struct metrics *metrics);

/* labels: `tier="local",code="200"`, made by metrics_label; "" = none. */
void metrics_add(struct metrics *metrics, uint32_t shard, enum metrics_family family,
                 const char *labels, double value);
void metrics_observe(struct metrics *metrics, uint32_t shard, enum metrics_family family,
                     const char *labels, double seconds);

#define METRICS_LABELS_BYTES 192
/* Appends name="value" to labels (METRICS_LABELS_BYTES long, "" at first), escaped and cut to
 * fit. */
void metrics_label(char *labels, const char *name, const char *value);

void metrics_write(struct metrics *metrics, struct buf *out);
/* What stands above the lines of a name: a counter if it ends with "_total", else a gauge. */
void metrics_write_head(struct buf *out, const char *name, const char *help);
/* The same with one line, for a value that lives elsewhere. */
void metrics_write_value(struct buf *out, const char *name, const char *help, double value);

#endif

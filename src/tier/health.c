/* Passive health: the attempts themselves tell whether a tier works, and nothing is sent to ask.
 * Three failures in a row make a tier rest, because one failure is noise and two are a retry. Rests
 * double from one to thirty seconds. So a dead peer costs an exchange one plan without it instead
 * of a connect time-out, and a recovered peer is found within half a minute. */
#include "tier/tier.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define FAILURES_TO_REST 3
#define REST_MS_MIN 1000
#define REST_MS_MAX 30000

struct record {
    uint32_t failures; /* in a row */
    uint64_t rest_ms;  /* of the last rest; 0 = none since the last success */
    uint64_t rest_until_ms;
};

struct tier_health {
    pthread_mutex_t lock;
    size_t tier_count;
    struct record records[];
};

struct tier_health *tier_health_new(size_t tier_count)
{
    if (tier_count > (SIZE_MAX - sizeof(struct tier_health)) / sizeof(struct record))
        return NULL;
    struct tier_health *health = calloc(1, sizeof *health + tier_count * sizeof health->records[0]);
    if (!health)
        return NULL;
    health->tier_count = tier_count;
    pthread_mutex_init(&health->lock, NULL);
    return health;
}

void tier_health_free(struct tier_health *health)
{
    if (!health)
        return;
    pthread_mutex_destroy(&health->lock);
    free(health);
}

bool tier_health_usable(struct tier_health *health, size_t tier_index, uint64_t now_ms)
{
    assert(health != NULL);
    if (tier_index >= health->tier_count)
        return false;
    pthread_mutex_lock(&health->lock);
    bool usable = now_ms >= health->records[tier_index].rest_until_ms;
    pthread_mutex_unlock(&health->lock);
    return usable;
}

static void fail_locked(struct record *record, uint64_t now_ms)
{
    if (now_ms < record->rest_until_ms) /* the attempt began before the rest */
        return;
    if (record->failures < FAILURES_TO_REST)
        record->failures++;
    if (record->failures < FAILURES_TO_REST)
        return;
    record->rest_ms = record->rest_ms ? record->rest_ms * 2 : REST_MS_MIN;
    if (record->rest_ms > REST_MS_MAX)
        record->rest_ms = REST_MS_MAX;
    record->rest_until_ms = now_ms + record->rest_ms;
}

void tier_health_report(struct tier_health *health, size_t tier_index, bool ok, uint64_t now_ms)
{
    assert(health != NULL);
    if (tier_index >= health->tier_count)
        return;
    pthread_mutex_lock(&health->lock);
    struct record *record = &health->records[tier_index];
    if (ok)
        *record = (struct record){0};
    else
        fail_locked(record, now_ms);
    pthread_mutex_unlock(&health->lock);
}

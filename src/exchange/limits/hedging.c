#include "exchange/limits/hedging.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* What a quiet time can save up: spikes come in bursts, and outages must not find a full purse. One at the beginning, so that a machine with few
 * requests need not wait for its first hedge. */
#define SAVED_MAX 10.0
#define SAVED_AT_FIRST 1.0

struct hedging {
    pthread_mutex_t lock;
    double saved;
    struct hedging_numbers numbers;
};

struct hedging *hedging_new(void)
{
    struct hedging *hedging = calloc(1, sizeof *hedging);
    if (!hedging)
        return NULL;
    pthread_mutex_init(&hedging->lock, NULL);
    hedging->saved = SAVED_AT_FIRST;
    return hedging;
}

void hedging_free(struct hedging *hedging)
{
    if (!hedging)
        return;
    pthread_mutex_destroy(&hedging->lock);
    free(hedging);
}

void hedging_pay(struct hedging *hedging, double share)
{
    pthread_mutex_lock(&hedging->lock);
    hedging->saved = fmin(hedging->saved + share, SAVED_MAX);
    hedging->numbers.requests++;
    pthread_mutex_unlock(&hedging->lock);
}

bool hedging_take(struct hedging *hedging)
{
    pthread_mutex_lock(&hedging->lock);
    /* Twenty times 0.05 is a little less than one. */
    bool has = hedging->saved > 1 - 1e-9;
    if (has) {
        hedging->saved = fmax(hedging->saved - 1, 0);
        hedging->numbers.started++;
    } else {
        hedging->numbers.refused++;
    }
    pthread_mutex_unlock(&hedging->lock);
    return has;
}

const char *hedging_result_name(enum hedging_result result)
{
    static const char *const names[HEDGING_RESULT_COUNT] = {"won", "lost", "failed"};
    return (unsigned)result < HEDGING_RESULT_COUNT ? names[result] : "unknown";
}

void hedging_count(struct hedging *hedging, enum hedging_result result, double spent_usd)
{
    pthread_mutex_lock(&hedging->lock);
    hedging->numbers.ended[result]++;
    hedging->numbers.spent_usd += spent_usd;
    pthread_mutex_unlock(&hedging->lock);
}

void hedging_numbers(struct hedging *hedging, struct hedging_numbers *out)
{
    pthread_mutex_lock(&hedging->lock);
    *out = hedging->numbers;
    pthread_mutex_unlock(&hedging->lock);
}

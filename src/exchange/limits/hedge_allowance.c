/* The allowance is a bucket with an upper bound: what a quiet time saves up is bounded, because
 * spikes come in bursts and an outage must not find a full purse. */
#include "exchange/limits/hedge_allowance.h"

#include "base/core/assertion.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#define SAVED_MAX 10.0
/* So that a machine with few requests need not wait for its first hedge. */
#define SAVED_AT_FIRST 1.0

struct hedge_allowance {
    pthread_mutex_t lock;
    double saved;
    struct hedge_numbers numbers;
};

struct hedge_allowance *hedge_allowance_new(void)
{
    struct hedge_allowance *allowance = calloc(1, sizeof *allowance);
    if (!allowance)
        return NULL;
    pthread_mutex_init(&allowance->lock, NULL);
    allowance->saved = SAVED_AT_FIRST;
    return allowance;
}

void hedge_allowance_free(struct hedge_allowance *allowance)
{
    if (!allowance)
        return;
    pthread_mutex_destroy(&allowance->lock);
    free(allowance);
}

void hedge_allowance_pay(struct hedge_allowance *allowance, double share)
{
    ASSERT(share >= 0);
    pthread_mutex_lock(&allowance->lock);
    allowance->saved = fmin(allowance->saved + share, SAVED_MAX);
    allowance->numbers.requests++;
    pthread_mutex_unlock(&allowance->lock);
}

bool hedge_allowance_take(struct hedge_allowance *allowance)
{
    pthread_mutex_lock(&allowance->lock);
    /* Twenty times 0.05 is a little less than one. */
    bool has = allowance->saved > 1 - 1e-9;
    if (has) {
        allowance->saved = fmax(allowance->saved - 1, 0);
        allowance->numbers.started++;
    } else {
        allowance->numbers.refused++;
    }
    pthread_mutex_unlock(&allowance->lock);
    return has;
}

const char *hedge_result_name(enum hedge_result result)
{
    static const char *const names[HEDGE_RESULT_COUNT] = {"won", "lost", "failed"};
    return (unsigned)result < HEDGE_RESULT_COUNT ? names[result] : "unknown";
}

void hedge_allowance_count(struct hedge_allowance *allowance, enum hedge_result result,
                           double spent_usd)
{
    ASSERT((unsigned)result < HEDGE_RESULT_COUNT);
    pthread_mutex_lock(&allowance->lock);
    allowance->numbers.ended[result]++;
    allowance->numbers.spent_usd += spent_usd;
    pthread_mutex_unlock(&allowance->lock);
}

void hedge_allowance_numbers(struct hedge_allowance *allowance, struct hedge_numbers *out)
{
    pthread_mutex_lock(&allowance->lock);
    *out = allowance->numbers;
    pthread_mutex_unlock(&allowance->lock);
}

/* The list of shadows and their numbers, under one lock. A place is reserved before a shadow is
 * made, so that many exchanges that end at once do not start more than may run. */
#include "exchange/parts/shadow_pool.h"

#include "base/core/assertion.h"
#include "exchange/limits/spending.h"
#include "exchange/memory/skew_table.h"
#include "exchange/parts/shadow_run.h"

#include <pthread.h>
#include <stdlib.h>

/* No budget of a configuration has a blank in its name. */
#define OWN_BUDGET "the shadows"

struct shadow_pool {
    pthread_mutex_t lock;
    struct shadow_run *first;
    uint32_t running_max;
    struct shadow_numbers numbers;
    struct skew_table *skew;
};

struct shadow_pool *shadow_pool_new(uint32_t running_max)
{
    struct shadow_pool *pool = calloc(1, sizeof *pool);
    struct skew_table *skew = skew_table_new();
    if (!pool || !skew) {
        free(pool);
        skew_table_free(skew);
        return NULL;
    }
    pool->skew = skew;
    pthread_mutex_init(&pool->lock, NULL);
    pool->running_max = running_max;
    return pool;
}

void shadow_pool_free(struct shadow_pool *pool)
{
    if (!pool)
        return;
    ASSERT(!pool->first);
    skew_table_free(pool->skew);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

struct skew_table *shadow_pool_skew(struct shadow_pool *pool)
{
    return pool->skew;
}

uint64_t shadow_pool_budget_key(void)
{
    return spending_key(OWN_BUDGET, NULL, "");
}

void shadow_pool_numbers(struct shadow_pool *pool, struct shadow_numbers *out)
{
    pthread_mutex_lock(&pool->lock);
    *out = pool->numbers;
    pthread_mutex_unlock(&pool->lock);
}

/* --- those that run --- */

bool shadow_pool_reserve(struct shadow_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool room = pool->numbers.running < pool->running_max;
    pool->numbers.running += room;
    pthread_mutex_unlock(&pool->lock);
    return room;
}

void shadow_pool_give_back(struct shadow_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    ASSERT(pool->numbers.running > 0);
    pool->numbers.running--;
    pthread_mutex_unlock(&pool->lock);
}

void shadow_pool_add(struct shadow_pool *pool, struct shadow_run *run)
{
    pthread_mutex_lock(&pool->lock);
    run->next = pool->first;
    if (run->next)
        run->next->previous = run;
    pool->first = run;
    pthread_mutex_unlock(&pool->lock);
}

void shadow_pool_remove(struct shadow_pool *pool, struct shadow_run *run)
{
    pthread_mutex_lock(&pool->lock);
    if (run->previous)
        run->previous->next = run->next;
    else
        pool->first = run->next;
    if (run->next)
        run->next->previous = run->previous;
    ASSERT(pool->numbers.running > 0);
    pool->numbers.running--;
    pthread_mutex_unlock(&pool->lock);
}

void shadow_pool_count(struct shadow_pool *pool, enum shadow_place place,
                       const struct shadow_count *more)
{
    ASSERT(place < SHADOW_PLACE_COUNT);
    struct shadow_count *counted = &pool->numbers.of[place];
    pthread_mutex_lock(&pool->lock);
    counted->compared += more->compared;
    counted->same += more->same;
    counted->failed += more->failed;
    counted->dropped += more->dropped;
    counted->agreement_sum += more->agreement_sum;
    counted->cost_usd += more->cost_usd;
    pthread_mutex_unlock(&pool->lock);
}

void shadow_pool_cancel(struct shadow_pool *pool, struct loop *loop)
{
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        struct shadow_run *run = pool->first;
        while (run && run->loop != loop)
            run = run->next;
        pthread_mutex_unlock(&pool->lock);
        if (!run)
            return;
        shadow_run_cancel(run); /* only its own loop's thread frees it */
    }
}

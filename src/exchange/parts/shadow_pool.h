/* All shadows of a process: how many run, what they came to, and the money they share.
 *
 * A shadow is another tier that answers what an exchange was asked; nobody waits for it. What is
 * kept is how far the two answers agree (router/watch/agreement.h), never their text. part_shadow.c
 * says which exchanges get one, shadow_run.c runs one. There is no queue: one that has no room is
 * dropped.
 *
 * One for the process, shared by all loops; any thread. A shadow lives on the loop of its exchange
 * and outlives it. */
#ifndef EXCHANGE_SHADOW_POOL_H
#define EXCHANGE_SHADOW_POOL_H

#include "base/thread/loop.h"

#include <stdint.h>

struct shadow_pool;
struct skew_table;

/* Of an answer in the shadow; a longer one is compared by its beginning. */
#define SHADOW_TOKENS_MAX 256

/* running_max: of all loops. **returns new** (shadow_pool_free), NULL without memory. */
struct shadow_pool *shadow_pool_new(uint32_t running_max);
/* No shadow may run any more. */
void shadow_pool_free(struct shadow_pool *pool);
/* Ends those of this loop, on its thread. Nothing of them is recorded but what they have cost. */
void shadow_pool_cancel(struct shadow_pool *pool, struct loop *loop);

/* The entry in limits/spending.h that all shadows draw on, beside the budgets of their
 * exchanges. */
uint64_t shadow_pool_budget_key(void);

/* By where the shadow ran. */
enum shadow_place { SHADOW_ON_DEVICE, SHADOW_ELSEWHERE, SHADOW_PLACE_COUNT };
struct shadow_numbers {
    struct shadow_count {
        uint64_t compared, same;
        uint64_t failed;
        /* No room, no money, on battery, the device had other things to do, or nothing to
         * compare. */
        uint64_t dropped;
        double agreement_sum, cost_usd;
    } of[SHADOW_PLACE_COUNT];
    uint32_t running;
};
void shadow_pool_numbers(struct shadow_pool *pool, struct shadow_numbers *out);

/* How often tiers differ: what the comparisons of all shadows come to. **borrows** it. */
struct skew_table *shadow_pool_skew(struct shadow_pool *pool);

/* For shadow_run.c and part_shadow.c. A place among those that run; false when there is none. */
struct shadow_run;
bool shadow_pool_reserve(struct shadow_pool *pool);
void shadow_pool_give_back(struct shadow_pool *pool);
void shadow_pool_add(struct shadow_pool *pool, struct shadow_run *run);
void shadow_pool_remove(struct shadow_pool *pool, struct shadow_run *run); /* gives back, too */
void shadow_pool_count(struct shadow_pool *pool, enum shadow_place place,
                       const struct shadow_count *more);

#endif

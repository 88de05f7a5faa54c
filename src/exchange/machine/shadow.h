/* Another tier answers in the shadow of an exchange: nobody waits for it, and what is kept is how far the two answers agree
 * (router/watch/agreement.h), never their text. The device answers some of what a cloud answered, as spare work of the engine (it stands still
 * while anybody else has something to do); a cloud answers some of what the device answered only where a route says so, for tiers that
 * the exchange's own plan allowed, as the request went or would have gone (a request that would have to be masked is not sent), through
 * the door with its purpose "shadow", against the same budgets and a cap of its own. It begins after the exchange's last word.
 *
 * Not shadowed: what asks for tools, formats, adapters or completions (their answers are not texts that can be compared, or only one tier
 * can give them), what may not be kept, and classes from contractual on. Streamed answers are; each of several choices is an exchange of
 * its own. A device on battery, or one that is at its limit, drops it: there is no queue.
 *
 * One for the process, shared by all loops; a shadow lives on the loop of its exchange and outlives it. */
#ifndef EXCHANGE_SHADOW_H
#define EXCHANGE_SHADOW_H

#include "base/loop.h"

#include <stdint.h>

struct exchange;
struct shadows;

#define SHADOW_TOKENS_MAX 256 /* of an answer; a longer one is compared by its beginning */

/* running_max: of all loops. **returns new** (shadows_free), NULL without memory. */
struct shadows *shadows_new(uint32_t running_max);
/* None may run any more. */
void shadows_free(struct shadows *shadows);

/* The entry in spending.h of what all shadows draw on, beside the budgets of their exchanges. */
uint64_t shadow_budget_key(void);

/* With the plan made: is this exchange to be shadowed if it is answered? It keeps its text then. */
bool shadow_is_wanted(const struct exchange *exchange);
/* It was answered and recorded. Copies what it needs; the tier is asked in a later turn of the loop. */
void shadow_begin(const struct exchange *exchange);
/* Ends those of this loop, on its thread: nothing of them is recorded but what they have cost so far. */
void shadows_cancel(struct shadows *shadows, struct loop *loop);

/* By where the shadow ran. */
enum shadow_place { SHADOW_ON_DEVICE, SHADOW_ELSEWHERE, SHADOW_PLACE_COUNT };
struct shadow_numbers {
    struct shadow_count {
        uint64_t compared, same;
        uint64_t failed;
        uint64_t
            dropped; /* no room, no money, on battery, the device had better things to do, or nothing to compare */
        double agreement_sum, cost_usd;
    } of[SHADOW_PLACE_COUNT];
    uint32_t running;
};
void shadow_numbers(struct shadows *shadows, struct shadow_numbers *out);

#endif

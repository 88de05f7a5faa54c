/* Another tier answers in the shadow of an exchange: nobody waits for it, and what is kept is how far the two answers agree
 * (router/agreement.h). The device answers some of what a cloud answered, as batch work, one at a time by default; a cloud answers some of what the
 * device answered only where a route says so, for tiers that the exchange's own plan allowed, as the request went or would have gone (a
 * request that would have to be masked is not sent), through the door with its purpose "shadow", and against the same budgets.
 *
 * Not shadowed: what asks for tools, formats, adapters or completions (needs), what may not be kept, and classes from contractual on. A
 * device on battery, or one that is at its limit, drops it: there is no queue.
 *
 * One for the process, shared by all loops; a shadow lives on the loop of its exchange and outlives it. */
#ifndef EXCHANGE_SHADOW_H
#define EXCHANGE_SHADOW_H

#include "base/loop.h"

struct exchange;
struct shadows;

#define SHADOW_TOKENS_MAX 256 /* of an answer; a longer one is compared by its beginning */

/* running_max: of all loops. **returns new** (shadows_free), NULL without memory. */
struct shadows *shadows_new(uint32_t running_max);
/* None may run any more. */
void shadows_free(struct shadows *shadows);

/* With the plan made: is this exchange to be shadowed if it is answered? It keeps its text then. */
bool shadow_is_wanted(const struct exchange *exchange);
/* It was answered and recorded. */
void shadow_begin(const struct exchange *exchange);
/* Ends those of this loop, on its thread: nothing of them is recorded. */
void shadows_cancel(struct shadows *shadows, struct loop *loop);

struct shadow_numbers {
    uint64_t compared, failed, dropped;
    double agreement_sum;
    uint32_t running;
};
void shadow_numbers(struct shadows *shadows, struct shadow_numbers *out);

#endif

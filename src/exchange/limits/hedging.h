/* How many hedges there may be, and how many there were: a bucket into which every exchange of a hedged route pays a share of a request, and out of
 * which every hedge takes a whole one. So an outage, in which everything is slow, adds no more load than that share (Dean and Barroso 2013, "The
 * Tail at Scale": hedging after the 95th percentile adds some 5 %). One for the process; any thread. */
#ifndef EXCHANGE_HEDGING_H
#define EXCHANGE_HEDGING_H

#include <stdbool.h>
#include <stdint.h>

struct hedging;

/* **returns new** (hedging_free), or NULL. */
struct hedging *hedging_new(void);
void hedging_free(struct hedging *hedging);

void hedging_pay(struct hedging *hedging, double share);
bool hedging_take(struct hedging *hedging); /* false, and counted as refused, when there is none */

enum hedging_result {
    HEDGING_WON,  /* the hedge's answer was given */
    HEDGING_LOST, /* the slow one's was */
    HEDGING_FAILED, /* it ended without an answer of use, or the exchange ended before either had one */
    HEDGING_RESULT_COUNT
};
const char *hedging_result_name(enum hedging_result result); /* "won", ... */
/* spent_usd: on the attempt that was not used. */
void hedging_count(struct hedging *hedging, enum hedging_result result, double spent_usd);

struct hedging_numbers {
    uint64_t requests; /* of hedged routes */
    uint64_t started, refused, ended[HEDGING_RESULT_COUNT];
    double spent_usd; /* on answers that nobody was given */
};
void hedging_numbers(struct hedging *hedging, struct hedging_numbers *out);

#endif

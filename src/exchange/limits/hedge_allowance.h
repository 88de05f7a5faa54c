/* How many hedges there may be, and how many there were.
 *
 * Every exchange of a hedged route pays a share of a request into the allowance, and every hedge
 * takes a whole one out. So an outage, in which everything is slow, adds no more load than that
 * share (Dean and Barroso 2013, "The Tail at Scale": hedges after the 95th percentile add some 5
 * %). One for the process; any thread. */
#ifndef EXCHANGE_HEDGE_ALLOWANCE_H
#define EXCHANGE_HEDGE_ALLOWANCE_H

#include <stdbool.h>
#include <stdint.h>

struct hedge_allowance;

/* **returns new** (hedge_allowance_free), or NULL. */
struct hedge_allowance *hedge_allowance_new(void);
void hedge_allowance_free(struct hedge_allowance *allowance);

void hedge_allowance_pay(struct hedge_allowance *allowance, double share);
/* False when nothing is saved up; that is counted as refused. */
bool hedge_allowance_take(struct hedge_allowance *allowance);

enum hedge_result {
    HEDGE_WON,    /* the hedge's answer was given */
    HEDGE_LOST,   /* the slow one's was */
    HEDGE_FAILED, /* its answer was of no use, or the exchange ended before either answered */
    HEDGE_RESULT_COUNT
};
const char *hedge_result_name(enum hedge_result result); /* "won", ... */
/* spent_usd: on the attempt that was not used. */
void hedge_allowance_count(struct hedge_allowance *allowance, enum hedge_result result,
                           double spent_usd);

struct hedge_numbers {
    uint64_t requests; /* of hedged routes */
    uint64_t started, refused, ended[HEDGE_RESULT_COUNT];
    double spent_usd; /* on answers that nobody saw */
};
void hedge_allowance_numbers(struct hedge_allowance *allowance, struct hedge_numbers *out);

#endif

/* One shadow while it runs: a tier is asked, its answer is compared, and all is forgotten. It needs
 * nothing of its exchange once it is made. On the loop of its exchange. */
#ifndef EXCHANGE_SHADOW_RUN_H
#define EXCHANGE_SHADOW_RUN_H

#include "base/bytes/buf.h"
#include "exchange/machine/exchange.h"
#include "exchange/parts/shadow_pool.h"
#include "request/request.h"
#include "router/plan/policy.h"
#include "tier/door.h"

#define SHADOW_ID_BYTES 28 /* of an exchange's id */

/* What a shadow takes over from its exchange; copied where it is text. */
struct shadow_task {
    struct exchange_services *services; /* held until the shadow has ended */
    struct loop *loop;
    const char *id;
    const struct trace *trace;
    enum shadow_place place;
    size_t tier;     /* that is asked */
    size_t answerer; /* whose answer it is compared with, and what its server said */
    uint64_t answerer_identity;
    enum td_data_class data_class;
    const struct td_request *request;
    uint64_t caller; /* of the exchange */
    uint32_t prompt_tokens;
    struct td_str shown;                   /* the answer to compare with */
    const struct route *ramp_route;        /* whose ramp's two tiers are compared; else NULL */
    bool is_candidate;                     /* the shadow's tier is the candidate of that ramp */
    uint64_t budget_keys[BUDGETS_MAX + 1]; /* the exchange's, and the shadows' own; 0 = none */
    double promised_usd;                   /* to each of them */
};

struct shadow_run {
    struct shadow_run *previous, *next; /* in the pool */
    struct loop *loop;
    struct shadow_task task; /* `id`, `trace`, `request` and `shown` are not used any more */
    struct shadow_pool *pool;
    struct tier *tier;
    struct tier_attempt *running;
    struct loop_timer *timer; /* to begin, to be too late, to be freed */
    struct egress_pass pass;
    struct tier_ticket ticket;
    struct td_str stops[TD_STOPS_MAX]; /* of `request` */
    char span[TRACE_SPAN_BYTES], traceparent[TRACE_HEADER_BYTES];
    char id[SHADOW_ID_BYTES];
    bool limited;             /* to fewer tokens than the client allows */
    bool began;               /* the tier was asked; else it waits for its turn */
    bool ended;               /* maybe inside of a callback: freed by the timer */
    struct buf shown, answer; /* of the exchange, and of the shadow */
    struct td_request request;
    struct td_message *messages;
    char *texts;              /* of messages and stops */
    uint64_t server_identity; /* as in tier_piece */
    uint64_t answer_bytes;    /* all that came, also what `answer` has no room for */
};

/* Promises the money and starts in a later turn of the loop, in a place that was reserved in the
 * pool. False without memory; the place is then still the caller's. */
bool shadow_run_start(const struct shadow_task *task);
/* Ends and frees it. */
void shadow_run_cancel(struct shadow_run *run);

#endif

/* Exchanges as they end, for whoever looks on: a stream of GET /tandem/v1/live for each.
 *
 * Each looker has a bounded queue of events. What does not fit is left out of it and counted, so a
 * slow one holds up nobody. While nobody looks on, an exchange costs one atomic load. An event has
 * no word of a question or an answer. Any thread. */
#ifndef API_LIVE_H
#define API_LIVE_H

#include "base/bytes/buf.h"
#include "exchange/machine/exchange.h"

#define LIVE_TENANT_BYTES 17
#define LIVE_QUEUE_BYTES (256u << 10) /* some 500 exchanges */

struct live;

struct live_looker {
    char tenant[LIVE_TENANT_BYTES]; /* whose exchanges alone it sees */
    bool of_all;                    /* tenants */
    struct live_looker *next;       /* the rest is live's */
    struct buf waiting;             /* whole events */
    uint64_t left_out;
};

/* **returns new** (live_free), NULL without memory. */
struct live *live_new(void);
/* No looker may be left. Accepts NULL. */
void live_free(struct live *live);

/* From here on events are kept for it. **borrows** the looker until live_leave. */
void live_join(struct live *live, struct live_looker *looker);
void live_leave(struct live *live, struct live_looker *looker);
/* Appends what waits for it. Returns how many were left out since it joined. */
uint64_t live_take(struct live *live, struct live_looker *looker, struct buf *out);

/* An exchange has ended. Accepts NULL. */
void live_exchange(struct live *live, const struct exchange_summary *summary);

#endif

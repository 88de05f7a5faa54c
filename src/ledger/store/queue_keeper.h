/* The thread beside a store of queues (ledger/store/queue_store.h): it removes entries that were
 * kept long enough, and counts those that wait. So who plans on an event loop reads the last count,
 * and never waits for the database. Any thread. */
#ifndef LEDGER_QUEUE_KEEPER_H
#define LEDGER_QUEUE_KEEPER_H

#include "tandem/types.h"

struct queue_keeper;
struct queue_store;

/* Borrows the store until queue_keeper_stop. **returns new** (queue_keeper_stop). */
TD_MUST_CHECK enum td_status queue_keeper_start(struct queue_store *store,
                                                struct queue_keeper **out, struct td_error *err);
void queue_keeper_stop(struct queue_keeper *keeper); /* accepts NULL */

/* The queue is counted from now on, and its entries go keep_s after their end. A queue that nobody
 * has named, because its tier is gone, is kept QUEUE_KEEP_S. */
#define QUEUE_KEEP_S (30u * 86400)
TD_MUST_CHECK enum td_status queue_keeper_watch(struct queue_keeper *keeper, const char *queue,
                                                uint32_t keep_s, struct td_error *err);
/* Has the queues counted, at once or soon. */
void queue_keeper_ask(struct queue_keeper *keeper);
/* How many waited there when that was counted last; asks for a new count. */
uint32_t queue_keeper_waiting(struct queue_keeper *keeper, const char *queue);

#endif

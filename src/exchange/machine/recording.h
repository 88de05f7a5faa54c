/* Waiting for the record of an exchange. The ledger's thread tells that it is written; the exchange
 * hears of it on its loop, or has ended meanwhile. Both hold it, so neither waits for the other. */
#ifndef EXCHANGE_RECORDING_H
#define EXCHANGE_RECORDING_H

#include "base/thread/loop.h"

struct recording;

/* then: on the loop, once, after recording_told. NULL without memory or file descriptors. */
struct recording *recording_begin(struct loop *loop, loop_fn *then, void *ctx);
/* Exactly once, from any thread; as struct ledger_exchange calls it. */
void recording_told(void *recording, enum td_status status);
/* On the loop: nobody waits any more. What was told; TD_BUSY = nothing yet. */
enum td_status recording_end(struct loop *loop, struct recording *recording);

#endif

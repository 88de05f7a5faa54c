/* Restores values in the pieces of an answer: in its text, and in what else a server streams
 * (arguments of tool calls, reasoning, refusals). Each of these is a stream of its own that may be
 * cut anywhere. On one loop. */
#ifndef EXCHANGE_RESTORE_DELTA_H
#define EXCHANGE_RESTORE_DELTA_H

#include "privacy/pseudonym/restore.h"
#include "tier/tier.h"

struct restore_delta;

/* **borrows** table until restore_delta_free. **returns new**; NULL without memory. */
struct restore_delta *restore_delta_new(const struct restore_table *table);
void restore_delta_free(struct restore_delta *delta);
void restore_delta_reset(struct restore_delta *delta); /* another answer begins */

/* **borrow** until the next call. */
const struct tier_piece *restore_delta_piece(struct restore_delta *delta,
                                             const struct tier_piece *piece);
const struct tier_piece *restore_delta_end(struct restore_delta *delta);
struct restore_counts restore_delta_counts(const struct restore_delta *delta);

#endif

/* The pieces of an answer that nobody has seen yet.
 *
 * Until the commit point an answer is held back here. Then its pieces are shown in order, with
 * their stats. An attempt that is left before that leaves no trace with the client. */
#ifndef EXCHANGE_HOLD_H
#define EXCHANGE_HOLD_H

#include "base/bytes/buf.h"
#include "tier/tier.h"

/* Of text and stats of one answer. An answer that is larger is shown, whatever the settings say. */
#define HOLD_BYTES_MAX (4 * 1024 * 1024)

struct held;

struct hold {
    struct held *items;
    size_t count, capacity, bytes;
};

/* Text, or something else that a client can see (a tool call). */
bool piece_is_visible(const struct tier_piece *piece);

void hold_deinit(struct hold *hold); /* leaves it empty and usable */
/* Deep copy. False (and unchanged) when over HOLD_BYTES_MAX or out of memory. */
TD_MUST_CHECK bool hold_add(struct hold *hold, const struct tier_piece *piece);
/* Calls back with the pieces in order while fn returns true; the hold keeps them. */
void hold_replay(const struct hold *hold, bool (*fn)(void *ctx, const struct tier_piece *piece),
                 void *ctx);
/* Appends the text of all pieces. */
void hold_text(const struct hold *hold, struct buf *out);

#endif

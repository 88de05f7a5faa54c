/* The keys of one tier, each with a weight. A key that the server refuses or throttles rests alone,
 * and the others go on. Thread-safe. now_ms is monotonic. */
#ifndef TIER_KEY_RING_H
#define TIER_KEY_RING_H

#include "tier/tier.h"

struct key_ring;

/* Borrows names and secrets until key_ring_free. At most TIER_KEYS_MAX keys. No key is a ring of
 * one that has no text. **returns new** (key_ring_free), NULL without memory. */
struct key_ring *key_ring_new(const struct tier_key *keys, size_t count);
void key_ring_free(struct key_ring *ring);

/* The next key by weight among those that do not rest and are not in `tried` (bit n: key n). When
 * all others rest: the one whose rest ends first if nothing was tried yet, else SIZE_MAX. */
size_t key_ring_pick(struct key_ring *ring, uint64_t tried, uint64_t now_ms);
/* **borrows** */
const struct tier_key *key_ring_at(const struct key_ring *ring, size_t index);
size_t key_ring_count(const struct key_ring *ring);
/* Nobody picks the key before `for_ms` are over, as long as there is another one. */
void key_ring_rest(struct key_ring *ring, size_t index, uint64_t for_ms, uint64_t now_ms);

/* How long a key rests after this answer; 0: the answer is not about the key. retry_after_ms: as
 * the server says, 0 = it does not. */
uint64_t key_ring_rest_of(int http, uint64_t retry_after_ms);

#endif

/* All answers of a cache as bytes, to be kept over a restart:
 *
 *   "TDANSW01"
 *   of each answer, the least recently used first; numbers are little-endian
 *     0    32  key
 *     32   32  tenant, 64: 32 user (struct answer_owner)
 *     96    8  when it came, ms since 1970
 *     104   8  server_identity
 *     112  16  tokens: prompt, completion, cached, cache_written, 4 bytes each
 *     128   4  most
 *     132   4  stop_number
 *     136   1  finish
 *     137   1  usage.exact
 *     138   4  bytes of the pieces, which follow (kept_pieces.h)
 *
 * What is too old, or does not fit any more, is left out. Any thread. */
#ifndef API_CACHE_BYTES_H
#define API_CACHE_BYTES_H

#include "api/cache/answer_cache.h"

struct cache_now {
    uint64_t ms, wall_ms; /* monotonic, and since 1970 */
};

/* Appends; out->failed without memory. */
void cache_bytes_write(struct answer_cache *cache, const struct cache_now *now, struct buf *out);
/* Puts all of them. Stops at what is malformed and returns false; what came before it stays.
 * ttl_ms: older ones are left out. */
bool cache_bytes_read(struct td_str bytes, const struct cache_now *now, uint64_t ttl_ms,
                      struct answer_cache *cache);

#endif

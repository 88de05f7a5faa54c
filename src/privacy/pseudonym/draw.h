/* Random bytes for surrogates, made by HMAC-SHA-256 from a key, a label, a text and a number. The
 * same inputs always give the same bytes, and nobody without the key can compute them. Plain data
 * of one owner. */
#ifndef PRIVACY_DRAW_H
#define PRIVACY_DRAW_H

#include "base/crypto/keyed.h"

struct draw {
    uint8_t key[KEYED_KEY_BYTES];
    uint8_t block[KEYED_MAC_BYTES];
    uint32_t block_count, used;
};

/* salt: another number gives other bytes. */
void draw_init(struct draw *draw, const uint8_t key[static KEYED_KEY_BYTES], const char *label,
               struct td_str text, uint32_t salt);
uint64_t draw_u64(struct draw *draw);
/* A number from 0 to bound - 1; bound > 0. */
uint32_t draw_below(struct draw *draw, uint32_t bound);

#endif

#include "privacy/pseudonym/draw.h"

#include "base/bytes/buf.h"
#include "base/core/assertion.h"

#include <string.h>

void draw_init(struct draw *draw, const uint8_t key[static KEYED_KEY_BYTES], const char *label,
               struct td_str text, uint32_t salt)
{
    struct buf bytes;
    buf_init(&bytes, text.len + 128);
    buf_printf(&bytes, "%s/%u/", label, salt);
    buf_append_str(&bytes, text);
    *draw = (struct draw){.used = KEYED_MAC_BYTES};
    keyed_mac(key, bytes.data, bytes.len, draw->key);
    buf_deinit(&bytes);
}

uint64_t draw_u64(struct draw *draw)
{
    uint64_t number;
    if (draw->used + sizeof number > KEYED_MAC_BYTES) {
        draw->block_count++;
        keyed_mac(draw->key, &draw->block_count, sizeof draw->block_count, draw->block);
        draw->used = 0;
    }
    memcpy(&number, draw->block + draw->used, sizeof number);
    draw->used += sizeof number;
    return number;
}

uint32_t draw_below(struct draw *draw, uint32_t bound)
{
    ASSERT(bound > 0);
    /* 2^64 is so much larger than any bound here that the bias is below 2^-32. */
    return (uint32_t)(draw_u64(draw) % bound);
}

/* Layout of the keys and values of one kv head in one page of KV_PAGE_TOKENS positions. All
 * variants use it. It is made for products that go through memory row by row:
 *
 *   keys    [head_size, 64]       the same element of all positions is adjacent, so that scores are
 *                                 vectors over positions and need no horizontal sums
 *   values  [64, value columns]   a row for each position; columns beyond head_size are zero
 *
 * Elements are f16 (TD_KV_F16), float (TD_KV_F32) or int8 (TD_KV_Q8_0). With Q8_0, f16 scales
 * [blocks, 64] of each position's blocks of 32 follow the keys, and also the values. An element is
 * scale * int8, which a float holds exactly. */
#ifndef KERNELS_KV_PAGE_H
#define KERNELS_KV_PAGE_H

#include "tandem/engine.h"

enum { KV_PAGE_TOKENS = 64, KV_SCALE_BLOCK = 32 };

static inline size_t kv_value_columns(size_t head_size)
{
    return (head_size + 15) / 16 * 16; /* whole vectors */
}

static inline size_t kv_scale_blocks(size_t head_size)
{
    return (head_size + KV_SCALE_BLOCK - 1) / KV_SCALE_BLOCK;
}

/* Bytes of `columns` elements of every position, and of the scales of a head of head_size. */
static inline size_t kv_part_bytes(enum td_kv_type kv_type, size_t columns, size_t head_size)
{
    size_t elements = columns * KV_PAGE_TOKENS;
    if (kv_type == TD_KV_Q8_0)
        return elements + kv_scale_blocks(head_size) * KV_PAGE_TOKENS * 2;
    return elements * (kv_type == TD_KV_F32 ? 4 : 2);
}

static inline size_t kv_keys_bytes(enum td_kv_type kv_type, size_t head_size)
{
    return kv_part_bytes(kv_type, head_size, head_size);
}

static inline size_t kv_values_bytes(enum td_kv_type kv_type, size_t head_size)
{
    return kv_part_bytes(kv_type, kv_value_columns(head_size), head_size);
}

#endif

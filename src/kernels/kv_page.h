/* Layout of the keys and values of one kv head in one page of KV_PAGE_TOKENS positions. All
 * variants use it. It is made for products that go through memory row by row:
 *
 *   keys    [head_size, 64]       the same element of all positions is adjacent, so that scores are
 *                                 vectors over positions and need no horizontal sums
 *   values  [64, value columns]   a row for each position; columns beyond head_size are zero
 *
 * Elements are f16 (TD_KV_F16), float (TD_KV_F32), int8 (TD_KV_Q8_0) or 4 bits (TD_KV_Q4_0). With
 * the last two, f16 scales [blocks, 64] of each position's blocks of 32 follow the keys, and also
 * the values. An element is scale * int8, which a float holds exactly.
 *
 * Q4_0: a byte holds two elements of one position, so that threads may store neighbours. With n
 * elements in a block (32, the last one fewer) and half = (n + 1) / 2, byte r of the block has
 * element r in its low and element half + r in its high nibble, each plus 8. The keys are
 * [(head_size + 1) / 2, 64] bytes, the values [64, value columns / 2]. */
#ifndef KERNELS_KV_PAGE_H
#define KERNELS_KV_PAGE_H

#include <stdbool.h>

#include "tandem/engine.h"

enum { KV_PAGE_TOKENS = 64, KV_SCALE_BLOCK = 32 };

/* The types of the two parts: TD_KV_F16, _F32, _Q8_0 or _Q4_0. */
static inline enum td_kv_type kv_type_of_keys(enum td_kv_type kv_type)
{
    static const enum td_kv_type mixed[] = {TD_KV_F16,  TD_KV_F16,  TD_KV_Q8_0,
                                            TD_KV_Q8_0, TD_KV_Q4_0, TD_KV_Q4_0};
    return kv_type > TD_KV_Q4_0 ? mixed[kv_type - TD_KV_F16_Q8_0] : kv_type;
}

static inline enum td_kv_type kv_type_of_values(enum td_kv_type kv_type)
{
    static const enum td_kv_type mixed[] = {TD_KV_Q8_0, TD_KV_Q4_0, TD_KV_F16,
                                            TD_KV_Q4_0, TD_KV_F16,  TD_KV_Q8_0};
    return kv_type > TD_KV_Q4_0 ? mixed[kv_type - TD_KV_F16_Q8_0] : kv_type;
}

/* Whether attend() reads pages as they are stored; others go through kv_load(). */
static inline bool kv_type_is_read_directly(enum td_kv_type kv_type)
{
    return kv_type < TD_KV_Q4_0;
}

static inline size_t kv_value_columns(size_t head_size)
{
    return (head_size + 15) / 16 * 16; /* whole vectors */
}

static inline size_t kv_scale_blocks(size_t head_size)
{
    return (head_size + KV_SCALE_BLOCK - 1) / KV_SCALE_BLOCK;
}

/* Bytes of `columns` elements of one position, in one of the four types. */
static inline size_t kv_elements_bytes(enum td_kv_type part, size_t columns)
{
    return part == TD_KV_Q4_0   ? (columns + 1) / 2
           : part == TD_KV_Q8_0 ? columns
                                : columns * (part == TD_KV_F32 ? 4 : 2);
}

static inline size_t kv_part_blocks(enum td_kv_type part, size_t head_size)
{
    return part == TD_KV_Q8_0 || part == TD_KV_Q4_0 ? kv_scale_blocks(head_size) : 0;
}

/* Bytes of `columns` elements of every position, and of the scales of a head of head_size. */
static inline size_t kv_part_bytes(enum td_kv_type part, size_t columns, size_t head_size)
{
    return (kv_elements_bytes(part, columns) + kv_part_blocks(part, head_size) * 2) *
           KV_PAGE_TOKENS;
}

static inline size_t kv_keys_bytes(enum td_kv_type kv_type, size_t head_size)
{
    return kv_part_bytes(kv_type_of_keys(kv_type), head_size, head_size);
}

static inline size_t kv_values_bytes(enum td_kv_type kv_type, size_t head_size)
{
    return kv_part_bytes(kv_type_of_values(kv_type), kv_value_columns(head_size), head_size);
}

#endif

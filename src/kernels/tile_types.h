/* What the tiles need to know about a weight type. `type` is a constant in every call, so the
 * compiler folds the answers. Only the vector variants use this. */
#ifndef KERNELS_TILE_TYPES_H
#define KERNELS_TILE_TYPES_H

#include <stdbool.h>

#include "kernels/formats.h"
#include "kernels/kernels.h"
#include "kernels/tiles.h"

#define TILE_BLOCK_BYTES(type, number, name, elements, bytes) \
    case type:                                                \
        return bytes;

TILE_INLINE size_t tile_block_bytes(enum tensor_type type)
{
    switch (type) {
        TENSOR_TYPES(TILE_BLOCK_BYTES)
    default:
        return 0; /* no type */
    }
}

#define TILE_BLOCK_ELEMENTS(type, number, name, elements, bytes) \
    case type:                                                   \
        return elements;

TILE_INLINE size_t tile_block_elements(enum tensor_type type)
{
    switch (type) {
        TENSOR_TYPES(TILE_BLOCK_ELEMENTS)
    default:
        return 1; /* no type */
    }
}

/* Whether a minimum is added to each weight (blocks of 32) or subtracted (blocks of 256). */
TILE_INLINE bool tile_has_minimum(enum tensor_type type)
{
    return type == TENSOR_Q4_1 || type == TENSOR_Q5_1 || type == TENSOR_Q4_K ||
           type == TENSOR_Q5_K || type == TENSOR_Q2_K;
}

/* Of the types of blocks_low.h: whether each sixteen weights have a scale of their own. The others
 * have one for 32 or more, and the products of 32 are added as whole numbers. */
TILE_INLINE bool tile_has_sixteens(enum tensor_type type)
{
    return type == TENSOR_IQ1_M || type == TENSOR_IQ2_XS || type == TENSOR_IQ2_S ||
           type == TENSOR_NVFP4;
}

/* Where the quants of a block of 32 with nibbles begin. */
TILE_INLINE size_t tile_nibbles_at(enum tensor_type type)
{
    switch (type) {
    case TENSOR_Q4_1:
        return Q4_1_QUANTS_AT;
    case TENSOR_Q5_0:
        return Q5_0_QUANTS_AT;
    case TENSOR_Q5_1:
        return Q5_1_QUANTS_AT;
    case TENSOR_MXFP4:
        return MXFP4_QUANTS_AT;
    default:
        return Q4_0_QUANTS_AT; /* IQ4_NL as well */
    }
}

#endif

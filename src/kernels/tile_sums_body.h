/* The sums of a tile: a vector for each row and token. Written with the functions of simd_<isa>.h;
 * include that header first. */
#ifndef KERNELS_TILE_SUMS_BODY_H
#define KERNELS_TILE_SUMS_BODY_H

#include "kernels/tiles.h"

#define ROWS_MAX 4
#define TOKENS_MAX 8

TILE_INLINE void zero_sums(int rows, int tokens, vec sums[ROWS_MAX][TOKENS_MAX])
{
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++)
            sums[r][t] = vec_set(0);
}

TILE_INLINE void store_sums(const struct tile *tile, int rows, int tokens,
                            vec sums[ROWS_MAX][TOKENS_MAX])
{
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 8
        for (int t = 0; t < tokens; t++)
            tile->y[(size_t)t * tile->y_stride + (size_t)r] = vec_sum(sums[r][t]);
}

#endif

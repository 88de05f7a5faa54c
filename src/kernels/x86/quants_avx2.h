/* Products of quantised weights with a few tokens, for matmul_avx2.c. */
#ifndef KERNELS_QUANTS_AVX2_H
#define KERNELS_QUANTS_AVX2_H

#include <immintrin.h>

#include "kernels/kernels.h"
#include "kernels/tiles.h"

enum {
    QUANTS_ROWS = TILE_ANY_ROWS, /* of a tile */
    QUANTS_TOKENS = 8            /* of a tile; more are better off as panels */
};

/* `whole` describes the first of `rows` rows and of `tokens` tokens. */
void quants_multiply_avx2(enum tensor_type type, const struct tile *whole, size_t rows,
                          size_t tokens);

/* For a type of blocks_low.h: adds the products of a tile with up to QUANTS_TOKENS tokens to
 * sums[token][row]. */
void quants_low_add_avx2(enum tensor_type type, const struct tile *tile, size_t tokens,
                         float (*sums)[QUANTS_ROWS]);

/* Prefetches the weights QUANTS_PREFETCH_BYTES ahead, near the end of a row in the row of the next
 * tile. Eight rows of 576 bytes are 4.5 KB in flight, twice what a memory of 100 ns and 25 GB/s for
 * a core needs. */
enum { QUANTS_PREFETCH_BYTES = 576 };
TILE_INLINE void quants_prefetch_row(const struct tile *tile, size_t r, size_t offset, size_t bytes)
{
#pragma GCC unroll 4
    for (size_t line = 0; line < bytes; line += 64)
        _mm_prefetch((const char *)(tile->at[r] + offset + QUANTS_PREFETCH_BYTES + line),
                     _MM_HINT_T0);
}

#endif

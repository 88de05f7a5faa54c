/* Sums and transpositions over the lanes of 256-bit registers, for products of several rows. Each
 * row has its partial sums in a register of its own; these functions add them and put each row's
 * sum into one lane. */
#ifndef KERNELS_LANES_AVX2_H
#define KERNELS_LANES_AVX2_H

#include <immintrin.h>

#include "kernels/tiles.h"

/* Transposes the four numbers of each 128-bit lane: number k of out[i] is number i of in[k]. */
TILE_INLINE void transpose_in_quads(const __m256i in[4], __m256i out[4])
{
    __m256i first = _mm256_unpacklo_epi32(in[0], in[1]);
    __m256i second = _mm256_unpacklo_epi32(in[2], in[3]);
    __m256i third = _mm256_unpackhi_epi32(in[0], in[1]);
    __m256i fourth = _mm256_unpackhi_epi32(in[2], in[3]);
    out[0] = _mm256_unpacklo_epi64(first, second);
    out[1] = _mm256_unpackhi_epi64(first, second);
    out[2] = _mm256_unpacklo_epi64(third, fourth);
    out[3] = _mm256_unpackhi_epi64(third, fourth);
}

/* Lane r of each half of the result: the sum of the four numbers in that half of row r. */
TILE_INLINE __m256i sum_quads(const __m256i rows[4])
{
    __m256i first = _mm256_add_epi32(_mm256_unpacklo_epi32(rows[0], rows[1]),
                                     _mm256_unpackhi_epi32(rows[0], rows[1]));
    __m256i second = _mm256_add_epi32(_mm256_unpacklo_epi32(rows[2], rows[3]),
                                      _mm256_unpackhi_epi32(rows[2], rows[3]));
    return _mm256_add_epi32(_mm256_unpacklo_epi64(first, second),
                            _mm256_unpackhi_epi64(first, second));
}

/* Four rows in each: those of half `half`, eight rows. */
TILE_INLINE __m256i join_halves(__m256i first, __m256i second, int half)
{
    return half == 0 ? _mm256_permute2x128_si256(first, second, 0x20)
                     : _mm256_permute2x128_si256(first, second, 0x31);
}

/* Lane r: the sum of the eight numbers of row r. */
TILE_INLINE __m256i sum_rows(const __m256i rows[8])
{
    __m256i first = sum_quads(rows), second = sum_quads(rows + 4);
    return _mm256_add_epi32(join_halves(first, second, 0), join_halves(first, second, 1));
}

#endif

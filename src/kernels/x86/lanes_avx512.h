/* Sums and transpositions over the lanes of 512-bit registers, for products of sixteen rows. Each
 * row has its partial sums in a register of its own; these functions add them and put each row's
 * sum into one lane. */
#ifndef KERNELS_LANES_AVX512_H
#define KERNELS_LANES_AVX512_H

#include <immintrin.h>

#include "kernels/tiles.h"

/* 128-bit lane k of the result: the sum of the four numbers in lane k of each row. */
TILE_INLINE __m512i sum_quads(__m512i row0, __m512i row1, __m512i row2, __m512i row3)
{
    __m512i first =
        _mm512_add_epi32(_mm512_unpacklo_epi32(row0, row1), _mm512_unpackhi_epi32(row0, row1));
    __m512i second =
        _mm512_add_epi32(_mm512_unpacklo_epi32(row2, row3), _mm512_unpackhi_epi32(row2, row3));
    return _mm512_add_epi32(_mm512_unpacklo_epi64(first, second),
                            _mm512_unpackhi_epi64(first, second));
}

/* Transposes a square of 128-bit lanes: lane i of out[k] is lane k of in[i]. */
TILE_INLINE void transpose_quads(const __m512i in[4], __m512i out[4])
{
    __m512i first = _mm512_shuffle_i32x4(in[0], in[1], 0x44);
    __m512i second = _mm512_shuffle_i32x4(in[2], in[3], 0x44);
    __m512i third = _mm512_shuffle_i32x4(in[0], in[1], 0xee);
    __m512i fourth = _mm512_shuffle_i32x4(in[2], in[3], 0xee);
    out[0] = _mm512_shuffle_i32x4(first, second, 0x88);
    out[1] = _mm512_shuffle_i32x4(first, second, 0xdd);
    out[2] = _mm512_shuffle_i32x4(third, fourth, 0x88);
    out[3] = _mm512_shuffle_i32x4(third, fourth, 0xdd);
}

/* Transposes the four numbers of each 128-bit lane: number k of out[i] is number i of in[k]. */
TILE_INLINE void transpose_in_quads(const __m512i in[4], __m512i out[4])
{
    __m512i first = _mm512_unpacklo_epi32(in[0], in[1]);
    __m512i second = _mm512_unpacklo_epi32(in[2], in[3]);
    __m512i third = _mm512_unpackhi_epi32(in[0], in[1]);
    __m512i fourth = _mm512_unpackhi_epi32(in[2], in[3]);
    out[0] = _mm512_unpacklo_epi64(first, second);
    out[1] = _mm512_unpackhi_epi64(first, second);
    out[2] = _mm512_unpacklo_epi64(third, fourth);
    out[3] = _mm512_unpackhi_epi64(third, fourth);
}

/* 128-bit lane i of the result: the sum of the four lanes of in[i]. */
TILE_INLINE __m512i sum_across_quads(const __m512i in[4])
{
    __m512i first = _mm512_add_epi32(_mm512_shuffle_i32x4(in[0], in[1], 0x44),
                                     _mm512_shuffle_i32x4(in[0], in[1], 0xee));
    __m512i second = _mm512_add_epi32(_mm512_shuffle_i32x4(in[2], in[3], 0x44),
                                      _mm512_shuffle_i32x4(in[2], in[3], 0xee));
    return _mm512_add_epi32(_mm512_shuffle_i32x4(first, second, 0x88),
                            _mm512_shuffle_i32x4(first, second, 0xdd));
}

/* Lane 4k + r of the result: lane 4k + r of row r. */
TILE_INLINE __m512 blend_rows(__m512 row0, __m512 row1, __m512 row2, __m512 row3)
{
    __m512 first = _mm512_mask_mov_ps(row0, 0x2222, row1);
    __m512 second = _mm512_mask_mov_ps(row2, 0x8888, row3);
    return _mm512_mask_mov_ps(first, 0xcccc, second);
}

#endif

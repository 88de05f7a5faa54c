/* Unpacks blocks of blocks_low.h into 256-bit registers of signed bytes, 32 weights at a time, for
 * quants_avx2.c. It gives what blocks_low.c gives, which serves where the time that it takes is
 * shared by many tokens. */
#ifndef KERNELS_UNPACK_LOW_AVX2_H
#define KERNELS_UNPACK_LOW_AVX2_H

#include <immintrin.h>

#include "kernels/blocks_low.h"
#include "kernels/formats.h"
#include "kernels/tiles.h"

TILE_INLINE float half_to_float(uint64_t bits)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128((int)bits)));
}

/* 0xff in byte i where bit i of the 32 is set. */
TILE_INLINE __m256i masks_of_bits(uint32_t bits)
{
    const __m256i byte =
        _mm256_set_epi64x(0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i all = _mm256_shuffle_epi8(_mm256_set1_epi32((int)bits), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(all, bit), bit);
}

TILE_INLINE __m256i four_points(uint64_t first, uint64_t second, uint64_t third, uint64_t fourth)
{
    return _mm256_set_epi64x((long long)fourth, (long long)third, (long long)second,
                             (long long)first);
}

TILE_INLINE __m256i negate(__m256i sizes, __m256i masks)
{
    return _mm256_sub_epi8(_mm256_xor_si256(sizes, masks), masks);
}

/* The four sign indices of 7 bits in `signs`. */
TILE_INLINE __m256i even_signs(uint32_t signs)
{
    const uint64_t *masks = low_tables.even_masks;
    return four_points(masks[signs & 127], masks[signs >> 7 & 127], masks[signs >> 14 & 127],
                       masks[signs >> 21 & 127]);
}

/* ---- IQ1, IQ2, IQ3 --------------------------------------------------------------------------- */

TILE_INLINE __m256i low_iq1_s(const uint8_t *at, size_t j)
{
    const uint64_t *grid = low_tables.iq1_s;
    const uint8_t *q = at + 2 + 4 * j;
    unsigned high = load_u16(at + IQ1_S_HIGH_AT + 2 * j);
    __m256i points =
        four_points(grid[q[0] | (high & 7) << 8], grid[q[1] | (high << 5 & 0x700)],
                    grid[q[2] | (high << 2 & 0x700)], grid[q[3] | (high >> 1 & 0x700)]);
    return _mm256_sub_epi8(points, _mm256_set1_epi8((char)(0x87 + (high >> 15) * 2)));
}

TILE_INLINE __m256i low_iq1_m(const uint8_t *at, size_t j)
{
    const __m256i bit = _mm256_set_epi64x(0x8000, 0x800, 0x80, 0x8);
    const uint64_t *grid = low_tables.iq1_s;
    const uint8_t *q = at + 4 * j;
    unsigned high = load_u16(at + IQ1_M_HIGH_AT + 2 * j);
    __m256i points = four_points(grid[q[0] | (high & 7) << 8], grid[q[1] | (high << 4 & 0x700)],
                                 grid[q[2] | (high & 0x700)], grid[q[3] | (high >> 4 & 0x700)]);
    __m256i minus = _mm256_and_si256(_mm256_set1_epi64x(high), bit);
    minus = _mm256_and_si256(_mm256_cmpeq_epi64(minus, bit), _mm256_set1_epi8(2));
    return _mm256_sub_epi8(points, _mm256_add_epi8(minus, _mm256_set1_epi8((char)0x87)));
}

TILE_INLINE __m256i low_iq2_xxs(const uint8_t *at, size_t j)
{
    const uint64_t *grid = low_tables.iq2_xxs;
    const uint8_t *q = at + 2 + 8 * j;
    return negate(four_points(grid[q[0]], grid[q[1]], grid[q[2]], grid[q[3]]),
                  even_signs(load_u32(q + 4)));
}

TILE_INLINE __m256i low_iq2_xs(const uint8_t *at, size_t j)
{
    const uint64_t *grid = low_tables.iq2_xs, *masks = low_tables.even_masks;
    unsigned q[4];
    for (size_t i = 0; i < 4; i++)
        q[i] = load_u16(at + 2 + 8 * j + 2 * i);
    return negate(
        four_points(grid[q[0] & 511], grid[q[1] & 511], grid[q[2] & 511], grid[q[3] & 511]),
        four_points(masks[q[0] >> 9], masks[q[1] >> 9], masks[q[2] >> 9], masks[q[3] >> 9]));
}

TILE_INLINE __m256i low_iq2_s(const uint8_t *at, size_t j)
{
    const uint64_t *grid = low_tables.iq2_s;
    const uint8_t *q = at + 2 + 4 * j;
    unsigned high = at[IQ2_S_HIGH_AT + j];
    return negate(four_points(grid[q[0] | (high << 8 & 0x300)], grid[q[1] | (high << 6 & 0x300)],
                              grid[q[2] | (high << 4 & 0x300)], grid[q[3] | (high << 2 & 0x300)]),
                  masks_of_bits(load_u32(at + IQ2_S_SIGNS_AT + 4 * j)));
}

TILE_INLINE __m256i low_iq3_xxs(const uint8_t *at, size_t j)
{
    const uint32_t *grid = low_tables.iq3_xxs;
    const uint8_t *q = at + 2 + 8 * j;
    __m256i points =
        _mm256_set_epi32((int)grid[q[7]], (int)grid[q[6]], (int)grid[q[5]], (int)grid[q[4]],
                         (int)grid[q[3]], (int)grid[q[2]], (int)grid[q[1]], (int)grid[q[0]]);
    return negate(points, even_signs(load_u32(at + IQ3_XXS_SIGNS_AT + 4 * j)));
}

TILE_INLINE __m256i low_iq3_s(const uint8_t *at, size_t j)
{
    const uint32_t *grid = low_tables.iq3_s;
    unsigned high = at[IQ3_S_HIGH_AT + j];
    uint32_t points[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; i++)
        points[i] = grid[at[2 + 8 * j + i] | (high << (8 - i) & 0x100)];
    return negate(_mm256_set_epi32((int)points[7], (int)points[6], (int)points[5], (int)points[4],
                                   (int)points[3], (int)points[2], (int)points[1], (int)points[0]),
                  masks_of_bits(load_u32(at + IQ3_S_SIGNS_AT + 4 * j)));
}

/* ---- ternary, binary, NVFP4 ------------------------------------------------------------------ */

/* Digits minus 1 of bytes times powers of three: 3 * (byte * power mod 256) / 256. */
TILE_INLINE __m256i ternary_digits(__m256i bytes, __m256i powers)
{
    const __m256i low = _mm256_set1_epi16(0xff);
    __m256i even = _mm256_and_si256(_mm256_mullo_epi16(bytes, powers), low);
    __m256i odd = _mm256_mullo_epi16(_mm256_srli_epi16(bytes, 8), _mm256_srli_epi16(powers, 8));
    __m256i fractions = _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
    const __m256i one = _mm256_set1_epi8(86), two = _mm256_set1_epi8((char)171);
    __m256i digits = _mm256_set1_epi8(-1);
    digits = _mm256_sub_epi8(digits, _mm256_cmpeq_epi8(_mm256_max_epu8(fractions, one), fractions));
    return _mm256_sub_epi8(digits, _mm256_cmpeq_epi8(_mm256_max_epu8(fractions, two), fractions));
}

TILE_INLINE __m256i low_tq1_0(const uint8_t *at, size_t j)
{
    static const uint8_t powers[5] = {1, 3, 9, 27, 81};
    if (j < 5)
        return ternary_digits(_mm256_loadu_si256((const void *)at),
                              _mm256_set1_epi8((char)powers[j]));
    __m128i sixteen = _mm_loadu_si128((const void *)(at + 32));
    if (j < 7)
        return ternary_digits(_mm256_broadcastsi128_si256(sixteen),
                              _mm256_set_m128i(_mm_set1_epi8((char)powers[2 * j - 9]),
                                               _mm_set1_epi8((char)powers[2 * j - 10])));
    __m128i four = _mm_set1_epi32((int)load_u32(at + 48));
    return ternary_digits(
        _mm256_set_m128i(four, sixteen),
        _mm256_set_m128i(_mm_set_epi32(0x1b1b1b1b, 0x09090909, 0x03030303, 0x01010101),
                         _mm_set1_epi8(81)));
}

TILE_INLINE __m256i low_tq2_0(const uint8_t *at, size_t j)
{
    __m256i bytes = _mm256_loadu_si256((const void *)(at + j / 4 * 32));
    bytes = _mm256_srl_epi16(bytes, _mm_cvtsi32_si128((int)(j % 4 * 2)));
    return _mm256_sub_epi8(_mm256_and_si256(bytes, _mm256_set1_epi8(3)), _mm256_set1_epi8(1));
}

TILE_INLINE __m256i low_q1_0(const uint8_t *at, size_t j)
{
    __m256i set = masks_of_bits(load_u32(at + 2 + 4 * j));
    return _mm256_or_si256(_mm256_cmpeq_epi8(set, _mm256_setzero_si256()), _mm256_set1_epi8(1));
}

/* A byte in each 32 bits; its bit pairs go to four bytes. */
TILE_INLINE __m256i low_q2_0(const uint8_t *at, size_t j)
{
    __m256i q = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(at + 2 + 8 * j)));
    q = _mm256_or_si256(q, _mm256_slli_epi32(q, 12));
    q = _mm256_or_si256(q, _mm256_slli_epi32(q, 6));
    return _mm256_sub_epi8(_mm256_and_si256(q, _mm256_set1_epi8(3)), _mm256_set1_epi8(1));
}

TILE_INLINE __m256i low_nvfp4(const uint8_t *at, size_t j)
{
    const __m256i values = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)mxfp4_values));
    __m128i packed = _mm_loadu_si128((const void *)(at + NVFP4_QUANTS_AT + 16 * j));
    __m128i low = _mm_and_si128(packed, _mm_set1_epi8(15));
    __m128i high = _mm_and_si128(_mm_srli_epi16(packed, 4), _mm_set1_epi8(15));
    return _mm256_shuffle_epi8(
        values, _mm256_set_m128i(_mm_unpackhi_epi64(low, high), _mm_unpacklo_epi64(low, high)));
}

/* ---- choice ---------------------------------------------------------------------------------- */

/* The scale of a block. */
TILE_INLINE float scale_low(enum tensor_type type, const uint8_t *at)
{
    uint64_t words;
    switch (type) {
    case TENSOR_NVFP4:
        return 1;
    case TENSOR_IQ1_M: /* the upper nibbles of four words */
        memcpy(&words, at + IQ1_M_SCALES_AT, sizeof words);
        words = words >> 12 & 0x000f000f000f000f;
        words |= words >> 12;
        return half_to_float((words & 0xff) | (words >> 24 & 0xff00)) / 8;
    case TENSOR_TQ1_0:
        return half_to_float(load_u16(at + TQ1_0_SCALE_AT));
    case TENSOR_TQ2_0:
        return half_to_float(load_u16(at + TQ2_0_SCALE_AT));
    case TENSOR_IQ3_XXS:
        return half_to_float(load_u16(at)) / 4;
    case TENSOR_IQ3_S:
    case TENSOR_Q1_0:
    case TENSOR_Q2_0:
        return half_to_float(load_u16(at));
    default:
        return half_to_float(load_u16(at)) / 8;
    }
}

/* The factor of sixteen i of a block. */
TILE_INLINE float factor_low(enum tensor_type type, const uint8_t *at, size_t i)
{
    static const float odd[16] = {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31};
    switch (type) {
    case TENSOR_IQ1_S:
        return odd[load_u16(at + IQ1_S_HIGH_AT + i / 2 * 2) >> 12 & 7];
    case TENSOR_IQ1_M:
        return odd[load_u16(at + IQ1_M_SCALES_AT + i / 4 * 2) >> i % 4 * 3 & 7];
    case TENSOR_IQ2_XXS:
        return odd[at[9 + i / 2 * 8] >> 4];
    case TENSOR_IQ2_XS:
        return odd[at[IQ2_XS_SCALES_AT + i / 2] >> i % 2 * 4 & 15];
    case TENSOR_IQ2_S:
        return odd[at[IQ2_S_SCALES_AT + i / 2] >> i % 2 * 4 & 15];
    case TENSOR_IQ3_XXS:
        return odd[at[IQ3_XXS_SIGNS_AT + 3 + i / 2 * 4] >> 4];
    case TENSOR_IQ3_S:
        return odd[at[IQ3_S_SCALES_AT + i / 4] >> i / 2 % 2 * 4 & 15];
    case TENSOR_NVFP4:
        return low_tables.nvfp4_scales[at[i]];
    default:
        return 1;
    }
}

/* Weights 32j .. 32j + 31 of a block; j in a loop that is not unrolled keeps the code
 * small. */
TILE_INLINE __m256i quants_low(enum tensor_type type, const uint8_t *at, size_t j)
{
    switch (type) {
    case TENSOR_IQ1_S:
        return low_iq1_s(at, j);
    case TENSOR_IQ1_M:
        return low_iq1_m(at, j);
    case TENSOR_IQ2_XXS:
        return low_iq2_xxs(at, j);
    case TENSOR_IQ2_XS:
        return low_iq2_xs(at, j);
    case TENSOR_IQ2_S:
        return low_iq2_s(at, j);
    case TENSOR_IQ3_XXS:
        return low_iq3_xxs(at, j);
    case TENSOR_IQ3_S:
        return low_iq3_s(at, j);
    case TENSOR_TQ1_0:
        return low_tq1_0(at, j);
    case TENSOR_TQ2_0:
        return low_tq2_0(at, j);
    case TENSOR_Q1_0:
        return low_q1_0(at, j);
    case TENSOR_Q2_0:
        return low_q2_0(at, j);
    default:
        return low_nvfp4(at, j);
    }
}

#endif

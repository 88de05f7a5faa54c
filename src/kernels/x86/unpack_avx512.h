/* Unpacks weight blocks into 512-bit registers of unsigned bytes, for quants_avx512.c, which
 * subtracts the offsets, and for panel_unpack_avx512.h. */
#ifndef KERNELS_UNPACK_AVX512_H
#define KERNELS_UNPACK_AVX512_H

#include <immintrin.h>

#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/x86/scales_avx2.h"

/* ---- groups of four blocks of 32 ------------------------------------------------------------- */

struct group_32 {
    __m512i low, high; /* unsigned weights 0..15 and 16..31 of each of the four blocks */
    __m512 scale;      /* four lanes for each block */
    __m512 minimum;    /* types with a minimum: -minimum / 8, the factor of the activations' bias */
};

/* 16 bytes of each of `count` blocks; zeroes for the missing blocks of a shorter last group. */
TILE_INLINE __m512i load_four(const uint8_t *at, size_t stride, size_t count)
{
    __m512i v = _mm512_zextsi128_si512(_mm_loadu_si128((const void *)at));
    if (count > 1)
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(at + stride)), 1);
    if (count > 2)
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(at + 2 * stride)), 2);
    if (count > 3)
        v = _mm512_inserti32x4(v, _mm_loadu_si128((const void *)(at + 3 * stride)), 3);
    return v;
}

/* The first words of the four blocks at `at`. */
TILE_INLINE __m128i load_words(const uint8_t *at, size_t stride, size_t count)
{
    uint32_t second = count > 1 ? load_u32(at + stride) : 0;
    uint32_t third = count > 2 ? load_u32(at + 2 * stride) : 0;
    uint32_t fourth = count > 3 ? load_u32(at + 3 * stride) : 0;
    return _mm_set_epi32((int)fourth, (int)third, (int)second, (int)load_u32(at));
}

/* Four floats, each into the four lanes of its block. */
TILE_INLINE __m512 spread_four(__m128 values)
{
    const __m512i lanes = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    return _mm512_permutexvar_ps(lanes, _mm512_castps128_ps512(values));
}

/* Replaces nibbles by `values` + offset, which makes them unsigned. */
TILE_INLINE void look_up(const int8_t values[16], int offset, struct group_32 *weights)
{
    __m128i table =
        _mm_add_epi8(_mm_loadu_si128((const void *)values), _mm_set1_epi8((char)offset));
    __m512i tables = _mm512_broadcast_i32x4(table);
    weights->low = _mm512_shuffle_epi8(tables, weights->low);
    weights->high = _mm512_shuffle_epi8(tables, weights->high);
}

/* Q4_0 and IQ4_NL. */
TILE_INLINE struct group_32 unpack_q4_0(enum tensor_type type, const uint8_t *blocks, size_t count)
{
    /* The four scales are 16-bit words 0, 9, 18 and 27 of the first 64 bytes. */
    const __m512i words =
        _mm512_set_epi64(0, 0, 0, 0, 0x001b001b001b001b, 0x0012001200120012, 0x0009000900090009, 0);
    const __m512i nibble = _mm512_set1_epi8(15);
    const __mmask32 present = count == 4 ? 0xffffffffu : (1u << count * (Q4_0_BYTES / 2)) - 1;
    __m512i packed = load_four(blocks + Q4_0_QUANTS_AT, Q4_0_BYTES, count);
    __m512i halves =
        _mm512_permutexvar_epi16(words, _mm512_maskz_loadu_epi16(present, (const void *)blocks));
    struct group_32 out = {
        .low = _mm512_and_si512(packed, nibble),
        .high = _mm512_and_si512(_mm512_srli_epi16(packed, 4), nibble),
        .scale = _mm512_cvtph_ps(_mm512_castsi512_si256(halves)),
    };
    if (type == TENSOR_IQ4_NL)
        look_up(iq4_values, 128, &out);
    return out;
}

TILE_INLINE struct group_32 unpack_q8_0(const uint8_t *blocks, size_t count)
{
    const __m512i sign = _mm512_set1_epi8(-128);
    uint64_t halves = load_u16(blocks);
    if (count > 1)
        halves |= (uint64_t)load_u16(blocks + Q8_0_BYTES) << 16;
    if (count > 2)
        halves |= (uint64_t)load_u16(blocks + 2 * Q8_0_BYTES) << 32;
    if (count > 3)
        halves |= (uint64_t)load_u16(blocks + 3 * Q8_0_BYTES) << 48;
    __m128 scales = _mm_cvtph_ps(_mm_cvtsi64_si128((long long)halves));
    const uint8_t *quants = blocks + Q8_0_QUANTS_AT;
    return (struct group_32){
        .low = _mm512_xor_si512(load_four(quants, Q8_0_BYTES, count), sign),
        .high = _mm512_xor_si512(load_four(quants + 16, Q8_0_BYTES, count), sign),
        .scale = spread_four(scales),
    };
}

/* Adds 16 to the weights whose bit is set in the words of the four blocks. */
TILE_INLINE void add_fifth_bits(__m128i words, struct group_32 *weights)
{
    const __m128i order = _mm_set_epi8(15, 14, 11, 10, 7, 6, 3, 2, 13, 12, 9, 8, 5, 4, 1, 0);
    const __m512i sixteen = _mm512_set1_epi8(16);
    __m128i bits = _mm_shuffle_epi8(words, order); /* lower halves, then upper halves */
    __mmask64 low = (__mmask64)_mm_cvtsi128_si64(bits);
    __mmask64 high = (__mmask64)_mm_extract_epi64(bits, 1);
    weights->low = _mm512_mask_add_epi8(weights->low, low, weights->low, sixteen);
    weights->high = _mm512_mask_add_epi8(weights->high, high, weights->high, sixteen);
}

/* 2^(e - 128) of four E8M0 scales; see e8m0_half(). */
TILE_INLINE __m128 e8m0_halves(__m128i exponents)
{
    __m128i normal = _mm_slli_epi32(_mm_sub_epi32(exponents, _mm_set1_epi32(1)), 23);
    __m128i small = _mm_sllv_epi32(_mm_set1_epi32(0x00200000), exponents);
    __mmask8 is_small = _mm_cmplt_epi32_mask(exponents, _mm_set1_epi32(2));
    return _mm_castsi128_ps(_mm_mask_mov_epi32(normal, is_small, small));
}

/* Q4_1, Q5_0, Q5_1, MXFP4. */
TILE_INLINE struct group_32 unpack_nibbles(enum tensor_type type, const uint8_t *blocks,
                                           size_t count)
{
    const size_t stride = tile_block_bytes(type);
    const __m512i nibble = _mm512_set1_epi8(15);
    __m512i packed = load_four(blocks + tile_nibbles_at(type), stride, count);
    __m128i heads = load_words(blocks, stride, count);
    struct group_32 out = {
        .low = _mm512_and_si512(packed, nibble),
        .high = _mm512_and_si512(_mm512_srli_epi16(packed, 4), nibble),
    };
    if (type == TENSOR_MXFP4) {
        look_up(mxfp4_values, 16, &out);
        out.scale = spread_four(e8m0_halves(_mm_and_si128(heads, _mm_set1_epi32(255))));
        return out;
    }
    __m256 halves = _mm256_cvtph_ps(heads); /* d of each block, and the two bytes after it */
    __m128 first = _mm256_castps256_ps128(halves), second = _mm256_extractf128_ps(halves, 1);
    out.scale = spread_four(_mm_shuffle_ps(first, second, 0x88));
    if (tile_has_minimum(type))
        out.minimum = _mm512_mul_ps(spread_four(_mm_shuffle_ps(first, second, 0xdd)),
                                    _mm512_set1_ps(-0.125f));
    if (type == TENSOR_Q5_0)
        add_fifth_bits(load_words(blocks + Q5_0_HIGH_AT, stride, count), &out);
    if (type == TENSOR_Q5_1)
        add_fifth_bits(load_words(blocks + Q5_1_HIGH_AT, stride, count), &out);
    return out;
}

/* Activations after the last block are zero, so the values of missing weights have no effect. */
TILE_INLINE struct group_32 unpack_32(enum tensor_type type, const uint8_t *blocks, size_t count)
{
    if (type == TENSOR_Q8_0)
        return unpack_q8_0(blocks, count);
    if (type == TENSOR_Q4_0 || type == TENSOR_IQ4_NL)
        return unpack_q4_0(type, blocks, count);
    return unpack_nibbles(type, blocks, count);
}

/* ---- super-blocks of 256 --------------------------------------------------------------------- */

struct block_256 {
    __m512i quants[4]; /* unsigned, in natural order */
    __m512i scales[2]; /* int16 factors of the packed pair sums of each half, see pair_order() */
    __m256i taken;     /* int16: factor of each 16-sum of activations; of a minimum, which is
                        * subtracted with its own scale, or minus that of an offset */
    __m512 scale;
    __m512 minimum; /* scale of the minimums, in types that have them */
};

/* Integer scales of the 16-blocks of one half, repeated as packing arranges the sums: the 128-bit
 * lane k of vpackssdw(first 64 quants, second 64 quants) holds four sums of 16-block k, then of 4 +
 * k. */
TILE_INLINE __m512i pair_scales(__m128i scales, __m256i order)
{
    return _mm512_cvtepi8_epi16(_mm256_shuffle_epi8(_mm256_broadcastsi128_si256(scales), order));
}

/* Byte i of the result is the index of the scale for 16-bit element i. step: 16-blocks for each
 * scale. */
TILE_INLINE __m256i pair_order(int half, int step)
{
    int first = half * 8 / step, second = first + 4 / step;
    int k1 = 1 / step, k2 = 2 / step, k3 = 3 / step;
    return _mm256_set_epi32(0x01010101 * (second + k3), 0x01010101 * (first + k3),
                            0x01010101 * (second + k2), 0x01010101 * (first + k2),
                            0x01010101 * (second + k1), 0x01010101 * (first + k1),
                            0x01010101 * second, 0x01010101 * first);
}

/* Adds `value` to quant i of the first 32 where bit `bit` of byte i is set, of the second where bit
 * `bit` + 1 is. */
TILE_INLINE __m512i add_bits(__m512i quants, const uint8_t *bytes, int bit, char value)
{
    const __m512i bits = _mm512_inserti64x4(_mm512_set1_epi8((char)(1 << bit)),
                                            _mm256_set1_epi8((char)(2 << bit)), 1);
    __m512i both = _mm512_broadcast_i64x4(_mm256_loadu_si256((const void *)bytes));
    return _mm512_mask_add_epi8(quants, _mm512_test_epi8_mask(both, bits), quants,
                                _mm512_set1_epi8(value));
}

/* Q4_K and Q5_K. */
TILE_INLINE struct block_256 unpack_q4_k(enum tensor_type type, const uint8_t *at)
{
    const uint8_t *nibbles = at + (type == TENSOR_Q4_K ? Q4_K_QUANTS_AT : Q5_K_QUANTS_AT);
    /* Both nibbles of 32 bytes are two sub-blocks: shift the upper half of the register down. */
    const __m512i shift = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(4), 1);
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m128i twice = _mm_set_epi8(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8);
    struct block_256 out;
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        __m256i packed = _mm256_loadu_si256((const void *)(nibbles + 32 * j));
        __m512i both = _mm512_broadcast_i64x4(packed);
        out.quants[j] = _mm512_and_si512(_mm512_srlv_epi16(both, shift), nibble);
        if (type == TENSOR_Q5_K)
            out.quants[j] = add_bits(out.quants[j], at + Q5_K_HIGH_AT, 2 * j, 16);
    }
    uint8_t scales[16];
    q4_k_scales(at + Q4_K_SCALES_AT, scales);
    __m128i factors = _mm_loadu_si128((const void *)scales);
    out.scales[0] = pair_scales(factors, pair_order(0, 2));
    out.scales[1] = pair_scales(factors, pair_order(1, 2));
    out.taken = _mm256_cvtepu8_epi16(_mm_shuffle_epi8(factors, twice));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128((int)load_u32(at)));
    out.scale = _mm512_broadcastss_ps(d);
    out.minimum = _mm512_broadcastss_ps(_mm_movehdup_ps(d));
    return out;
}

TILE_INLINE struct block_256 unpack_q6_k(const uint8_t *at)
{
    const __m512i nibble = _mm512_set1_epi8(15), upper = _mm512_set1_epi8(0x30);
    const __m512i left = _mm512_inserti64x4(_mm512_set1_epi16(4), _mm256_set1_epi16(2), 1);
    const __m512i right = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(2), 1);
    struct block_256 out;
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        __m512i low = _mm512_loadu_si512((const void *)(at + 64 * half));
        __m512i high = _mm512_broadcast_i64x4(
            _mm256_loadu_si256((const void *)(at + Q6_K_HIGH_AT + 32 * half)));
        /* Bits 0-1 and 2-3 belong to quants 0..63 (shift left 4, 2), 4-5 and 6-7 to 64..127. */
        __m512i high_first = _mm512_and_si512(_mm512_sllv_epi16(high, left), upper);
        __m512i high_second = _mm512_and_si512(_mm512_srlv_epi16(high, right), upper);
        out.quants[2 * half] = _mm512_or_si512(_mm512_and_si512(low, nibble), high_first);
        out.quants[2 * half + 1] =
            _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(low, 4), nibble), high_second);
    }
    __m128i factors = _mm_loadu_si128((const void *)(at + Q6_K_SCALES_AT));
    out.scales[0] = pair_scales(factors, pair_order(0, 1));
    out.scales[1] = pair_scales(factors, pair_order(1, 1));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(load_u16(at + Q6_K_SCALE_AT)));
    out.scale = _mm512_broadcastss_ps(d);
    out.taken = _mm256_mullo_epi16(_mm256_cvtepi8_epi16(factors), _mm256_set1_epi16(-32));
    return out;
}

/* The two bits of each quant, of Q2_K and Q3_K. */
TILE_INLINE void unpack_two_bits(const uint8_t *at, __m512i quants[4])
{
    const __m512i three = _mm512_set1_epi8(3);
    const __m512i first = _mm512_inserti64x4(_mm512_setzero_si512(), _mm256_set1_epi16(2), 1);
    const __m512i second = _mm512_inserti64x4(_mm512_set1_epi16(4), _mm256_set1_epi16(6), 1);
#pragma GCC unroll 2
    for (int half = 0; half < 2; half++) {
        __m512i both = _mm512_broadcast_i64x4(_mm256_loadu_si256((const void *)(at + 32 * half)));
        quants[2 * half] = _mm512_and_si512(_mm512_srlv_epi16(both, first), three);
        quants[2 * half + 1] = _mm512_and_si512(_mm512_srlv_epi16(both, second), three);
    }
}

TILE_INLINE struct block_256 unpack_q2_k(const uint8_t *at)
{
    const __m128i nibble = _mm_set1_epi8(15);
    struct block_256 out;
    unpack_two_bits(at + Q2_K_QUANTS_AT, out.quants);
    __m128i packed = _mm_loadu_si128((const void *)at);
    __m128i factors = _mm_and_si128(packed, nibble);
    __m128i minimums = _mm_and_si128(_mm_srli_epi16(packed, 4), nibble);
    out.scales[0] = pair_scales(factors, pair_order(0, 1));
    out.scales[1] = pair_scales(factors, pair_order(1, 1));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128((int)load_u32(at + Q2_K_SCALE_AT)));
    out.scale = _mm512_broadcastss_ps(d);
    out.taken = _mm256_cvtepu8_epi16(minimums);
    out.minimum = _mm512_broadcastss_ps(_mm_movehdup_ps(d));
    return out;
}

TILE_INLINE struct block_256 unpack_q3_k(const uint8_t *at)
{
    struct block_256 out;
    unpack_two_bits(at + Q3_K_QUANTS_AT, out.quants);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++)
        out.quants[j] = add_bits(out.quants[j], at, 2 * j, 4);
    __m128i factors = q3_k_factors(at);
    out.scales[0] = pair_scales(factors, pair_order(0, 1));
    out.scales[1] = pair_scales(factors, pair_order(1, 1));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128(load_u16(at + Q3_K_SCALE_AT)));
    out.scale = _mm512_broadcastss_ps(d);
    out.taken = _mm256_mullo_epi16(_mm256_cvtepi8_epi16(factors), _mm256_set1_epi16(-4));
    return out;
}

TILE_INLINE struct block_256 unpack_256(enum tensor_type type, const uint8_t *at)
{
    if (type == TENSOR_Q2_K)
        return unpack_q2_k(at);
    if (type == TENSOR_Q3_K)
        return unpack_q3_k(at);
    if (type == TENSOR_Q6_K)
        return unpack_q6_k(at);
    return unpack_q4_k(type, at);
}

/* ---- IQ4_XS: signed quants of eight bits ----------------------------------------------------- */

struct block_signed {
    __m512i sizes[4];      /* magnitudes, in natural order */
    __mmask64 negative[4]; /* their signs */
    __m512i scales[4];     /* int16 factor of each pair of quants */
    __m512 scale;
};

TILE_INLINE struct block_signed unpack_iq4_xs(const uint8_t *at)
{
    /* 16 bytes hold 32 quants: each twice, its high nibbles shifted down. */
    const __m512i twice = _mm512_set_epi64(3, 2, 3, 2, 1, 0, 1, 0);
    const __m512i shift = _mm512_set_epi64(0x0004000400040004, 0x0004000400040004, 0, 0,
                                           0x0004000400040004, 0x0004000400040004, 0, 0);
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i table = _mm512_broadcast_i32x4(_mm_loadu_si128((const void *)iq4_values));
    __m512i factors = _mm512_castsi128_si512(iq4_xs_factors(at));
    struct block_signed out;
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        __m256i packed = _mm256_loadu_si256((const void *)(at + IQ4_XS_QUANTS_AT + 32 * j));
        __m512i both = _mm512_permutexvar_epi64(twice, _mm512_castsi256_si512(packed));
        both = _mm512_and_si512(_mm512_srlv_epi16(both, shift), nibble);
        __m512i quants = _mm512_shuffle_epi8(table, both);
        __m512i index = _mm512_inserti64x4(_mm512_set1_epi16((short)(2 * j)),
                                           _mm256_set1_epi16((short)(2 * j + 1)), 1);
        out.sizes[j] = _mm512_abs_epi8(quants);
        out.negative[j] = _mm512_movepi8_mask(quants);
        out.scales[j] = _mm512_permutexvar_epi16(index, factors);
    }
    out.scale = _mm512_broadcastss_ps(_mm_cvtph_ps(_mm_cvtsi32_si128(load_u16(at))));
    return out;
}

#endif

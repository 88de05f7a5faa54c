/* Unpacks weight blocks into 256-bit registers of bytes, for quants_avx2.c and the panels. Most are
 * unsigned here; the products subtract the offsets. */
#ifndef KERNELS_UNPACK_AVX2_H
#define KERNELS_UNPACK_AVX2_H

#include <immintrin.h>

#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/x86/scales_avx2.h"

/* ---- two blocks of 32 at a time -------------------------------------------------------------- */

struct pair_32 {
    __m256i low, high; /* weights 0..15 and 16..31 of both blocks */
};

TILE_INLINE __m256i load_two(const uint8_t *at, size_t stride)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                   _mm_loadu_si128((const void *)(at + stride)), 1);
}

/* Weights of these types are signed bytes. Those of other types are unsigned and small. */
TILE_INLINE bool is_signed_32(enum tensor_type type)
{
    return type == TENSOR_Q8_0 || type == TENSOR_IQ4_NL;
}

/* 16 in every byte i of a 128-bit half where bit i of its 16 bits is set. */
TILE_INLINE __m256i fifth_bits(const uint8_t *at, size_t stride)
{
    const __m256i byte = _mm256_set_epi64x(0x0101010101010101, 0, 0x0101010101010101, 0);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i both = _mm256_inserti128_si256(_mm256_set1_epi16((short)load_u16(at)),
                                           _mm_set1_epi16((short)load_u16(at + stride)), 1);
    both = _mm256_and_si256(_mm256_shuffle_epi8(both, byte), bit);
    return _mm256_and_si256(_mm256_cmpeq_epi8(both, bit), _mm256_set1_epi8(16));
}

TILE_INLINE __m256i look_up(const int8_t values[16], int offset, __m256i nibbles)
{
    __m128i table =
        _mm_add_epi8(_mm_loadu_si128((const void *)values), _mm_set1_epi8((char)offset));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(table), nibbles);
}

TILE_INLINE void unpack_q8_0(const uint8_t *blocks, struct pair_32 *out)
{
    out->low = load_two(blocks + Q8_0_QUANTS_AT, Q8_0_BYTES);
    out->high = load_two(blocks + Q8_0_QUANTS_AT + 16, Q8_0_BYTES);
}

TILE_INLINE void unpack_nibbles(enum tensor_type type, const uint8_t *blocks, struct pair_32 *out)
{
    const size_t stride = tile_block_bytes(type);
    const __m256i nibble = _mm256_set1_epi8(15);
    __m256i packed = load_two(blocks + tile_nibbles_at(type), stride);
    out->low = _mm256_and_si256(packed, nibble);
    out->high = _mm256_and_si256(_mm256_srli_epi16(packed, 4), nibble);
    if (type == TENSOR_IQ4_NL || type == TENSOR_MXFP4) {
        const int8_t *values = type == TENSOR_IQ4_NL ? iq4_values : mxfp4_values;
        int offset = type == TENSOR_IQ4_NL ? 0 : 16;
        out->low = look_up(values, offset, out->low);
        out->high = look_up(values, offset, out->high);
    }
    if (type == TENSOR_Q5_0 || type == TENSOR_Q5_1) {
        const uint8_t *bits = blocks + (type == TENSOR_Q5_0 ? Q5_0_HIGH_AT : Q5_1_HIGH_AT);
        out->low = _mm256_or_si256(out->low, fifth_bits(bits, stride));
        out->high = _mm256_or_si256(out->high, fifth_bits(bits + 2, stride));
    }
}

TILE_INLINE struct pair_32 unpack_32(enum tensor_type type, const uint8_t *blocks)
{
    struct pair_32 out;
    if (type == TENSOR_Q8_0)
        unpack_q8_0(blocks, &out);
    else
        unpack_nibbles(type, blocks, &out);
    return out;
}

/* The halves `at` bytes behind four addresses, as floats. */
TILE_INLINE __m128 four_halves(const uint8_t *const rows[4], size_t at)
{
    __m128i halves = _mm_cvtsi32_si128(load_u16(rows[0] + at));
    halves = _mm_insert_epi16(halves, load_u16(rows[1] + at), 1);
    halves = _mm_insert_epi16(halves, load_u16(rows[2] + at), 2);
    halves = _mm_insert_epi16(halves, load_u16(rows[3] + at), 3);
    return _mm_cvtph_ps(halves);
}

/* Four times e8m0_half(): the exponent minus 1, or for 0 and 1 a denormal number. */
TILE_INLINE __m128 e8m0_halves(__m128i exponents)
{
    __m128i normal = _mm_slli_epi32(_mm_sub_epi32(exponents, _mm_set1_epi32(1)), 23);
    __m128i small = _mm_sllv_epi32(_mm_set1_epi32(0x00200000), exponents);
    __m128i is_small = _mm_cmpgt_epi32(_mm_set1_epi32(2), exponents);
    return _mm_castsi128_ps(_mm_blendv_epi8(normal, small, is_small));
}

/* The scales of four blocks. */
TILE_INLINE __m128 four_scales(enum tensor_type type, const uint8_t *const blocks[4], size_t at)
{
    if (type != TENSOR_MXFP4)
        return four_halves(blocks, at);
    __m128i exponents = _mm_cvtsi32_si128(blocks[0][at]);
    exponents = _mm_insert_epi8(exponents, blocks[1][at], 4);
    exponents = _mm_insert_epi8(exponents, blocks[2][at], 8);
    exponents = _mm_insert_epi8(exponents, blocks[3][at], 12);
    return e8m0_halves(exponents);
}

/* What the activations' bias (-8 times their sum) is multiplied with, of four blocks with a
 * minimum. */
TILE_INLINE __m128 four_minimums(const uint8_t *const blocks[4], size_t at)
{
    return _mm_mul_ps(four_halves(blocks, at + MIN_32_AT), _mm_set1_ps(-0.125f));
}

/* The bias, shifted left by this number, subtracts the offset that the type is stored with. -1 =
 * it has none here. */
TILE_INLINE int start_shift(enum tensor_type type)
{
    switch (type) {
    case TENSOR_Q4_0:
        return 0;
    case TENSOR_Q5_0:
    case TENSOR_MXFP4:
        return 1; /* offset 16 */
    default:
        return -1;
    }
}

/* ---- super-blocks of 256, 32 quants at a time ------------------------------------------------ */

/* What the quants of a super-block are multiplied with. Types with sixteen factors have one for 16
 * quants, the others one for 32. */
struct factors_256 {
    __m256i low, high; /* factors 0..7 and 8..15 of 16 bits, both halves alike */
    __m256i taken;     /* sixteen of 16 bits: what the sums of 16 activations are multiplied with */
};

TILE_INLINE bool has_sixteen_factors(enum tensor_type type)
{
    return type == TENSOR_Q2_K || type == TENSOR_Q3_K || type == TENSOR_Q6_K;
}

/* The offset that quants_256() adds. */
TILE_INLINE int offset_256(enum tensor_type type)
{
    return type == TENSOR_Q6_K ? 32 : type == TENSOR_Q3_K ? 4 : 0;
}

TILE_INLINE void set_sixteen(struct factors_256 *out, __m256i factors)
{
    out->low = _mm256_permute4x64_epi64(factors, 0x44);
    out->high = _mm256_permute4x64_epi64(factors, 0xee);
}

/* Types with an offset take it times the factor; types with a minimum take that. */
TILE_INLINE struct factors_256 unpack_factors(enum tensor_type type, const uint8_t *at)
{
    const __m128i twice = _mm_set_epi8(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8);
    const __m128i nibble = _mm_set1_epi8(15);
    struct factors_256 out;
    uint8_t scales[16];
    __m128i packed;
    __m256i factors;
    switch (type) {
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        q4_k_scales(at + Q4_K_SCALES_AT, scales);
        packed = _mm_loadu_si128((const void *)scales);
        out.low = out.high = _mm256_broadcastsi128_si256(_mm_cvtepu8_epi16(packed));
        out.taken = _mm256_cvtepu8_epi16(_mm_shuffle_epi8(packed, twice));
        return out;
    case TENSOR_IQ4_XS:
        out.low = out.high = _mm256_broadcastsi128_si256(iq4_xs_factors(at));
        out.taken = _mm256_setzero_si256();
        return out;
    case TENSOR_Q2_K:
        packed = _mm_loadu_si128((const void *)at);
        set_sixteen(&out, _mm256_cvtepu8_epi16(_mm_and_si128(packed, nibble)));
        out.taken = _mm256_cvtepu8_epi16(_mm_and_si128(_mm_srli_epi16(packed, 4), nibble));
        return out;
    case TENSOR_Q3_K:
        factors = _mm256_cvtepi8_epi16(q3_k_factors(at));
        set_sixteen(&out, factors);
        out.taken = _mm256_slli_epi16(factors, 2);
        return out;
    default: /* Q6_K */
        factors = _mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)(at + Q6_K_SCALES_AT)));
        set_sixteen(&out, factors);
        out.taken = _mm256_slli_epi16(factors, 5);
        return out;
    }
}

/* Of the quants 32j .. 32j + 31. */
TILE_INLINE __m256i spread_factors(enum tensor_type type, const struct factors_256 *factors, int j)
{
    int first = has_sixteen_factors(type) ? 2 * j % 8 : j;
    int second = has_sixteen_factors(type) ? first + 1 : j;
    __m256i order = _mm256_set_m128i(_mm_set1_epi16((short)(2 * second + 256 * (2 * second + 1))),
                                     _mm_set1_epi16((short)(2 * first + 256 * (2 * first + 1))));
    bool high = has_sixteen_factors(type) && j >= 4;
    return _mm256_shuffle_epi8(high ? factors->high : factors->low, order);
}

/* Where the scale of a super-block is, and its minimum. */
TILE_INLINE size_t scale_at_256(enum tensor_type type)
{
    return type == TENSOR_Q2_K   ? Q2_K_SCALE_AT
           : type == TENSOR_Q3_K ? Q3_K_SCALE_AT
           : type == TENSOR_Q6_K ? Q6_K_SCALE_AT
                                 : 0;
}

TILE_INLINE size_t minimum_at_256(enum tensor_type type)
{
    return type == TENSOR_Q2_K ? Q2_K_MIN_AT : Q4_K_MIN_AT;
}

TILE_INLINE __m256i load_32(const uint8_t *at)
{
    return _mm256_loadu_si256((const void *)at);
}

/* Bit `bit` of each byte, moved to bit `to`. */
TILE_INLINE __m256i bits_of(__m256i bytes, int bit, int to)
{
    return _mm256_slli_epi16(_mm256_and_si256(_mm256_srli_epi16(bytes, bit), _mm256_set1_epi8(1)),
                             to);
}

TILE_INLINE __m256i quants_q4_k(enum tensor_type type, const uint8_t *at, int j)
{
    const uint8_t *nibbles = at + (type == TENSOR_Q4_K ? Q4_K_QUANTS_AT : Q5_K_QUANTS_AT);
    __m256i packed = load_32(nibbles + 32 * (j / 2));
    packed = _mm256_and_si256(j % 2 ? _mm256_srli_epi16(packed, 4) : packed, _mm256_set1_epi8(15));
    if (type == TENSOR_Q4_K)
        return packed;
    return _mm256_or_si256(packed, bits_of(load_32(at + Q5_K_HIGH_AT), j, 4));
}

TILE_INLINE __m256i quants_q2_k(enum tensor_type type, const uint8_t *at, int j)
{
    const uint8_t *quants = at + (type == TENSOR_Q2_K ? Q2_K_QUANTS_AT : Q3_K_QUANTS_AT);
    __m256i packed = _mm256_srli_epi16(load_32(quants + 32 * (j / 4)), 2 * (j % 4));
    packed = _mm256_and_si256(packed, _mm256_set1_epi8(3));
    if (type == TENSOR_Q2_K)
        return packed;
    return _mm256_or_si256(packed, bits_of(load_32(at), j, 2));
}

TILE_INLINE __m256i quants_q6_k(const uint8_t *at, int j)
{
    int half = j / 4, part = j % 4;
    __m256i low = load_32(at + 64 * half + 32 * (part % 2));
    __m256i high = load_32(at + Q6_K_HIGH_AT + 32 * half);
    if (part >= 2)
        low = _mm256_srli_epi16(low, 4);
    high = _mm256_and_si256(_mm256_srli_epi16(high, 2 * part), _mm256_set1_epi8(3));
    return _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi8(15)), _mm256_slli_epi16(high, 4));
}

/* 16 bytes are 32 quants: low nibbles, then high nibbles. */
TILE_INLINE __m256i quants_iq4_xs(const uint8_t *at, int j)
{
    __m128i packed = _mm_loadu_si128((const void *)(at + IQ4_XS_QUANTS_AT + 16 * j));
    __m256i both =
        _mm256_inserti128_si256(_mm256_castsi128_si256(packed), _mm_srli_epi16(packed, 4), 1);
    return look_up(iq4_values, 0, _mm256_and_si256(both, _mm256_set1_epi8(15)));
}

/* Quants 32j .. 32j + 31; unsigned, except those of IQ4_XS. */
TILE_INLINE __m256i quants_256(enum tensor_type type, const uint8_t *at, int j)
{
    switch (type) {
    case TENSOR_Q2_K:
    case TENSOR_Q3_K:
        return quants_q2_k(type, at, j);
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        return quants_q4_k(type, at, j);
    case TENSOR_IQ4_XS:
        return quants_iq4_xs(at, j);
    default:
        return quants_q6_k(at, j);
    }
}

#endif

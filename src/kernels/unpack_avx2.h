/* Unpacks weight blocks into 256-bit registers of bytes, for matmul_avx2.c. Most are unsigned here;
 * matmul_avx2.c subtracts the offsets. */
#ifndef KERNELS_UNPACK_AVX2_H
#define KERNELS_UNPACK_AVX2_H

#include <immintrin.h>

#include "kernels/formats.h"
#include "kernels/scales_avx2.h"
#include "kernels/tile_types.h"

/* ---- two blocks of 32 at a time -------------------------------------------------------------- */

struct pair_32 {
    __m256i low, high;           /* weights 0..15 and 16..31 of both blocks */
    __m256i low_size, high_size; /* signed types: magnitudes of the same */
    __m256 scale;                /* four lanes for each block */
    __m256 minimum; /* types with a minimum: -minimum / 8, the factor of the activations' bias */
};

TILE_INLINE __m256i load_two(const uint8_t *at, size_t stride)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                   _mm_loadu_si128((const void *)(at + stride)), 1);
}

/* Weights of these types are multiplied as magnitude and sign. Those of other types are
 * unsigned. */
TILE_INLINE bool is_signed_32(enum tensor_type type)
{
    return type == TENSOR_Q8_0 || type == TENSOR_IQ4_NL;
}

/* The half at `at` in each block, in the four lanes of the block. */
TILE_INLINE __m256 spread_halves(const uint8_t *at, size_t stride)
{
    const uint64_t four = 0x0001000100010001;
    uint64_t first = load_u16(at), second = load_u16(at + stride);
    return _mm256_cvtph_ps(_mm_set_epi64x((long long)(second * four), (long long)(first * four)));
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
    const size_t stride = tile_block_bytes(type);
    struct pair_32 out;
    if (type == TENSOR_Q8_0)
        unpack_q8_0(blocks, &out);
    else
        unpack_nibbles(type, blocks, &out);
    out.low_size = is_signed_32(type) ? _mm256_abs_epi8(out.low) : out.low;
    out.high_size = is_signed_32(type) ? _mm256_abs_epi8(out.high) : out.high;
    if (type == TENSOR_MXFP4)
        out.scale = _mm256_set_m128(_mm_set1_ps(e8m0_half(blocks[stride])),
                                    _mm_set1_ps(e8m0_half(blocks[0])));
    else
        out.scale = spread_halves(blocks, stride);
    if (tile_has_minimum(type))
        out.minimum =
            _mm256_mul_ps(spread_halves(blocks + MIN_32_AT, stride), _mm256_set1_ps(-0.125f));
    return out;
}

/* ---- super-blocks of 256, 32 quants at a time ------------------------------------------------ */

TILE_INLINE float f16_at(const uint8_t *at)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(load_u16(at))));
}

struct scales_256 {
    uint8_t factors[16];  /* [i] of 16-block i; types with 32 quants for a factor: [i / 2] */
    __m256 first, second; /* offsets of 16-blocks 0..7 and 8..15; IQ4_XS has none */
    float scale;
};

/* Offset i = values[i] * factor. */
TILE_INLINE void set_offsets(struct scales_256 *out, __m128i values, __m256 factor)
{
    __m256i second = _mm256_cvtepi8_epi32(_mm_srli_si128(values, 8));
    out->first = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(values)), factor);
    out->second = _mm256_mul_ps(_mm256_cvtepi32_ps(second), factor);
}

/* Q4_K and Q5_K. */
TILE_INLINE struct scales_256 scales_q4_k(const uint8_t *at)
{
    const __m128i twice = _mm_set_epi8(15, 15, 14, 14, 13, 13, 12, 12, 11, 11, 10, 10, 9, 9, 8, 8);
    struct scales_256 out;
    q4_k_scales(at + Q4_K_SCALES_AT, out.factors);
    __m128i minimums = _mm_shuffle_epi8(_mm_loadu_si128((const void *)out.factors), twice);
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128((int)load_u32(at)));
    out.scale = _mm_cvtss_f32(d);
    set_offsets(&out, minimums, _mm256_broadcastss_ps(_mm_movehdup_ps(d)));
    return out;
}

TILE_INLINE struct scales_256 scales_q2_k(const uint8_t *at)
{
    const __m128i nibble = _mm_set1_epi8(15);
    struct scales_256 out;
    __m128i packed = _mm_loadu_si128((const void *)at);
    _mm_storeu_si128((void *)out.factors, _mm_and_si128(packed, nibble));
    __m128 d = _mm_cvtph_ps(_mm_cvtsi32_si128((int)load_u32(at + Q2_K_SCALE_AT)));
    out.scale = _mm_cvtss_f32(d);
    set_offsets(&out, _mm_and_si128(_mm_srli_epi16(packed, 4), nibble),
                _mm256_broadcastss_ps(_mm_movehdup_ps(d)));
    return out;
}

/* Q3_K and Q6_K: signed factors, quants with an offset. */
TILE_INLINE struct scales_256 scales_q6_k(enum tensor_type type, const uint8_t *at)
{
    const float offset = type == TENSOR_Q3_K ? 4 : 32;
    struct scales_256 out;
    __m128i factors = type == TENSOR_Q3_K ? q3_k_factors(at)
                                          : _mm_loadu_si128((const void *)(at + Q6_K_SCALES_AT));
    _mm_storeu_si128((void *)out.factors, factors);
    out.scale = f16_at(at + (type == TENSOR_Q3_K ? Q3_K_SCALE_AT : Q6_K_SCALE_AT));
    set_offsets(&out, factors, _mm256_set1_ps(out.scale * offset));
    return out;
}

TILE_INLINE struct scales_256 scales_iq4_xs(const uint8_t *at)
{
    struct scales_256 out;
    __m128i factors = iq4_xs_factors(at);
    _mm_storeu_si128((void *)out.factors, _mm_packs_epi16(factors, factors));
    out.scale = f16_at(at);
    out.first = out.second = _mm256_setzero_ps();
    return out;
}

TILE_INLINE struct scales_256 unpack_scales(enum tensor_type type, const uint8_t *at)
{
    switch (type) {
    case TENSOR_Q2_K:
        return scales_q2_k(at);
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        return scales_q4_k(at);
    case TENSOR_IQ4_XS:
        return scales_iq4_xs(at);
    default:
        return scales_q6_k(type, at);
    }
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

TILE_INLINE __m256i factors_256(enum tensor_type type, const struct scales_256 *scales, int j)
{
    if (type == TENSOR_Q4_K || type == TENSOR_Q5_K || type == TENSOR_IQ4_XS)
        return _mm256_set1_epi16((int8_t)scales->factors[j]);
    return _mm256_inserti128_si256(_mm256_set1_epi16((int8_t)scales->factors[2 * j]),
                                   _mm_set1_epi16((int8_t)scales->factors[2 * j + 1]), 1);
}

#endif

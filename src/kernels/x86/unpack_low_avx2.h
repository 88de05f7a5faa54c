/* Unpacks blocks of blocks_low.h for quants_low_avx2.c: 256 columns of eight rows, to signed bytes
 * (ternary and binary ones unsigned, plus 1) and scales. It gives what blocks_low.c gives, which
 * serves where the time that it takes is shared by many tokens.
 *
 * Looking points up is what takes the time. Indices, signs and scales of a row's 256 weights are
 * taken apart in registers first. Then a point is a load of its index and a load of itself. */
#ifndef KERNELS_UNPACK_LOW_AVX2_H
#define KERNELS_UNPACK_LOW_AVX2_H

#include <immintrin.h>

#include "kernels/blocks_low.h"
#include "kernels/formats.h"
#include "kernels/tiles.h"
#include "kernels/x86/quants_avx2.h"

enum {
    ROWS = QUANTS_ROWS,
    BLOCKS = SUPER_BLOCK / BLOCK_32,
    PAIRS = BLOCKS / 2 /* of blocks: how activations are stored */
};

/* A number for each weight of a pair: those of 0..15 and 16..31 of both blocks. */
struct halves {
    __m256i low, high;
};

/* Up to 256 columns of a tile. */
struct part {
    const uint8_t *at[ROWS];
    size_t pairs;
    struct halves w[PAIRS][ROWS];
    float row_scales[ROWS][2 * BLOCKS]; /* of blocks; tile_has_sixteens(): of sixteens */
    __m256 scales[2 * BLOCKS];          /* of all rows */
    /* The points of 256 weights: indices of 16 bits, and a byte for each eight weights: their
     * signs, or what is subtracted from them. */
    __m256i index[ROWS][4], bytes[ROWS];
    float d[ROWS]; /* for take_signs() */
};

TILE_INLINE float half_to_float(uint64_t bits)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128((int)bits)));
}

/* Eight scales d * (2 n + 1). */
TILE_INLINE void put_scales(float d, __m256i n, float *to)
{
    n = _mm256_add_epi32(_mm256_add_epi32(n, n), _mm256_set1_epi32(1));
    _mm256_storeu_ps(to, _mm256_mul_ps(_mm256_cvtepi32_ps(n), _mm256_set1_ps(d)));
}

/* The same of n in nibbles. */
TILE_INLINE void put_nibble_scales(float d, const uint8_t *nibbles, float *to)
{
    const __m256i shift = _mm256_set_epi32(28, 24, 20, 16, 12, 8, 4, 0);
    __m256i n = _mm256_srlv_epi32(_mm256_set1_epi32((int)load_u32(nibbles)), shift);
    put_scales(d, _mm256_and_si256(n, _mm256_set1_epi32(15)), to);
}

TILE_INLINE __m256i load_wide(const uint8_t *at)
{
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)at));
}

/* Bytes of sixteen numbers in each. */
TILE_INLINE __m256i pack_words(__m256i first, __m256i second)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8);
}

/* ---- IQ1, IQ2, IQ3 --------------------------------------------------------------------------- */

TILE_INLINE __m128i two_points(const uint64_t *grid, const uint16_t *index)
{
    __m128 first = _mm_castsi128_ps(_mm_loadl_epi64((const void *)&grid[index[0]]));
    return _mm_castps_si128(_mm_loadh_pi(first, (const void *)&grid[index[1]]));
}

/* The four points of eight bytes of a half of a pair. */
TILE_INLINE __m256i four_points(const uint64_t *grid, const uint16_t *index)
{
    return _mm256_set_m128i(two_points(grid, index + 4), two_points(grid, index));
}

/* The eight of four bytes. vpblendd has twice the ports of instructions that insert a lane. */
TILE_INLINE __m256i eight_points(const uint32_t *grid, const uint16_t *index)
{
    __m256i pairs[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        const uint16_t *at = index + i / 2 * 8 + i % 2 * 2;
        pairs[i] = _mm256_blend_epi32(_mm256_set1_epi32((int)grid[at[0]]),
                                      _mm256_set1_epi32((int)grid[at[1]]), 0xaa);
    }
    return _mm256_blend_epi32(_mm256_blend_epi32(pairs[0], pairs[1], 0xcc),
                              _mm256_blend_epi32(pairs[2], pairs[3], 0xcc), 0xf0);
}

/* Each of a pair's eight bytes eight times. */
TILE_INLINE struct halves spread_bytes(const uint8_t *at)
{
    const __m256i byte =
        _mm256_set_epi64x(0x0505050505050505, 0x0404040404040404, 0x0101010101010101, 0);
    uint64_t eight;
    memcpy(&eight, at, sizeof eight);
    __m256i all = _mm256_set1_epi64x((long long)eight);
    return (struct halves){_mm256_shuffle_epi8(all, byte),
                           _mm256_shuffle_epi8(all, _mm256_add_epi8(byte, _mm256_set1_epi8(2)))};
}

/* 0xff where a bit of the pair's 64 is set. */
TILE_INLINE struct halves masks_of_bits(const uint8_t *at)
{
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    struct halves w = spread_bytes(at);
    return (struct halves){_mm256_cmpeq_epi8(_mm256_and_si256(w.low, bit), bit),
                           _mm256_cmpeq_epi8(_mm256_and_si256(w.high, bit), bit)};
}

TILE_INLINE __m256i negate(__m256i w, __m256i masks)
{
    return _mm256_sub_epi8(_mm256_xor_si256(w, masks), masks);
}

/* Negated where a bit of the pair's 64 is set. */
TILE_INLINE struct halves change_signs(struct halves w, const uint8_t *at)
{
    struct halves masks = masks_of_bits(at);
    return (struct halves){negate(w.low, masks.low), negate(w.high, masks.high)};
}

static __attribute__((noinline)) void look_up_shifted(struct part *part)
{
#pragma GCC unroll 1
    for (size_t r = 0; r < ROWS; r++) {
        const uint16_t *index = (const void *)part->index[r];
        const uint8_t *bytes = (const void *)&part->bytes[r];
#pragma GCC unroll 1
        for (size_t pair = 0; pair < PAIRS; pair++, index += 8, bytes += 8) {
            struct halves w = spread_bytes(bytes);
            w.low = _mm256_sub_epi8(four_points(low_tables.iq1_s, index), w.low);
            w.high = _mm256_sub_epi8(four_points(low_tables.iq1_s, index + 2), w.high);
            part->w[pair][r] = w;
        }
    }
}

static __attribute__((noinline)) void look_up_eights(struct part *part, const uint64_t *grid)
{
#pragma GCC unroll 1
    for (size_t r = 0; r < ROWS; r++) {
        const uint16_t *index = (const void *)part->index[r];
        const uint8_t *signs = (const void *)&part->bytes[r];
#pragma GCC unroll 1
        for (size_t pair = 0; pair < PAIRS; pair++, index += 8, signs += 8) {
            struct halves w = {four_points(grid, index), four_points(grid, index + 2)};
            part->w[pair][r] = change_signs(w, signs);
        }
    }
}

static __attribute__((noinline)) void look_up_fours(struct part *part, const uint32_t *grid)
{
#pragma GCC unroll 1
    for (size_t r = 0; r < ROWS; r++) {
        const uint16_t *index = (const void *)part->index[r];
        const uint8_t *signs = (const void *)&part->bytes[r];
#pragma GCC unroll 1
        for (size_t pair = 0; pair < PAIRS; pair++, index += 16, signs += 8) {
            struct halves w = {eight_points(grid, index), eight_points(grid, index + 4)};
            part->w[pair][r] = change_signs(w, signs);
        }
    }
}

/* The sign of an eighth weight makes the number of set bits even. */
TILE_INLINE __m256i complete_signs(__m256i sevens)
{
    const __m256i odd = _mm256_broadcastsi128_si256(
        _mm_set_epi8(0, -128, -128, 0, -128, 0, 0, -128, -128, 0, 0, -128, 0, -128, -128, 0));
    __m256i nibbles = _mm256_xor_si256(sevens, _mm256_srli_epi16(sevens, 4));
    nibbles = _mm256_and_si256(nibbles, _mm256_set1_epi8(15));
    return _mm256_or_si256(sevens, _mm256_shuffle_epi8(odd, nibbles));
}

/* Of all rows: `bytes` are 32 bits for each 32 weights, four sign indices of 7 bits and n of the
 * scale d * (2 n + 1). Sign bits take their place. */
static __attribute__((noinline)) void take_signs(struct part *part)
{
#pragma GCC unroll 1
    for (size_t r = 0; r < ROWS; r++) {
        __m256i words = part->bytes[r];
        __m256i sevens = _mm256_and_si256(words, _mm256_set1_epi32(0x7f));
#pragma GCC unroll 3
        for (int i = 1; i < 4; i++)
            sevens = _mm256_or_si256(sevens, _mm256_and_si256(_mm256_slli_epi32(words, i),
                                                              _mm256_set1_epi32(0x7f << 8 * i)));
        part->bytes[r] = complete_signs(sevens);
        put_scales(part->d[r], _mm256_srli_epi32(words, 28), part->row_scales[r]);
    }
}

TILE_INLINE __m256i shift_bytes(__m256i minus)
{
    return _mm256_add_epi8(_mm256_and_si256(minus, _mm256_set1_epi8(2)),
                           _mm256_set1_epi8((char)0x87));
}

TILE_INLINE void take_iq1_s(struct part *part, size_t r)
{
    const __m256i fours = _mm256_set_epi8(7, 6, 7, 6, 7, 6, 7, 6, 5, 4, 5, 4, 5, 4, 5, 4, 3, 2, 3,
                                          2, 3, 2, 3, 2, 1, 0, 1, 0, 1, 0, 1, 0);
    const uint8_t *at = part->at[r];
    __m128i high = _mm_loadu_si128((const void *)(at + IQ1_S_HIGH_AT));
    __m256i wide = _mm256_cvtepi16_epi32(high);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) { /* high >> 3 k & 7 to bits 8..10 of word k */
        __m256i words =
            _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(high),
                                _mm256_add_epi8(fours, _mm256_set1_epi8((char)(8 * i))));
        words = _mm256_or_si256(
            _mm256_mullo_epi16(words, _mm256_set1_epi64x(0x0000000400200100)),
            _mm256_mulhi_epu16(words, _mm256_set1_epi64x((long long)0x8000000000000000)));
        words = _mm256_and_si256(words, _mm256_set1_epi16(0x700));
        part->index[r][i] = _mm256_or_si256(words, load_wide(at + 2 + 16 * i));
    }
    part->bytes[r] = shift_bytes(_mm256_srai_epi32(wide, 31));
    put_scales(half_to_float(load_u16(at)) / 8,
               _mm256_and_si256(_mm256_srli_epi32(wide, 12), _mm256_set1_epi32(7)),
               part->row_scales[r]);
}

TILE_INLINE void take_iq1_m(struct part *part, size_t r)
{
    const __m256i twos = _mm256_set_epi8(-1, 7, -1, 7, -1, 6, -1, 6, -1, 5, -1, 5, -1, 4, -1, 4, -1,
                                         3, -1, 3, -1, 2, -1, 2, -1, 1, -1, 1, -1, 0, -1, 0);
    const __m256i bits = _mm256_set1_epi32(0x00800008);
    const __m256i shift = _mm256_set_epi32(9, 6, 3, 0, 9, 6, 3, 0);
    const uint8_t *at = part->at[r];
    __m256i minus[2];
    __m256i high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(at + IQ1_M_HIGH_AT)));
    uint64_t words;
    memcpy(&words, at + IQ1_M_SCALES_AT, sizeof words);
    uint64_t half = words >> 12 & 0x000f000f000f000f; /* in the upper nibbles of four words */
    half |= half >> 12;
    float d = half_to_float((half & 0xff) | (half >> 24 & 0xff00)) / 8;
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m256i bytes = _mm256_shuffle_epi8(high, twos);
        minus[i] = _mm256_srli_epi16(_mm256_cmpeq_epi16(_mm256_and_si256(bytes, bits), bits), 8);
        bytes = _mm256_mullo_epi16(bytes, _mm256_set1_epi32(0x00100100));
        bytes = _mm256_and_si256(bytes, _mm256_set1_epi16(0x700));
        part->index[r][i] = _mm256_or_si256(bytes, load_wide(at + 16 * i));
        high = _mm256_bsrli_epi128(high, 8);
        __m256i n = _mm256_set_m128i(_mm_set1_epi32((int)(words >> (32 * i + 16) & 0xffff)),
                                     _mm_set1_epi32((int)(words >> 32 * i & 0xffff)));
        n = _mm256_and_si256(_mm256_srlv_epi32(n, shift), _mm256_set1_epi32(7));
        put_scales(d, n, part->row_scales[r] + 8 * i);
    }
    part->bytes[r] = shift_bytes(pack_words(minus[0], minus[1]));
}

TILE_INLINE void take_iq2_xxs(struct part *part, size_t r)
{
    const uint8_t *at = part->at[r];
    __m256 first = _mm256_loadu_ps((const void *)(at + 2));
    __m256 second = _mm256_loadu_ps((const void *)(at + 34));
    __m256i q = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88));
    __m256i signs = _mm256_castps_si256(_mm256_shuffle_ps(first, second, 0xdd));
    q = _mm256_permute4x64_epi64(q, 0xd8);
    signs = _mm256_permute4x64_epi64(signs, 0xd8);
    part->index[r][0] = _mm256_cvtepu8_epi16(_mm256_castsi256_si128(q));
    part->index[r][1] = _mm256_cvtepu8_epi16(_mm256_extracti128_si256(q, 1));
    part->bytes[r] = signs;
    part->d[r] = half_to_float(load_u16(at)) / 8;
}

TILE_INLINE void take_iq2_xs(struct part *part, size_t r)
{
    const uint8_t *at = part->at[r];
    const float d = half_to_float(load_u16(at)) / 8;
    __m256i signs[2];
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        __m256i q = _mm256_loadu_si256((const void *)(at + 2 + 32 * i));
        part->index[r][i] = _mm256_and_si256(q, _mm256_set1_epi16(511));
        signs[i] = _mm256_srli_epi16(q, 9);
        put_nibble_scales(d, at + IQ2_XS_SCALES_AT + 4 * i, part->row_scales[r] + 8 * i);
    }
    part->bytes[r] = complete_signs(pack_words(signs[0], signs[1]));
}

TILE_INLINE void take_iq2_s(struct part *part, size_t r)
{
    const __m256i fours = _mm256_set_epi8(-1, 3, -1, 3, -1, 3, -1, 3, -1, 2, -1, 2, -1, 2, -1, 2,
                                          -1, 1, -1, 1, -1, 1, -1, 1, -1, 0, -1, 0, -1, 0, -1, 0);
    const uint8_t *at = part->at[r];
    const float d = half_to_float(load_u16(at)) / 8;
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) { /* high >> 2 k & 3 to bits 8 and 9 of word k */
        __m256i high = _mm256_set1_epi32((int)load_u32(at + IQ2_S_HIGH_AT + 4 * i));
        high = _mm256_mullo_epi16(_mm256_shuffle_epi8(high, fours),
                                  _mm256_set1_epi64x(0x0004001000400100));
        high = _mm256_and_si256(high, _mm256_set1_epi16(0x300));
        part->index[r][i] = _mm256_or_si256(high, load_wide(at + 2 + 16 * i));
        put_nibble_scales(d, at + IQ2_S_SCALES_AT + 4 * i, part->row_scales[r] + 8 * i);
    }
    part->bytes[r] = _mm256_loadu_si256((const void *)(at + IQ2_S_SIGNS_AT));
}

TILE_INLINE void take_iq3_xxs(struct part *part, size_t r)
{
    const uint8_t *at = part->at[r];
    __m256i signs = _mm256_loadu_si256((const void *)(at + IQ3_XXS_SIGNS_AT));
#pragma GCC unroll 1
    for (size_t i = 0; i < 4; i++)
        part->index[r][i] = load_wide(at + 2 + 16 * i);
    part->bytes[r] = signs;
    part->d[r] = half_to_float(load_u16(at)) / 4;
}

TILE_INLINE void take_iq3_s(struct part *part, size_t r)
{
    const __m256i bit = _mm256_set_epi16(-0x8000, 0x4000, 0x2000, 0x1000, 0x800, 0x400, 0x200,
                                         0x100, 0x80, 0x40, 0x20, 0x10, 8, 4, 2, 1);
    const uint8_t *at = part->at[r];
#pragma GCC unroll 1
    for (size_t i = 0; i < 4; i++) {
        __m256i high = _mm256_set1_epi16((short)load_u16(at + IQ3_S_HIGH_AT + 2 * i));
        high = _mm256_cmpeq_epi16(_mm256_and_si256(high, bit), bit);
        high = _mm256_and_si256(high, _mm256_set1_epi16(0x100));
        part->index[r][i] = _mm256_or_si256(high, load_wide(at + 2 + 16 * i));
    }
    part->bytes[r] = _mm256_loadu_si256((const void *)(at + IQ3_S_SIGNS_AT));
    put_nibble_scales(half_to_float(load_u16(at)), at + IQ3_S_SCALES_AT, part->row_scales[r]);
}

#define UNPACK(name, call)                                                              \
    static void unpack_##name(struct part *part)                                        \
    {                                                                                   \
        _Pragma("GCC unroll 1") for (size_t r = 0; r < ROWS; r++) take_##name(part, r); \
        call;                                                                           \
    }
UNPACK(iq1_s, look_up_shifted(part))
UNPACK(iq1_m, look_up_shifted(part))
UNPACK(iq2_xxs, take_signs(part); look_up_eights(part, low_tables.iq2_xxs))
UNPACK(iq2_xs, look_up_eights(part, low_tables.iq2_xs))
UNPACK(iq2_s, look_up_eights(part, low_tables.iq2_s))
UNPACK(iq3_xxs, take_signs(part); look_up_fours(part, low_tables.iq3_xxs))
UNPACK(iq3_s, look_up_fours(part, low_tables.iq3_s))

/* ---- ternary, binary, NVFP4 ------------------------------------------------------------------ */

/* Digits of fractions: 3 * fraction / 256. vpavgb rounds up, twice; from one less it rounds to
 * that for every byte. */
TILE_INLINE __m256i ternary_digits(__m256i fractions)
{
    fractions = _mm256_subs_epu8(fractions, _mm256_set1_epi8(1));
    __m256i half = _mm256_avg_epu8(fractions, _mm256_setzero_si256());
    __m256i digits = _mm256_srli_epi16(_mm256_avg_epu8(fractions, half), 6);
    return _mm256_and_si256(digits, _mm256_set1_epi8(3));
}

TILE_INLINE __m256i times_3(__m256i bytes)
{
    return _mm256_add_epi8(bytes, _mm256_add_epi8(bytes, bytes));
}

TILE_INLINE __m256i sixteen_twice(const uint8_t *at)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)at));
}

TILE_INLINE void take_tq1_0(struct part *part, size_t r)
{
    const uint8_t *at = part->at[r];
    __m256i digits[3][5]; /* of each sixteen bytes */
    /* four bytes have four digits for four weights */
    __m256i once = _mm256_set1_epi32((int)load_u32(at + 48)), three = times_3(once);
    __m256i nine = times_3(three);
    __m256i last = _mm256_blend_epi32(_mm256_blend_epi32(once, three, 0x20),
                                      _mm256_blend_epi32(nine, times_3(nine), 0x80), 0xc0);
#pragma GCC unroll 3
    for (size_t i = 0; i < 3; i++) {
        __m256i bytes = sixteen_twice(at + 16 * i);
#pragma GCC unroll 5
        for (size_t n = 0; n < 5; n++, bytes = times_3(bytes))
            digits[i][n] = bytes;
    }
    struct halves w[PAIRS] = {
        {_mm256_blend_epi32(digits[0][0], digits[0][1], 0xf0),
         _mm256_blend_epi32(digits[1][0], digits[1][1], 0xf0)},
        {_mm256_blend_epi32(digits[0][2], digits[0][3], 0xf0),
         _mm256_blend_epi32(digits[1][2], digits[1][3], 0xf0)},
        {_mm256_blend_epi32(digits[0][4], digits[2][0], 0xf0),
         _mm256_blend_epi32(digits[1][4], digits[2][1], 0xf0)},
        {_mm256_blend_epi32(digits[2][2], digits[2][4], 0xf0),
         _mm256_blend_epi32(digits[2][3], last, 0xf0)},
    };
    _mm256_storeu_ps(part->row_scales[r],
                     _mm256_set1_ps(half_to_float(load_u16(at + TQ1_0_SCALE_AT))));
#pragma GCC unroll 4
    for (size_t pair = 0; pair < PAIRS; pair++) {
        w[pair].low = ternary_digits(w[pair].low);
        w[pair].high = ternary_digits(w[pair].high);
        part->w[pair][r] = w[pair];
    }
}

TILE_INLINE void take_tq2_0(struct part *part, size_t r)
{
    const __m256i two_bits = _mm256_set1_epi8(3);
    const __m256i shift = _mm256_set_epi64x(2, 2, 0, 0);
    const uint8_t *at = part->at[r];
    _mm256_storeu_ps(part->row_scales[r],
                     _mm256_set1_ps(half_to_float(load_u16(at + TQ2_0_SCALE_AT))));
#pragma GCC unroll 2
    for (size_t half = 0; half < 2; half++) {
        __m256i low = _mm256_srlv_epi64(sixteen_twice(at + 32 * half), shift);
        __m256i high = _mm256_srlv_epi64(sixteen_twice(at + 32 * half + 16), shift);
#pragma GCC unroll 2
        for (size_t i = 0; i < 2; i++)
            part->w[2 * half + i][r] =
                (struct halves){_mm256_and_si256(_mm256_srli_epi64(low, 4 * (int)i), two_bits),
                                _mm256_and_si256(_mm256_srli_epi64(high, 4 * (int)i), two_bits)};
    }
}

TILE_INLINE void take_q1_0(struct part *part, size_t r)
{
    const __m256i two = _mm256_set1_epi8(2);
    const uint8_t *at = part->at[r];
#pragma GCC unroll 1
    for (size_t pair = 0; pair < part->pairs; pair += 2, at += Q1_0_BYTES) {
        _mm_storeu_ps(part->row_scales[r] + 2 * pair, _mm_set1_ps(half_to_float(load_u16(at))));
#pragma GCC unroll 2
        for (size_t i = 0; i < 2; i++) {
            struct halves masks = masks_of_bits(at + 2 + 8 * i);
            part->w[pair + i][r].low = _mm256_and_si256(masks.low, two);
            part->w[pair + i][r].high = _mm256_and_si256(masks.high, two);
        }
    }
}

/* A byte in each 32 bits; its bit pairs go to four bytes. */
TILE_INLINE __m256i spread_pairs(__m256i bytes)
{
    bytes = _mm256_or_si256(bytes, _mm256_slli_epi32(bytes, 12));
    bytes = _mm256_or_si256(bytes, _mm256_slli_epi32(bytes, 6));
    return _mm256_and_si256(bytes, _mm256_set1_epi8(3));
}

TILE_INLINE void take_q2_0(struct part *part, size_t r)
{
    const __m256i low = _mm256_set_epi32(-245, -246, -247, -248, -253, -254, -255, -256);
    const __m256i high = _mm256_add_epi32(low, _mm256_set1_epi32(4));
    const uint8_t *at = part->at[r];
#pragma GCC unroll 1
    for (size_t pair = 0; pair < part->pairs; pair++, at += Q2_0_BYTES) {
        __m256i bytes = sixteen_twice(at + 2);
        struct halves w = {spread_pairs(_mm256_shuffle_epi8(bytes, low)),
                           spread_pairs(_mm256_shuffle_epi8(bytes, high))};
        float *scales = part->row_scales[r] + 2 * pair;
        scales[0] = scales[1] = half_to_float(load_u16(at));
        part->w[pair][r] = w;
    }
}

/* Four scales, E4M3: with their bits at the right place they are halves, 2^-8 times as large. */
TILE_INLINE __m128 nvfp4_scales(const uint8_t *at)
{
    __m128i bytes = _mm_cvtsi32_si128((int)load_u32(at)), largest = _mm_set1_epi8(0x7f);
    bytes = _mm_andnot_si128(_mm_cmpeq_epi8(bytes, largest), _mm_and_si128(bytes, largest));
    __m128i halves = _mm_slli_epi16(_mm_cvtepu8_epi16(bytes), 7);
    return _mm_mul_ps(_mm_cvtph_ps(halves), _mm_set1_ps(128)); /* and values are doubled */
}

/* Eight bytes of a sixteen of each block: low nibbles, then high ones. */
TILE_INLINE __m256i nvfp4_values(const uint8_t *at)
{
    const __m256i values = sixteen_twice((const void *)mxfp4_values);
    uint64_t first, second;
    memcpy(&first, at, sizeof first);
    memcpy(&second, at + 16, sizeof second);
    __m256i q = _mm256_blend_epi32(_mm256_set1_epi64x((long long)first),
                                   _mm256_set1_epi64x((long long)second), 0xf0);
    q = _mm256_srlv_epi64(q, _mm256_set_epi64x(4, 0, 4, 0));
    return _mm256_shuffle_epi8(values, _mm256_and_si256(q, _mm256_set1_epi8(15)));
}

TILE_INLINE void take_nvfp4(struct part *part, size_t r)
{
    const uint8_t *at = part->at[r];
#pragma GCC unroll 1
    for (size_t pair = 0; pair < part->pairs; pair++, at += NVFP4_BYTES) {
        struct halves w = {nvfp4_values(at + NVFP4_QUANTS_AT),
                           nvfp4_values(at + NVFP4_QUANTS_AT + 8)};
        _mm_storeu_ps(part->row_scales[r] + 4 * pair, nvfp4_scales(at));
        part->w[pair][r] = w;
    }
}

UNPACK(tq1_0, )
UNPACK(tq2_0, )
UNPACK(q1_0, )
UNPACK(q2_0, )
UNPACK(nvfp4, )

#endif

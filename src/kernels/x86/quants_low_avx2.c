/* Products of the types of blocks_low.h with a few tokens, with AVX2, for quants_avx2.c.
 *
 * Eight rows are unpacked (unpack_low_avx2.h) and multiplied with one token after the other, a pair
 * of blocks of 32 at a time: vpmaddubsw of |x| with sign(x) * w, where x stays in registers for all
 * rows. Sums of four products fit 16 bits (4 * 62 * 127 = 31496). What follows is done for eight
 * rows at once: adding their lanes, and the float steps, in the order of the panels. */
#include <immintrin.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/x86/lanes_avx2.h"
#include "kernels/x86/quants_avx2.h"
#include "kernels/x86/unpack_low_avx2.h"

/* Eight scales of each row, to a register for each scale. */
static void turn_scales(const float *from, __m256 to[8])
{
    __m256i rows[8], first[4], second[4];
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; r++)
        rows[r] = _mm256_loadu_si256((const void *)(from + 2 * BLOCKS * r));
    transpose_in_quads(rows, first);
    transpose_in_quads(rows + 4, second);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        to[i] = _mm256_castsi256_ps(join_halves(first[i], second[i], 0));
        to[4 + i] = _mm256_castsi256_ps(join_halves(first[i], second[i], 1));
    }
}

/* How products are made: of signed weights, of signed ones where each sixteen has a scale, and of
 * unsigned ones that are one too large. */
enum kind { SIGNED, SIXTEENS, PLUS_ONE };

/* The sums of four rows, in each half of the result those of its block. The numbers have 16 bits
 * and are sums of two products (SIXTEENS) or four. Two numbers more fit, except with SIGNED. */
TILE_INLINE __m256i sum_four(enum kind kind, const __m256i dots[4])
{
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i twos[2];
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m256i first = dots[2 * i], second = dots[2 * i + 1];
        if (kind == SIGNED) {
            first = _mm256_madd_epi16(first, ones);
            second = _mm256_madd_epi16(second, ones);
        }
        __m256i low = _mm256_unpacklo_epi32(first, second);
        __m256i high = _mm256_unpackhi_epi32(first, second);
        twos[i] = kind == SIGNED ? _mm256_add_epi32(low, high)
                                 : _mm256_madd_epi16(_mm256_add_epi16(low, high), ones);
    }
    return _mm256_add_epi32(_mm256_unpacklo_epi64(twos[0], twos[1]),
                            _mm256_unpackhi_epi64(twos[0], twos[1]));
}

/* The products of eight rows with a pair, or with a half of it: sum_four() of each four. */
TILE_INLINE void dots_of(enum kind kind, const struct halves w[ROWS], const struct halves *x,
                         bool use_low, bool use_high, __m256i out[2])
{
    const struct halves sizes = {_mm256_abs_epi8(x->low), _mm256_abs_epi8(x->high)};
#pragma GCC unroll 2
    for (size_t i = 0; i < 2; i++) {
        __m256i dots[4];
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++) {
            const struct halves *at = &w[4 * i + r];
            __m256i low, high;
            if (kind == PLUS_ONE) {
                low = _mm256_maddubs_epi16(at->low, x->low);
                high = _mm256_maddubs_epi16(at->high, x->high);
            } else {
                low = _mm256_maddubs_epi16(sizes.low, _mm256_sign_epi8(at->low, x->low));
                high = _mm256_maddubs_epi16(sizes.high, _mm256_sign_epi8(at->high, x->high));
            }
            dots[r] = !use_high ? low : !use_low ? high : _mm256_add_epi16(low, high);
        }
        out[i] = sum_four(kind, dots);
    }
}

/* Adds eight rows' products with the activations of a block, or of a sixteen of it. */
TILE_INLINE __m256 add_scaled(const __m256i dots[2], int half, __m256 scales, const uint8_t *act,
                              __m256 sum)
{
    __m256 scale = _mm256_broadcast_ss((const void *)(act + ACT32_SCALE_AT + 16 * half));
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(join_halves(dots[0], dots[1], half)),
                           _mm256_mul_ps(scales, scale), sum);
}

/* Adds the products with a token, its blocks or sixteens one after the other. */
TILE_INLINE __m256 multiply(enum kind kind, const struct part *part, const uint8_t *acts,
                            __m256 sum)
{
    const __m256 *scales = part->scales;
#pragma GCC unroll 1
    for (size_t pair = 0; pair < part->pairs; pair++, scales += kind == SIXTEENS ? 4 : 2) {
        const uint8_t *act = acts + pair / 2 * ACT32_BYTES + pair % 2 * 32;
        const struct halves x = {_mm256_loadu_si256((const void *)act),
                                 _mm256_loadu_si256((const void *)(act + ACT32_HIGH_AT))};
        __m256i dots[2][2];
        dots_of(kind, part->w[pair], &x, true, kind != SIXTEENS, dots[0]);
        if (kind == SIXTEENS)
            dots_of(kind, part->w[pair], &x, false, true, dots[1]);
        if (kind == PLUS_ONE) { /* minus the sum of x; the bias is -8 times that */
            __m256i total = _mm256_loadu_si256((const void *)(act + ACT32_BIAS_AT));
            total = _mm256_add_epi32(total, _mm256_shuffle_epi32(total, 0x4e));
            total = _mm256_add_epi32(total, _mm256_shuffle_epi32(total, 0xb1));
            total = _mm256_srai_epi32(total, 3);
            dots[0][0] = _mm256_add_epi32(dots[0][0], total);
            dots[0][1] = _mm256_add_epi32(dots[0][1], total);
        }
#pragma GCC unroll 2
        for (int b = 0; b < 2; b++) {
            if (kind != SIXTEENS) {
                sum = add_scaled(dots[0], b, scales[b], act, sum);
                continue;
            }
            sum = add_scaled(dots[0], b, scales[2 * b], act, sum);
            sum = add_scaled(dots[1], b, scales[2 * b + 1], act, sum);
        }
    }
    return sum;
}

#define MULTIPLY(kind)                                                                      \
    static __m256 multiply_##kind(const struct part *part, const uint8_t *acts, __m256 sum) \
    {                                                                                       \
        return multiply(kind, part, acts, sum);                                             \
    }
MULTIPLY(SIGNED)
MULTIPLY(SIXTEENS)
MULTIPLY(PLUS_ONE)

TILE_INLINE enum kind kind_of(enum tensor_type type)
{
    switch (type) {
    case TENSOR_TQ1_0:
    case TENSOR_TQ2_0:
    case TENSOR_Q1_0:
    case TENSOR_Q2_0:
        return PLUS_ONE;
    default:
        return tile_has_sixteens(type) ? SIXTEENS : SIGNED;
    }
}

/* A table of functions would be twice as large, with its relocations. */
TILE_INLINE void unpack(enum tensor_type type, struct part *part)
{
    switch (type) {
    case TENSOR_IQ1_S:
        unpack_iq1_s(part);
        return;
    case TENSOR_IQ1_M:
        unpack_iq1_m(part);
        return;
    case TENSOR_IQ2_XXS:
        unpack_iq2_xxs(part);
        return;
    case TENSOR_IQ2_XS:
        unpack_iq2_xs(part);
        return;
    case TENSOR_IQ2_S:
        unpack_iq2_s(part);
        return;
    case TENSOR_IQ3_XXS:
        unpack_iq3_xxs(part);
        return;
    case TENSOR_IQ3_S:
        unpack_iq3_s(part);
        return;
    case TENSOR_TQ1_0:
        unpack_tq1_0(part);
        return;
    case TENSOR_TQ2_0:
        unpack_tq2_0(part);
        return;
    case TENSOR_Q1_0:
        unpack_q1_0(part);
        return;
    case TENSOR_Q2_0:
        unpack_q2_0(part);
        return;
    default:
        unpack_nvfp4(part);
    }
}

void quants_low_add_avx2(enum tensor_type type, const struct tile *tile, size_t tokens,
                         float (*sums)[QUANTS_ROWS])
{
    const size_t bytes = tile->row_bytes * SUPER_BLOCK / tile->cols;
    const enum kind kind = kind_of(type);
    const uint8_t *acts = tile->acts;
    struct part part;
    for (size_t c = 0, offset = 0; c < tile->cols; c += SUPER_BLOCK, offset += bytes) {
        const size_t left = tile->cols - c;
        part.pairs = (left < SUPER_BLOCK ? left : SUPER_BLOCK) / (2 * BLOCK_32);
#pragma GCC unroll 1
        for (size_t r = 0; r < ROWS; r++) {
            quants_prefetch_row(tile, r, offset, 128);
            part.at[r] = tile->at[r] + offset;
        }
        unpack(type, &part);
        turn_scales(part.row_scales[0], part.scales);
        if (kind == SIXTEENS)
            turn_scales(part.row_scales[0] + 8, part.scales + 8);
        for (size_t t = 0; t < tokens; t++) {
            __m256 sum = _mm256_loadu_ps(sums[t]);
            const uint8_t *act = acts + t * tile->act_stride;
            sum = kind == SIGNED     ? multiply_SIGNED(&part, act, sum)
                  : kind == SIXTEENS ? multiply_SIXTEENS(&part, act, sum)
                                     : multiply_PLUS_ONE(&part, act, sum);
            _mm256_storeu_ps(sums[t], sum);
        }
        acts += SUPER_BLOCK / ACT32_GROUP * ACT32_BYTES;
    }
}

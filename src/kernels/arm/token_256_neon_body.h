/* One token's products with four rows in super-blocks of 256, for matmul_neon_body.h, which says
 * what dot_16() is; dot_fours() is the same where each lane has four neighbours.
 *
 * The rows go side by side, so that they share the activations. The header of a super-block is
 * loaded with a row in each lane, and scales and minimums are unpacked for all rows at once. The
 * products of four factors in a row are added across lanes together: their sums then stand beside
 * each other, as the factors do. */
#ifndef KERNELS_TOKEN_256_NEON_BODY_H
#define KERNELS_TOKEN_256_NEON_BODY_H

#include "kernels/activation.h"
#include "kernels/arm/token_neon_body.h"
#include "kernels/arm/unpack_neon.h"
#include "kernels/formats.h"
#include "kernels/tile_types.h"
#include "kernels/tiles.h"

/* The numbers of a super-block of four rows; lanes are rows. */
struct header_256 {
    uint8x16_t factors[4];  /* four in each lane: of 16 quants, or [2] of 32 quants */
    uint8x16_t minimums[4]; /* the same, where a type has minimums */
    float32x4_t scale, minimum;
};

/* The sums of activations as two numbers, 64 * high + low; [i]: those of factors[i]. */
struct totals_256 {
    int8x16_t high, low;
};

/* ---- headers --------------------------------------------------------------------------------- */

/* The 32-bit words `offset` bytes behind `at` of four rows. */
TILE_INLINE uint32x4_t load_word(const uint8_t *const at[ROWS_MAX], size_t offset)
{
    uint32x4_t words = vdupq_n_u32(load_u32(at[0] + offset));
    words = vsetq_lane_u32(load_u32(at[1] + offset), words, 1);
    words = vsetq_lane_u32(load_u32(at[2] + offset), words, 2);
    return vsetq_lane_u32(load_u32(at[3] + offset), words, 3);
}

/* Four words behind each other of each row; [i]: word i of all rows. */
TILE_INLINE void load_words(const uint8_t *const at[ROWS_MAX], size_t offset, uint8x16_t words[4])
{
    uint32x4_t rows[ROWS_MAX];
#pragma GCC unroll 4
    for (int r = 0; r < ROWS_MAX; r++)
        rows[r] = vreinterpretq_u32_u8(vld1q_u8(at[r] + offset));
    uint64x2_t even_01 = vreinterpretq_u64_u32(vtrn1q_u32(rows[0], rows[1]));
    uint64x2_t even_23 = vreinterpretq_u64_u32(vtrn1q_u32(rows[2], rows[3]));
    uint64x2_t odd_01 = vreinterpretq_u64_u32(vtrn2q_u32(rows[0], rows[1]));
    uint64x2_t odd_23 = vreinterpretq_u64_u32(vtrn2q_u32(rows[2], rows[3]));
    words[0] = vreinterpretq_u8_u64(vtrn1q_u64(even_01, even_23));
    words[1] = vreinterpretq_u8_u64(vtrn1q_u64(odd_01, odd_23));
    words[2] = vreinterpretq_u8_u64(vtrn2q_u64(even_01, even_23));
    words[3] = vreinterpretq_u8_u64(vtrn2q_u64(odd_01, odd_23));
}

/* The lower and the upper halves of words as floats. */
TILE_INLINE float32x4_t lower_halves(uint8x16_t words)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vmovn_u32(vreinterpretq_u32_u8(words))));
}

TILE_INLINE float32x4_t upper_halves(uint8x16_t words)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vshrn_n_u32(vreinterpretq_u32_u8(words), 16)));
}

/* Q4_K and Q5_K; q4_k_scales() of four rows. */
TILE_INLINE void load_header_q4_k(const uint8_t *const at[ROWS_MAX], struct header_256 *out)
{
    uint8x16_t words[4];
    load_words(at, 0, words);
    out->scale = lower_halves(words[0]);
    out->minimum = upper_halves(words[0]);
    out->factors[0] = vandq_u8(words[1], vdupq_n_u8(63));
    out->minimums[0] = vandq_u8(words[2], vdupq_n_u8(63));
    out->minimums[1] = vsliq_n_u8(high_nibbles(words[3]), vshrq_n_u8(words[2], 6), 4);
    out->factors[1] = vsliq_n_u8(words[3], vshrq_n_u8(words[1], 6), 4);
}

TILE_INLINE void load_header_q2_k(const uint8_t *const at[ROWS_MAX], struct header_256 *out)
{
    uint8x16_t words[4], scales = vreinterpretq_u8_u32(load_word(at, Q2_K_SCALE_AT));
    load_words(at, 0, words);
    out->scale = lower_halves(scales);
    out->minimum = upper_halves(scales);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        out->factors[i] = low_nibbles(words[i]);
        out->minimums[i] = high_nibbles(words[i]);
    }
}

/* q3_k_scales() of four rows, less 32. The fourth word has the scale. */
TILE_INLINE void load_header_q3_k(const uint8_t *const at[ROWS_MAX], struct header_256 *out)
{
    const uint8x16_t offset = vdupq_n_u8(32), low = vdupq_n_u8(15);
    uint8x16_t a = vreinterpretq_u8_u32(load_word(at, Q3_K_SCALES_AT));
    uint8x16_t b = vreinterpretq_u8_u32(load_word(at, Q3_K_SCALES_AT + 4));
    uint8x16_t c = vreinterpretq_u8_u32(load_word(at, Q3_K_SCALES_AT + 8));
    uint8x16_t high = vdupq_n_u8(48);
    out->factors[0] = vorrq_u8(vandq_u8(a, low), vandq_u8(vshlq_n_u8(c, 4), high));
    out->factors[1] = vorrq_u8(vandq_u8(b, low), vandq_u8(vshlq_n_u8(c, 2), high));
    out->factors[2] = vorrq_u8(high_nibbles(a), vandq_u8(c, high));
    out->factors[3] = vorrq_u8(high_nibbles(b), vandq_u8(vshrq_n_u8(c, 2), high));
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        out->factors[i] = vsubq_u8(out->factors[i], offset);
    out->scale = halves_of_rows(at, Q3_K_SCALE_AT, ROWS_MAX);
}

/* Bits 2j..2j+1 of the upper half of the first word belong to sub-block j. The second word has the
 * lower bits: of sub-block 2i in the low nibble of byte i, of 2i + 1 in the high one. */
TILE_INLINE void load_header_iq4_xs(const uint8_t *const at[ROWS_MAX], struct header_256 *out)
{
    static const uint8_t spread[16] = {2, 2, 3, 3, 6, 6, 7, 7, 10, 10, 11, 11, 14, 14, 15, 15};
    static const int8_t shift[16] = {0, -4, 0, -4, 0, -4, 0, -4, 0, -4, 0, -4, 0, -4, 0, -4};
    uint8x16_t first = vreinterpretq_u8_u32(load_word(at, 0));
    uint8x16_t low = vreinterpretq_u8_u32(load_word(at, IQ4_XS_LOW_AT));
    uint8x16_t high = vshlq_u8(vqtbl1q_u8(first, vld1q_u8(spread)), vld1q_s8(shift));
    uint8x16_t even = vorrq_u8(low_nibbles(low), vandq_u8(vshlq_n_u8(high, 4), vdupq_n_u8(48)));
    uint8x16_t odd = vorrq_u8(high_nibbles(low), vandq_u8(vshlq_n_u8(high, 2), vdupq_n_u8(48)));
    uint16x8_t a = vreinterpretq_u16_u8(vtrn1q_u8(even, odd));
    uint16x8_t b = vreinterpretq_u16_u8(vtrn2q_u8(even, odd));
    out->scale = lower_halves(first);
    out->factors[0] = vsubq_u8(vreinterpretq_u8_u16(vtrn1q_u16(a, b)), vdupq_n_u8(32));
    out->factors[1] = vsubq_u8(vreinterpretq_u8_u16(vtrn2q_u16(a, b)), vdupq_n_u8(32));
}

TILE_INLINE void load_header(enum tensor_type type, const uint8_t *const at[ROWS_MAX],
                             struct header_256 *out)
{
    switch (type) {
    case TENSOR_Q2_K:
        load_header_q2_k(at, out);
        break;
    case TENSOR_Q3_K:
        load_header_q3_k(at, out);
        break;
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        load_header_q4_k(at, out);
        break;
    case TENSOR_IQ4_XS:
        load_header_iq4_xs(at, out);
        break;
    default:
        load_words(at, Q6_K_SCALES_AT, out->factors);
        out->scale = halves_of_rows(at, Q6_K_SCALE_AT, ROWS_MAX);
    }
}

/* Where the four bytes of row r go: [0][r] to be numbers of 32 bits, [1][r] to be their top. */
enum { NONE = 255 };
/* clang-format off */
static const uint8_t factor_places[2][ROWS_MAX][16] = {
    {{0, NONE, NONE, NONE, 1, NONE, NONE, NONE, 2, NONE, NONE, NONE, 3, NONE, NONE, NONE},
     {4, NONE, NONE, NONE, 5, NONE, NONE, NONE, 6, NONE, NONE, NONE, 7, NONE, NONE, NONE},
     {8, NONE, NONE, NONE, 9, NONE, NONE, NONE, 10, NONE, NONE, NONE, 11, NONE, NONE, NONE},
     {12, NONE, NONE, NONE, 13, NONE, NONE, NONE, 14, NONE, NONE, NONE, 15, NONE, NONE, NONE}},
    {{NONE, NONE, NONE, 0, NONE, NONE, NONE, 1, NONE, NONE, NONE, 2, NONE, NONE, NONE, 3},
     {NONE, NONE, NONE, 4, NONE, NONE, NONE, 5, NONE, NONE, NONE, 6, NONE, NONE, NONE, 7},
     {NONE, NONE, NONE, 8, NONE, NONE, NONE, 9, NONE, NONE, NONE, 10, NONE, NONE, NONE, 11},
     {NONE, NONE, NONE, 12, NONE, NONE, NONE, 13, NONE, NONE, NONE, 14, NONE, NONE, NONE, 15}},
};
/* clang-format on */

/* Four factors of a row. */
TILE_INLINE int32x4_t factors_of(enum tensor_type type, uint8x16_t factors, uint8x16_t places)
{
    int32x4_t four = vreinterpretq_s32_u8(vqtbl1q_u8(factors, places));
    return tile_has_minimum(type) ? four : vshrq_n_s32(four, 24); /* minimums: no signs */
}

/* ---- sums of activations --------------------------------------------------------------------- */

enum { LOW_BITS = 6 };

TILE_INLINE struct totals_256 split_totals(enum tensor_type type, const uint8_t *act)
{
    const int16x8_t mask = vdupq_n_s16((1 << LOW_BITS) - 1);
    int16x8_t first = vld1q_s16((const void *)(act + ACT256_TOTALS_AT));
    int16x8_t second = vld1q_s16((const void *)(act + ACT256_TOTALS_AT + 16));
    struct totals_256 out;
    if (has_wide_factors(type))
        first = second = vpaddq_s16(first, second);
    out.high = vshrn_high_n_s16(vshrn_n_s16(first, LOW_BITS), second, LOW_BITS);
    out.low = vuzp1q_s8(vreinterpretq_s8_s16(vandq_s16(first, mask)),
                        vreinterpretq_s8_s16(vandq_s16(second, mask)));
    return out;
}

/* The sums of activations times the numbers that belong to them; lanes are rows. */
TILE_INLINE int32x4_t dot_totals(enum tensor_type type, const uint8x16_t numbers[4],
                                 const struct totals_256 *totals)
{
    int8x16_t a = vreinterpretq_s8_u8(numbers[0]), b = vreinterpretq_s8_u8(numbers[1]);
    int32x4_t high = dot_fours(dot_fours(vdupq_n_s32(0), a, totals->high, 0), b, totals->high, 1);
    if (has_wide_factors(type)) {
        int32x4_t low = vshlq_n_s32(high, LOW_BITS);
        return dot_fours(dot_fours(low, a, totals->low, 0), b, totals->low, 1);
    }
    int8x16_t c = vreinterpretq_s8_u8(numbers[2]), d = vreinterpretq_s8_u8(numbers[3]);
    high = dot_fours(dot_fours(high, c, totals->high, 2), d, totals->high, 3);
    int32x4_t low = vshlq_n_s32(high, LOW_BITS);
    low = dot_fours(dot_fours(low, a, totals->low, 0), b, totals->low, 1);
    return dot_fours(dot_fours(low, c, totals->low, 2), d, totals->low, 3);
}

/* ---- quants ---------------------------------------------------------------------------------- */

/* `bytes` with the bits of `mask` from `bits`, which are moved up by `shift`, or down if it is
 * negative. */
TILE_INLINE uint8x16_t with_bits(uint8x16_t bytes, uint8x16_t bits, int shift, uint8_t mask)
{
    return vbslq_u8(vdupq_n_u8(mask), shifted_right(bits, -shift), bytes);
}

/* Eight times sixteen quants of half s of a super-block; types with a factor for 32. */
TILE_INLINE void quants_128(enum tensor_type type, const uint8_t *at, int s, int8x16_t out[8])
{
    const uint8_t *nibbles = at + (type == TENSOR_Q5_K ? Q5_K_QUANTS_AT : Q4_K_QUANTS_AT);
    if (type == TENSOR_IQ4_XS) {
#pragma GCC unroll 4
        for (int k = 0; k < 4; k++) {
            uint8x16_t packed = vld1q_u8(at + IQ4_XS_QUANTS_AT + 64 * s + 16 * k);
            out[2 * k] = look_up(iq4_values, low_nibbles(packed));
            out[2 * k + 1] = look_up(iq4_values, high_nibbles(packed));
        }
        return;
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const int j = 4 * s + i / 2, h = i % 2;
        uint8x16_t packed = vld1q_u8(nibbles + 64 * s + 16 * (i / 4 * 2 + h));
        uint8x16_t quants = i / 2 % 2 ? high_nibbles(packed) : low_nibbles(packed);
        if (type == TENSOR_Q5_K)
            quants = with_bits(quants, vld1q_u8(at + Q5_K_HIGH_AT + 16 * h), 4 - j, 16);
        out[i] = vreinterpretq_s8_u8(quants);
    }
}

/* Sixteen quants of Q6_K, plus 32: field `part` of `high`, and the nibbles that belong to it. */
TILE_INLINE uint8x16_t raw_q6_k(uint8x16_t packed, uint8x16_t high, int part)
{
    if (part < 2)
        return vandq_u8(vsliq_n_u8(packed, shifted_right(high, 2 * part), 4), vdupq_n_u8(63));
    return with_bits(high_nibbles(packed), high, 4 - 2 * part, 48);
}

/* Four times sixteen quants of quarter s of a super-block; types with a factor for 16. */
TILE_INLINE void quants_64(enum tensor_type type, const uint8_t *at, int s, int8x16_t out[4])
{
    const int half = s / 2, part = s % 2 * 2;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const int field = part + i / 2, h = i % 2;
        uint8x16_t quants;
        if (type == TENSOR_Q6_K) {
            quants = raw_q6_k(vld1q_u8(at + 64 * half + 32 * (field % 2) + 16 * h),
                              vld1q_u8(at + Q6_K_HIGH_AT + 32 * half + 16 * h), field);
        } else {
            const uint8_t *packed = at + (type == TENSOR_Q2_K ? Q2_K_QUANTS_AT : Q3_K_QUANTS_AT);
            quants = shifted_right(vld1q_u8(packed + 32 * half + 16 * h), 2 * field);
            quants = field == 3 ? quants : vandq_u8(quants, vdupq_n_u8(3));
            if (type == TENSOR_Q3_K)
                quants = with_bits(quants, vld1q_u8(at + 16 * h), 2 - 4 * half - field, 4);
        }
        out[i] = vreinterpretq_s8_u8(quants);
    }
}

/* What is still to be subtracted from quants_64(). */
TILE_INLINE int offset_64(enum tensor_type type)
{
    return type == TENSOR_Q3_K ? 4 : type == TENSOR_Q6_K ? 32 : 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Adds the products of the columns that share four factors, half or quarter s, to each row's
 * sums. */
TILE_INLINE void add_part_256(enum tensor_type type, const uint8_t *at[ROWS_MAX],
                              const uint8_t *act, int s, uint8x16_t factors,
                              const uint8_t (*places)[16], struct running *running,
                              int32x4_t sums[ROWS_MAX])
{
    const int each = has_wide_factors(type) ? 2 : 1;
    int8x16x4_t x[2];
    x[0] = vld1q_s8_x4((const void *)(act + 64 * each * s));
    x[1] = each == 2 ? vld1q_s8_x4((const void *)(act + 128 * s + 64)) : x[0];
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS_MAX; r++) {
        int8x16_t quants[8];
        KEEP_POINTER(at[r]); /* loading again is cheaper than keeping */
        if (each == 2)
            quants_128(type, at[r], s, quants);
        else
            quants_64(type, at[r], s, quants);
#pragma GCC unroll 8
        for (int i = 0; i < ROWS_MAX * each; i++)
            running->dots[i / each] =
                dot_16(running->dots[i / each], quants[i], x[i / 4].val[i % 4]);
        int32x4_t factor = factors_of(type, factors, vld1q_u8(places[r])),
                  added = take_running(running);
        sums[r] = s == 0 ? vmulq_s32(added, factor) : vmlaq_s32(sums[r], added, factor);
    }
}

/* Adds a super-block of four rows. */
TILE_INLINE float32x4_t add_256(enum tensor_type type, const uint8_t *at[ROWS_MAX],
                                const uint8_t *act, const uint8_t (*places)[16],
                                struct running *running, float32x4_t sum)
{
    const int parts = has_wide_factors(type) ? 2 : 4;
    struct header_256 header;
    struct totals_256 totals;
    int32x4_t sums[ROWS_MAX], taken = vdupq_n_s32(0);
    load_header(type, at, &header);
    if (type != TENSOR_IQ4_XS) {
        totals = split_totals(type, act);
        taken =
            dot_totals(type, tile_has_minimum(type) ? header.minimums : header.factors, &totals);
    }
#pragma GCC unroll 4
    for (int s = 0; s < parts; s++)
        add_part_256(type, at, act, s, header.factors[s], places, running, sums);
    int32x4_t dots = sum_lanes(sums, ROWS_MAX);
    if (offset_64(type) != 0)
        dots = vmlsq_s32(dots, taken, vdupq_n_s32(offset_64(type)));
    float32x4_t scale = vld1q_dup_f32((const void *)(act + ACT256_SCALE_AT));
    sum = add_block(sum, dots, vmulq_f32(header.scale, scale));
    if (tile_has_minimum(type))
        sum = vfmsq_f32(sum, vcvtq_f32_s32(taken), vmulq_f32(header.minimum, scale));
    return sum;
}

/* The next rows are prefetched one line after the other, as they lie in memory. */
TILE_INLINE void tile_256_one(const struct tile *tile, enum tensor_type type)
{
    const size_t block_bytes = tile_block_bytes(type);
    const uint8_t *at[ROWS_MAX], *act = tile->acts;
    const uint8_t *ahead = tile->rows + ROWS_MAX * tile->row_bytes;
    const uint8_t(*places)[16] = factor_places[tile_has_minimum(type) ? 0 : 1];
    KEEP_POINTER(places); /* so that it is in a register */
    struct running running = begin_running();
    float32x4_t sum = vdupq_n_f32(0);
#pragma GCC unroll 4
    for (size_t r = 0; r < ROWS_MAX; r++)
        at[r] = tile->rows + r * tile->row_bytes;
#pragma GCC unroll 1
    for (size_t blocks = tile->cols / SUPER_BLOCK; blocks > 0; blocks--) {
#pragma GCC unroll 16
        for (size_t line = 0; line < ROWS_MAX * block_bytes; line += 64)
            __builtin_prefetch(ahead + line);
        sum = add_256(type, at, act, places, &running, sum);
#pragma GCC unroll 4
        for (size_t r = 0; r < ROWS_MAX; r++)
            at[r] += block_bytes;
        ahead += ROWS_MAX * block_bytes;
        act += ACT256_BYTES;
    }
    vst1q_f32(tile->y, sum);
}

#endif

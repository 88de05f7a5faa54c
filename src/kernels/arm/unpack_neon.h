/* Unpacks weight blocks into 128-bit registers of signed bytes, for matmul_neon_body.h and
 * panel_neon_body.h. */
#ifndef KERNELS_UNPACK_NEON_H
#define KERNELS_UNPACK_NEON_H

#include <arm_neon.h>

#include "kernels/formats.h"
#include "kernels/tile_types.h"

/* The values of the nibbles. */
TILE_INLINE int8x16_t look_up(const int8_t values[16], uint8x16_t nibbles)
{
    return vqtbl1q_s8(vld1q_s8(values), nibbles);
}

TILE_INLINE int8x16_t less_offset(uint8x16_t quants, int offset)
{
    return vsubq_s8(vreinterpretq_s8_u8(quants), vdupq_n_s8((int8_t)offset));
}

/* Each byte shifted to the right; n is a constant where it is called. */
TILE_INLINE uint8x16_t shifted_right(uint8x16_t bytes, int n)
{
    return vshlq_u8(bytes, vdupq_n_s8((int8_t)-n));
}

TILE_INLINE uint8x16_t low_nibbles(uint8x16_t packed)
{
    return vandq_u8(packed, vdupq_n_u8(15));
}

TILE_INLINE uint8x16_t high_nibbles(uint8x16_t packed)
{
    return vshrq_n_u8(packed, 4);
}

/* The half at `at` in four lanes. */
TILE_INLINE float32x4_t spread_half(const uint8_t *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vdup_n_u16(load_u16(at))));
}

/* ---- a block of 32 --------------------------------------------------------------------------- */

struct block_32 {
    int8x16_t low, high; /* weights 0..15 and 16..31, plus offset_32() */
};

/* What is still to be subtracted from the quants. As a whole number times the activations' sum
 * (their bias) that costs nothing. */
TILE_INLINE int offset_32(enum tensor_type type)
{
    return type == TENSOR_Q4_0 ? 8 : type == TENSOR_Q5_0 ? 16 : 0;
}

/* 16 in every byte i where bit i of the 16 bits at `at` is set. */
TILE_INLINE uint8x16_t fifth_bits(const uint8_t *at)
{
    static const uint8_t bit[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t both = vcombine_u8(vdup_n_u8(at[0]), vdup_n_u8(at[1]));
    return vandq_u8(vtstq_u8(both, vld1q_u8(bit)), vdupq_n_u8(16));
}

TILE_INLINE void unpack_nibbles(enum tensor_type type, const uint8_t *block, struct block_32 *out)
{
    uint8x16_t packed = vld1q_u8(block + tile_nibbles_at(type));
    uint8x16_t low = low_nibbles(packed), high = high_nibbles(packed);
    if (type == TENSOR_IQ4_NL || type == TENSOR_MXFP4) {
        const int8_t *values = type == TENSOR_IQ4_NL ? iq4_values : mxfp4_values;
        out->low = look_up(values, low);
        out->high = look_up(values, high);
        return;
    }
    if (type == TENSOR_Q5_0 || type == TENSOR_Q5_1) {
        const uint8_t *bits = block + (type == TENSOR_Q5_0 ? Q5_0_HIGH_AT : Q5_1_HIGH_AT);
        low = vorrq_u8(low, fifth_bits(bits));
        high = vorrq_u8(high, fifth_bits(bits + 2));
    }
    out->low = vreinterpretq_s8_u8(low);
    out->high = vreinterpretq_s8_u8(high);
}

TILE_INLINE struct block_32 unpack_32(enum tensor_type type, const uint8_t *block)
{
    struct block_32 out;
    if (type == TENSOR_Q8_0) {
        int8x16x2_t both = vld1q_s8_x2((const void *)(block + Q8_0_QUANTS_AT));
        out.low = both.val[0];
        out.high = both.val[1];
    } else {
        unpack_nibbles(type, block, &out);
    }
    return out;
}

/* The halves `offset` bytes behind `at` of one row, in all lanes, or of four rows. */
TILE_INLINE float32x4_t halves_of_rows(const uint8_t *const *at, size_t offset, int rows)
{
    if (rows == 1)
        return spread_half(at[0] + offset);
    uint16x4_t halves = vdup_n_u16(load_u16(at[0] + offset));
    halves = vset_lane_u16(load_u16(at[1] + offset), halves, 1);
    halves = vset_lane_u16(load_u16(at[2] + offset), halves, 2);
    halves = vset_lane_u16(load_u16(at[3] + offset), halves, 3);
    return vcvt_f32_f16(vreinterpret_f16_u16(halves));
}

/* The scales of the blocks of one row, in all lanes, or of four rows. */
TILE_INLINE float32x4_t scales_32(enum tensor_type type, const uint8_t *const *at, int rows)
{
    if (type != TENSOR_MXFP4)
        return halves_of_rows(at, 0, rows);
    float32x4_t scales = vdupq_n_f32(e8m0_half(at[0][0]));
    if (rows == 1)
        return scales;
    scales = vsetq_lane_f32(e8m0_half(at[1][0]), scales, 1);
    scales = vsetq_lane_f32(e8m0_half(at[2][0]), scales, 2);
    return vsetq_lane_f32(e8m0_half(at[3][0]), scales, 3);
}

/* -minimum / 8, the factor of the activations' bias. */
TILE_INLINE float32x4_t minimums_32(const uint8_t *const *at, int rows)
{
    return vmulq_n_f32(halves_of_rows(at, MIN_32_AT, rows), -0.125f);
}

/* ---- super-blocks of 256, 32 quants at a time ------------------------------------------------ */

struct factors_256 {
    int32_t factors[16];   /* [i] of 16-block i; types with 32 quants for a factor: [i / 2] */
    int16x8_t minimums[2]; /* of 16-blocks 0..7 and 8..15, in types that have them */
};

/* The scales of the factors of one row, in all lanes, or of four rows. */
TILE_INLINE float32x4_t scales_256(enum tensor_type type, const uint8_t *const *at, int rows)
{
    const size_t scale_at = type == TENSOR_Q2_K   ? Q2_K_SCALE_AT
                            : type == TENSOR_Q3_K ? Q3_K_SCALE_AT
                            : type == TENSOR_Q6_K ? Q6_K_SCALE_AT
                                                  : 0;
    return halves_of_rows(at, scale_at, rows);
}

/* The same of the minimums, in types that have them. */
TILE_INLINE float32x4_t minimums_256(enum tensor_type type, const uint8_t *const *at, int rows)
{
    return halves_of_rows(at, type == TENSOR_Q2_K ? Q2_K_MIN_AT : Q4_K_MIN_AT, rows);
}

/* Whether each 32-block has one factor. */
TILE_INLINE bool has_wide_factors(enum tensor_type type)
{
    return type == TENSOR_Q4_K || type == TENSOR_Q5_K || type == TENSOR_IQ4_XS;
}

TILE_INLINE void set_factors(struct factors_256 *out, int8x16_t values)
{
    int16x8_t low = vmovl_s8(vget_low_s8(values)), high = vmovl_s8(vget_high_s8(values));
    vst1q_s32(out->factors, vmovl_s16(vget_low_s16(low)));
    vst1q_s32(out->factors + 4, vmovl_s16(vget_high_s16(low)));
    vst1q_s32(out->factors + 8, vmovl_s16(vget_low_s16(high)));
    vst1q_s32(out->factors + 12, vmovl_s16(vget_high_s16(high)));
}

TILE_INLINE void set_minimums(struct factors_256 *out, uint8x16_t values)
{
    out->minimums[0] = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(values)));
    out->minimums[1] = vreinterpretq_s16_u16(vmovl_u8(vget_high_u8(values)));
}

/* Q4_K and Q5_K. */
TILE_INLINE void unpack_factors_q4_k(const uint8_t *at, struct factors_256 *out)
{
    uint8_t packed[16];
    q4_k_scales(at + Q4_K_SCALES_AT, packed);
    uint8x16_t both = vld1q_u8(packed);
    uint8x8_t minimums = vget_high_u8(both);
    set_factors(out, vreinterpretq_s8_u8(both));
    set_minimums(out, vcombine_u8(vzip1_u8(minimums, minimums), vzip2_u8(minimums, minimums)));
}

TILE_INLINE void unpack_factors_q2_k(const uint8_t *at, struct factors_256 *out)
{
    uint8x16_t packed = vld1q_u8(at);
    set_factors(out, vreinterpretq_s8_u8(low_nibbles(packed)));
    set_minimums(out, high_nibbles(packed));
}

TILE_INLINE void unpack_factors_q3_k(const uint8_t *at, struct factors_256 *out)
{
    uint8_t scales[16];
    q3_k_scales(at + Q3_K_SCALES_AT, scales);
    set_factors(out, less_offset(vld1q_u8(scales), 32));
}

TILE_INLINE void unpack_factors_iq4_xs(const uint8_t *at, struct factors_256 *out)
{
    unsigned high = load_u16(at + IQ4_XS_HIGH_AT);
    for (unsigned j = 0; j < 8; j++) {
        unsigned low = (unsigned)at[IQ4_XS_LOW_AT + j / 2] >> j % 2 * 4 & 15;
        out->factors[j] = (int32_t)(low | (high >> 2 * j & 3) << 4) - 32;
    }
}

TILE_INLINE struct factors_256 unpack_factors(enum tensor_type type, const uint8_t *at)
{
    struct factors_256 out;
    switch (type) {
    case TENSOR_Q2_K:
        unpack_factors_q2_k(at, &out);
        break;
    case TENSOR_Q3_K:
        unpack_factors_q3_k(at, &out);
        break;
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        unpack_factors_q4_k(at, &out);
        break;
    case TENSOR_IQ4_XS:
        unpack_factors_iq4_xs(at, &out);
        break;
    default:
        set_factors(&out, vld1q_s8((const void *)(at + Q6_K_SCALES_AT)));
    }
    return out;
}

/* Bit `bit` of each byte, moved to bit `to`. */
TILE_INLINE uint8x16_t bits_of(uint8x16_t bytes, int bit, int to)
{
    uint8x16_t one = vandq_u8(shifted_right(bytes, bit), vdupq_n_u8(1));
    return vshlq_u8(one, vdupq_n_s8((int8_t)to));
}

/* The sixteen quants of half h (0, 1) of 32-block j. */
TILE_INLINE int8x16_t quants_q4_k(enum tensor_type type, const uint8_t *at, int j, int h)
{
    const uint8_t *nibbles = at + (type == TENSOR_Q4_K ? Q4_K_QUANTS_AT : Q5_K_QUANTS_AT);
    uint8x16_t packed = vld1q_u8(nibbles + 32 * (j / 2) + 16 * h);
    uint8x16_t quants = j % 2 ? high_nibbles(packed) : low_nibbles(packed);
    if (type == TENSOR_Q5_K)
        quants = vorrq_u8(quants, bits_of(vld1q_u8(at + Q5_K_HIGH_AT + 16 * h), j, 4));
    return vreinterpretq_s8_u8(quants);
}

TILE_INLINE int8x16_t quants_q2_k(enum tensor_type type, const uint8_t *at, int j, int h)
{
    const uint8_t *packed = at + (type == TENSOR_Q2_K ? Q2_K_QUANTS_AT : Q3_K_QUANTS_AT);
    uint8x16_t quants = shifted_right(vld1q_u8(packed + 32 * (j / 4) + 16 * h), 2 * (j % 4));
    quants = vandq_u8(quants, vdupq_n_u8(3));
    if (type == TENSOR_Q2_K)
        return vreinterpretq_s8_u8(quants);
    return less_offset(vorrq_u8(quants, bits_of(vld1q_u8(at + 16 * h), j, 2)), 4);
}

TILE_INLINE int8x16_t quants_q6_k(const uint8_t *at, int j, int h)
{
    int half = j / 4, part = j % 4;
    uint8x16_t packed = vld1q_u8(at + 64 * half + 32 * (part % 2) + 16 * h);
    uint8x16_t low = part >= 2 ? high_nibbles(packed) : low_nibbles(packed);
    uint8x16_t high = shifted_right(vld1q_u8(at + Q6_K_HIGH_AT + 32 * half + 16 * h), 2 * part);
    high = vandq_u8(high, vdupq_n_u8(3));
    return less_offset(vorrq_u8(low, vshlq_n_u8(high, 4)), 32);
}

/* 16 bytes are 32 quants: low nibbles, then high nibbles. */
TILE_INLINE int8x16_t quants_iq4_xs(const uint8_t *at, int j, int h)
{
    uint8x16_t packed = vld1q_u8(at + IQ4_XS_QUANTS_AT + 16 * j);
    return look_up(iq4_values, h ? high_nibbles(packed) : low_nibbles(packed));
}

TILE_INLINE int8x16_t quants_256(enum tensor_type type, const uint8_t *at, int j, int h)
{
    switch (type) {
    case TENSOR_Q2_K:
    case TENSOR_Q3_K:
        return quants_q2_k(type, at, j, h);
    case TENSOR_Q4_K:
    case TENSOR_Q5_K:
        return quants_q4_k(type, at, j, h);
    case TENSOR_IQ4_XS:
        return quants_iq4_xs(at, j, h);
    default:
        return quants_q6_k(at, j, h);
    }
}

#endif

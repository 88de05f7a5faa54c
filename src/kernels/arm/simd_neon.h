/* Vectors of four floats with NEON, which every aarch64 processor has: the functions that
 * vector_body.h uses. NEON includes fused multiply-adds and conversions of f16. */
#ifndef KERNELS_SIMD_NEON_H
#define KERNELS_SIMD_NEON_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIMD_INLINE static inline __attribute__((always_inline))
#define VARIANT(name) name##_neon
#define VARIANT_NAME "neon"

typedef float32x4_t vec;
typedef int32x4_t vec_int;
enum { LANES = 4 };

SIMD_INLINE vec vec_load(const float *at)
{
    return vld1q_f32(at);
}
/* The first n < LANES floats and zeroes after them; nothing else is read. */
SIMD_INLINE vec vec_load_part(const float *at, size_t n)
{
    vec v = vdupq_n_f32(0);
    if (n > 0)
        v = vld1q_lane_f32(at, v, 0);
    if (n > 1)
        v = vld1q_lane_f32(at + 1, v, 1);
    if (n > 2)
        v = vld1q_lane_f32(at + 2, v, 2);
    return v;
}
SIMD_INLINE void vec_store(float *at, vec v)
{
    vst1q_f32(at, v);
}
SIMD_INLINE void vec_store_part(float *at, vec v, size_t n)
{
    if (n > 0)
        vst1q_lane_f32(at, v, 0);
    if (n > 1)
        vst1q_lane_f32(at + 1, v, 1);
    if (n > 2)
        vst1q_lane_f32(at + 2, v, 2);
}
SIMD_INLINE vec half_load(const uint16_t *at)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(at)));
}
SIMD_INLINE vec half_load_part(const uint16_t *at, size_t n)
{
    uint16_t halves[LANES] = {0};
    memcpy(halves, at, n * sizeof *at);
    return half_load(halves);
}
SIMD_INLINE vec byte_load(const int8_t *at)
{
    uint32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    int16x8_t words = vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(bytes)));
    return vcvtq_f32_s32(vmovl_s16(vget_low_s16(words)));
}
/* Nibbles of LANES bytes, minus 8. */
SIMD_INLINE void nibbles_load(const uint8_t *at, vec *low, vec *high)
{
    uint32_t four;
    memcpy(&four, at, sizeof four);
    uint16x8_t words = vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(four)));
    int32x4_t bytes = vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(words)));
    int32x4_t eight = vdupq_n_s32(8);
    *low = vcvtq_f32_s32(vsubq_s32(vandq_s32(bytes, vdupq_n_s32(15)), eight));
    *high = vcvtq_f32_s32(vsubq_s32(vshrq_n_s32(bytes, 4), eight));
}
SIMD_INLINE void half_store(uint16_t *at, vec v)
{
    vst1_u16(at, vreinterpret_u16_f16(vcvt_f16_f32(v)));
}
SIMD_INLINE void half_store_part(uint16_t *at, vec v, size_t n)
{
    uint16_t halves[LANES];
    half_store(halves, v);
    memcpy(at, halves, n * sizeof *at);
}
SIMD_INLINE vec vec_set(float value)
{
    return vdupq_n_f32(value);
}
SIMD_INLINE vec vec_add(vec a, vec b)
{
    return vaddq_f32(a, b);
}
SIMD_INLINE vec vec_sub(vec a, vec b)
{
    return vsubq_f32(a, b);
}
SIMD_INLINE vec vec_mul(vec a, vec b)
{
    return vmulq_f32(a, b);
}
SIMD_INLINE vec vec_div(vec a, vec b)
{
    return vdivq_f32(a, b);
}
/* a * b + c */
SIMD_INLINE vec vec_fma(vec a, vec b, vec c)
{
    return vfmaq_f32(c, a, b);
}
/* c - a * b */
SIMD_INLINE vec vec_fnma(vec a, vec b, vec c)
{
    return vfmsq_f32(c, a, b);
}
/* The larger one; b if either is NaN. (The instruction for it would give NaN.) */
SIMD_INLINE vec vec_max(vec a, vec b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}
SIMD_INLINE vec vec_min(vec a, vec b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}
SIMD_INLINE vec vec_round(vec a)
{
    return vrndnq_f32(a);
}
/* a * 2^n for whole n, |n| <= 252, in two steps so that each factor is a normal number */
SIMD_INLINE vec vec_scale(vec a, vec n)
{
    const int32x4_t bias = vdupq_n_s32(127);
    int32x4_t power = vcvtq_s32_f32(n);
    int32x4_t first = vshrq_n_s32(power, 1), second = vsubq_s32(power, first);
    a = vmulq_f32(a, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(first, bias), 23)));
    return vmulq_f32(a, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(second, bias), 23)));
}
/* a * 2^n for whole n, where both numbers and the result are normal; NaN stays NaN */
SIMD_INLINE vec vec_scale_normal(vec a, vec n)
{
    int32x4_t power = vshlq_n_s32(vcvtq_s32_f32(n), 23);
    return vreinterpretq_f32_s32(vaddq_s32(vreinterpretq_s32_f32(a), power));
}
SIMD_INLINE float vec_sum(vec a)
{
    return vaddvq_f32(a);
}
SIMD_INLINE float vec_largest(vec a)
{
    return vmaxvq_f32(a);
}
/* a > b ? yes : no, NaN counts as not greater */
SIMD_INLINE vec vec_if_greater(vec a, vec b, vec yes, vec no)
{
    return vbslq_f32(vcgtq_f32(a, b), yes, no);
}
SIMD_INLINE vec_int int_if_greater(vec a, vec b, vec_int yes, vec_int no)
{
    return vbslq_s32(vcgtq_f32(a, b), yes, no);
}
SIMD_INLINE vec_int int_set(int32_t value)
{
    return vdupq_n_s32(value);
}
SIMD_INLINE void int_store(int32_t *at, vec_int v)
{
    vst1q_s32(at, v);
}
/* Splits 2 * LANES floats into those of even and of odd index. */
SIMD_INLINE void vec_unzip(const float *at, vec *even, vec *odd)
{
    float32x4x2_t both = vld2q_f32(at);
    *even = both.val[0];
    *odd = both.val[1];
}
SIMD_INLINE vec vec_even_twice(vec a)
{
    return vtrn1q_f32(a, a);
}
SIMD_INLINE vec vec_odd_twice(vec a)
{
    return vtrn2q_f32(a, a);
}
SIMD_INLINE vec vec_swap_pairs(vec a)
{
    return vrev64q_f32(a);
}
/* a * b - c in even lanes, a * b + c in odd lanes */
SIMD_INLINE vec vec_fmaddsub(vec a, vec b, vec c)
{
    const uint32x4_t even_sign = vreinterpretq_u32_u64(vdupq_n_u64(0x80000000u));
    vec signed_c = vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(c), even_sign));
    return vfmaq_f32(signed_c, a, b);
}

#endif

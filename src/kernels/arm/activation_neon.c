/* Preparation of activations with NEON. activation.h has the layouts and the rule. */
#include <arm_neon.h>

#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/variants.h"

/* Bits of the largest magnitude: as integers, magnitudes are ordered like the floats, with infinity
 * and NaN on top. n is a multiple of 4. */
static uint32_t largest_magnitude(const float *x, size_t n)
{
    const uint32x4_t magnitude = vdupq_n_u32(0x7fffffff);
    uint32x4_t bits = vdupq_n_u32(0);
    for (size_t i = 0; i < n; i += 4)
        bits = vmaxq_u32(bits, vandq_u32(vreinterpretq_u32_f32(vld1q_f32(x + i)), magnitude));
    return vmaxvq_u32(bits);
}

static int16x4_t quantize_4(const float *x, float inverse)
{
    return vqmovn_s32(vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(x), inverse)));
}

/* Sixteen quants. With inverse 0 an infinity becomes NaN, which converts to 0 like all others. */
static int8x16_t quantize_16(const float *x, float inverse)
{
    int16x8_t low = vcombine_s16(quantize_4(x, inverse), quantize_4(x + 4, inverse));
    int16x8_t high = vcombine_s16(quantize_4(x + 8, inverse), quantize_4(x + 12, inverse));
    return vcombine_s8(vqmovn_s16(low), vqmovn_s16(high));
}

/* Sums of each four quants, four lanes. */
static int32x4_t sum_fours(int8x16_t quants)
{
    return vpaddlq_s16(vpaddlq_s8(quants));
}

static void prepare_32(const float *x, size_t cols, uint8_t *out)
{
    if (cols % ACT32_GROUP)
        memset(out + cols / ACT32_GROUP * ACT32_BYTES, 0, ACT32_BYTES);
    for (size_t c = 0; c < cols; c += BLOCK_32) {
        uint8_t *at = out + c / ACT32_GROUP * ACT32_BYTES + c % ACT32_GROUP / BLOCK_32 * 16;
        float inverse;
        float scale = activation_scale(largest_magnitude(x + c, BLOCK_32), &inverse);
        int8x16_t low = quantize_16(x + c, inverse), high = quantize_16(x + c + 16, inverse);
        int32x4_t sums = vshlq_n_s32(vaddq_s32(sum_fours(low), sum_fours(high)), 3);
        vst1q_s8((void *)at, low);
        vst1q_s8((void *)(at + ACT32_HIGH_AT), high);
        vst1q_s32((void *)(at + ACT32_BIAS_AT), vnegq_s32(sums));
        vst1q_f32((void *)(at + ACT32_SCALE_AT), vdupq_n_f32(scale));
    }
}

static void prepare_256(const float *x, size_t cols, uint8_t *out)
{
    for (size_t c = 0; c < cols; c += SUPER_BLOCK, x += SUPER_BLOCK, out += ACT256_BYTES) {
        float inverse;
        float scale = activation_scale(largest_magnitude(x, SUPER_BLOCK), &inverse);
        memset(out + ACT256_SCALE_AT, 0, ACT256_BYTES - ACT256_SCALE_AT);
        memcpy(out + ACT256_SCALE_AT, &scale, sizeof scale);
        for (size_t i = 0; i < SUPER_BLOCK; i += 64) {
            int32x4_t sums[4];
            for (size_t j = 0; j < 4; j++) {
                int8x16_t quants = quantize_16(x + i + 16 * j, inverse);
                vst1q_s8((void *)(out + i + 16 * j), quants);
                sums[j] = sum_fours(quants);
            }
            int32x4_t four = vpaddq_s32(vpaddq_s32(sums[0], sums[1]), vpaddq_s32(sums[2], sums[3]));
            vst1q_f32((void *)(out + ACT256_SUMS_AT + i / 4),
                      vmulq_n_f32(vcvtq_f32_s32(four), scale));
            vst1_s16((void *)(out + ACT256_TOTALS_AT + i / 8), vmovn_s32(four));
        }
    }
}

void activation_prepare_neon(enum activation_form form, const float *x, size_t cols, void *out)
{
    if (form == ACTIVATION_Q8_32)
        prepare_32(x, cols, out);
    else if (form == ACTIVATION_Q8_256)
        prepare_256(x, cols, out);
    else
        activation_prepare_ref(form, x, cols, out);
}

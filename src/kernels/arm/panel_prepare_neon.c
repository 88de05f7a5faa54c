/* Makes panels of sixteen rows of activations. panel_neon.h has the layouts. It takes no more than
 * NEON to make the panels of every kind of ARM processor. */
#include <arm_neon.h>

#include "base/core/assertion.h"
#include "kernels/arm/panel_neon.h"
#include "kernels/formats.h"
#include "kernels/tiles.h"
#include "kernels/variants.h"

/* Sixteen quants of one token to column `col` of a panel. */
TILE_INLINE void store_16(int8x16_t quants, size_t group, size_t col, size_t token, uint8_t *out)
{
    int8_t *to = (int8_t *)out + KERNELS_PANEL_TOKENS * col + group * token;
    if (group == 16) {
        vst1q_s8(to, quants);
    } else {
        vst1_s8(to, vget_low_s8(quants));
        vst1_s8(to + KERNELS_PANEL_TOKENS * 8, vget_high_s8(quants));
    }
}

/* A float of one token to an array of a panel. */
TILE_INLINE void store_float(float value, size_t group, size_t token, uint8_t *out)
{
    float *to = (float *)(void *)out;
    if (group == 16) {
        to[token] = value;
    } else {
        to += token / 2 * 4 + token % 2 * 2;
        to[0] = value;
        to[1] = value;
    }
}

TILE_INLINE size_t floats_bytes(size_t group)
{
    return group == 16 ? PANEL_FLOATS : PANEL_FLOATS_PAIRED;
}

TILE_INLINE void store_block_32(const uint8_t *row, size_t group, size_t token, uint8_t *out)
{
    const float scale = load_f32(row + ACT32_SCALE_AT);
    int32_t bias = vaddvq_s32(vld1q_s32((const void *)(row + ACT32_BIAS_AT)));
    store_16(vld1q_s8((const void *)row), group, 0, token, out);
    store_16(vld1q_s8((const void *)(row + ACT32_HIGH_AT)), group, 16, token, out);
    store_float(scale, group, token, out + PANEL32_FLOATS_AT);
    store_float((float)bias * scale, group, token, out + PANEL32_FLOATS_AT + floats_bytes(group));
}

/* The high and the low parts of sums, in bytes. */
TILE_INLINE int8x8_t high_parts(int16x8_t sums)
{
    return vshrn_n_s16(sums, PANEL_SUMS_BITS);
}

TILE_INLINE int8x8_t low_parts(int16x8_t sums)
{
    return vmovn_s16(vandq_s16(sums, vdupq_n_s16((1 << PANEL_SUMS_BITS) - 1)));
}

TILE_INLINE void store_block_256(const uint8_t *row, size_t group, size_t token, uint8_t *out)
{
    for (size_t c = 0; c < SUPER_BLOCK; c += 16)
        store_16(vld1q_s8((const void *)(row + c)), group, c, token, out);
    int16x8_t first = vld1q_s16((const void *)(row + ACT256_TOTALS_AT));
    int16x8_t second = vld1q_s16((const void *)(row + ACT256_TOTALS_AT + 16));
    int16x8_t sums = vpaddq_s16(first, second);
    store_16(vcombine_s8(high_parts(sums), low_parts(sums)), group, PANEL256_SUMS32, token, out);
    store_16(vcombine_s8(high_parts(first), high_parts(second)), group, PANEL256_SUMS16, token,
             out);
    store_16(vcombine_s8(low_parts(first), low_parts(second)), group, PANEL256_SUMS16 + 16, token,
             out);
    store_float(load_f32(row + ACT256_SCALE_AT), group, token, out + PANEL256_SCALE_AT);
}

TILE_INLINE void prepare(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                         size_t tokens, size_t group, uint8_t *out)
{
    _Alignas(16) uint8_t row[ACT256_BYTES]; /* one group or super-block of a token */
    const size_t step = form == ACTIVATION_Q8_32 ? ACT32_GROUP : SUPER_BLOCK;
    const size_t bytes = form == ACTIVATION_Q8_32 ? PANEL32_FLOATS_AT + 2 * floats_bytes(group)
                                                  : PANEL256_SCALE_AT + floats_bytes(group);
    const size_t block_cols = form == ACTIVATION_Q8_32 ? BLOCK_32 : SUPER_BLOCK;
    ASSERT(form == ACTIVATION_Q8_32 || form == ACTIVATION_Q8_256);
    ASSERT(tokens <= KERNELS_PANEL_TOKENS);
    if (tokens < KERNELS_PANEL_TOKENS)
        memset(out, 0, cols / block_cols * bytes);
    for (size_t c = 0; c < cols; c += step) {
        const size_t count = cols - c < step ? cols - c : step;
        uint8_t *to = out + c / block_cols * bytes;
        for (size_t t = 0; t < tokens; t++) {
            activation_prepare_neon(form, x + t * x_stride + c, count, row);
            if (form == ACTIVATION_Q8_256)
                store_block_256(row, group, t, to);
            for (size_t b = 0; form == ACTIVATION_Q8_32 && b < count / BLOCK_32; b++)
                store_block_32(row + 16 * b, group, t, to + b * bytes);
        }
    }
}

void panel_prepare_neon(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                        size_t tokens, void *out)
{
    prepare(form, x, x_stride, cols, tokens, 16, out);
}

void panel_prepare_i8mm(enum activation_form form, const float *x, size_t x_stride, size_t cols,
                        size_t tokens, void *out)
{
    prepare(form, x, x_stride, cols, tokens, 8, out);
}

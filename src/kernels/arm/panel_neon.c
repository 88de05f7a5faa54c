/* Products of many tokens with NEON, for processors without dot product instructions. The loops are
 * in panel_neon_body.h.
 *
 * Sixteen products take three instructions (smull, smlal2, sadalp) and end in four lanes. So each
 * row and token has a register of its own, and those of four rows are summed up into one. */
#include <arm_neon.h>

#include "kernels/arm/panel_neon.h"
#include "kernels/tiles.h"

#define PANEL_VARIANT matmul_panels_neon

enum {
    UNIT_ROWS = 4,
    UNIT_TOKENS = 1,
    TILE_UNITS = 1, /* 16 registers of a row and token, 4 of float sums, 4 of weights */
    WIDE = 4,
    NARROW = 4
};

TILE_INLINE void store_weights(const int8x16_t rows[4], int8_t *to)
{
#pragma GCC unroll 4
    for (size_t r = 0; r < 4; r++)
        vst1q_s8(to + 16 * r, rows[r]);
}

/* The columns [begin, end) of sixteen. Products of two bytes are at most 128 * 127: two of them fit
 * 16 bits. */
TILE_INLINE int16x8_t multiply_16(int8x16_t w, int8x16_t x, size_t begin, size_t end)
{
    if (begin >= 8)
        return vmull_high_s8(w, x);
    int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x));
    return end <= 8 ? low : vmlal_high_s8(low, w, x);
}

TILE_INLINE void add_dots(const int8_t *weights, const int8_t *panel, size_t begin, size_t end,
                          int width, int32x4_t sums[TILE_UNITS][WIDE])
{
    int32x4_t lanes[WIDE][4];
#pragma GCC unroll 4
    for (int t = 0; t < width; t++)
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++)
            lanes[t][r] = vdupq_n_s32(0);
#pragma GCC unroll 2
    for (size_t c = begin / 16 * 16; c < end; c += 16) {
        int8x16_t w[4];
#pragma GCC unroll 4
        for (size_t r = 0; r < 4; r++)
            w[r] = vld1q_s8(weights + 4 * c + 16 * r);
#pragma GCC unroll 4
        for (int t = 0; t < width; t++) {
            int8x16_t x = vld1q_s8(panel + 16 * (c + (size_t)t));
#pragma GCC unroll 4
            for (size_t r = 0; r < 4; r++)
                lanes[t][r] = vpadalq_s16(lanes[t][r], multiply_16(w[r], x, begin, end - c));
        }
    }
#pragma GCC unroll 4
    for (int t = 0; t < width; t++)
        sums[0][t] = vaddq_s32(sums[0][t], vpaddq_s32(vpaddq_s32(lanes[t][0], lanes[t][1]),
                                                      vpaddq_s32(lanes[t][2], lanes[t][3])));
}

#include "kernels/arm/panel_neon_body.h"

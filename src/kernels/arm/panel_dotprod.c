/* Products of many tokens with NEON and its dot product instructions (Armv8.2 and later). The loops
 * are in panel_neon_body.h.
 *
 * The weights of eight rows lie side by side, four columns each. `sdot` multiplies them with four
 * columns of one token, which it takes from a register of sixteen. So nothing is shuffled, and each
 * load serves four or more products. */
#include <arm_neon.h>

#include "kernels/arm/panel_neon.h"
#include "kernels/tiles.h"

#define PANEL_VARIANT matmul_panels_dotprod

enum {
    UNIT_ROWS = 4,
    UNIT_TOKENS = 1,
    TILE_UNITS = 2, /* 12 registers of products, 12 of sums, 6 of tokens and one of weights */
    WIDE = 6,
    NARROW = 4
};

TILE_INLINE void store_weights(const int8x16_t rows[4], int8_t *to)
{
    int32x4_t a = vreinterpretq_s32_s8(rows[0]), b = vreinterpretq_s32_s8(rows[1]);
    int32x4_t c = vreinterpretq_s32_s8(rows[2]), d = vreinterpretq_s32_s8(rows[3]);
    int64x2_t ab[2] = {vreinterpretq_s64_s32(vzip1q_s32(a, b)),
                       vreinterpretq_s64_s32(vzip2q_s32(a, b))};
    int64x2_t cd[2] = {vreinterpretq_s64_s32(vzip1q_s32(c, d)),
                       vreinterpretq_s64_s32(vzip2q_s32(c, d))};
#pragma GCC unroll 2
    for (size_t half = 0; half < 2; half++) {
        vst1q_s8(to + 64 * half, vreinterpretq_s8_s64(vzip1q_s64(ab[half], cd[half])));
        vst1q_s8(to + 64 * half + 32, vreinterpretq_s8_s64(vzip2q_s64(ab[half], cd[half])));
    }
}

/* Columns 4 * four .. 4 * four + 3 of sixteen. `four` must be a literal. */
#define ADD_FOUR(four)                                                           \
    {                                                                            \
        int8x16_t w[TILE_UNITS]; /* loaded in pairs */                           \
        _Pragma("GCC unroll 2") for (size_t u = 0; u < TILE_UNITS; u++) w[u] =   \
            vld1q_s8(weights + 8 * (c + 4 * (four)) + 16 * u);                   \
        _Pragma("GCC unroll 2") for (size_t u = 0; u < TILE_UNITS; u++)          \
            _Pragma("GCC unroll 6") for (int t = 0; t < width; t++) sums[u][t] = \
                vdotq_laneq_s32(sums[u][t], w[u], x[t], four);                   \
    }

TILE_INLINE void add_dots(const int8_t *weights, const int8_t *panel, size_t begin, size_t end,
                          int width, int32x4_t sums[TILE_UNITS][WIDE])
{
#pragma GCC unroll 2
    for (size_t c = begin / 16 * 16; c < end; c += 16) {
        int8x16_t x[WIDE];
#pragma GCC unroll 6
        for (int t = 0; t < width; t++)
            x[t] = vld1q_s8(panel + 16 * (c + (size_t)t));
        if (c + 0 >= begin && c + 0 < end)
            ADD_FOUR(0)
        if (c + 4 >= begin && c + 4 < end)
            ADD_FOUR(1)
        if (c + 8 >= begin && c + 8 < end)
            ADD_FOUR(2)
        if (c + 12 >= begin && c + 12 < end)
            ADD_FOUR(3)
    }
}

#include "kernels/arm/panel_neon_body.h"

/* Products of many tokens with NEON and its matrix instructions for bytes (an option of Armv8.2,
 * part of Armv8.6). The loops are in panel_neon_body.h.
 *
 * `smmla` multiplies two tokens by two rows, eight columns each: 32 products, twice as many as
 * `sdot`. The weights of eight rows lie side by side, eight columns each, and so do the tokens. */
#include <arm_neon.h>

#include "kernels/arm/panel_neon.h"
#include "kernels/tiles.h"

#define PANEL_VARIANT matmul_panels_i8mm

enum {
    UNIT_ROWS = 2,
    UNIT_TOKENS = 2,
    TILE_UNITS = 4, /* 12 registers of products, 12 of sums, 3 of tokens and one of weights */
    WIDE = 3,
    NARROW = 2
};

TILE_INLINE void store_weights(const int8x16_t rows[4], int8_t *to)
{
    int64_t *eights = (int64_t *)(void *)to;
#pragma GCC unroll 2
    for (size_t pair = 0; pair < 2; pair++) {
        int64x2_t a = vreinterpretq_s64_s8(rows[2 * pair]);
        int64x2_t b = vreinterpretq_s64_s8(rows[2 * pair + 1]);
        vst1q_s64(eights + 2 * pair, vzip1q_s64(a, b));
        vst1q_s64(eights + 8 + 2 * pair, vzip2q_s64(a, b));
    }
}

TILE_INLINE void add_dots(const int8_t *weights, const int8_t *panel, size_t begin, size_t end,
                          int width, int32x4_t sums[TILE_UNITS][WIDE])
{
#pragma GCC unroll 4
    for (size_t c = begin; c < end; c += 8) {
        int8x16_t x[WIDE], w[TILE_UNITS]; /* loaded in pairs */
#pragma GCC unroll 3
        for (int t = 0; t < width; t++)
            x[t] = vld1q_s8(panel + 16 * (c + (size_t)t));
#pragma GCC unroll 4
        for (size_t u = 0; u < TILE_UNITS; u++)
            w[u] = vld1q_s8(weights + 8 * c + 16 * u);
#pragma GCC unroll 4
        for (size_t u = 0; u < TILE_UNITS; u++)
#pragma GCC unroll 3
            for (int t = 0; t < width; t++)
                sums[u][t] = vmmlaq_s32(sums[u][t], x[t], w[u]);
    }
}

#include "kernels/arm/panel_neon_body.h"

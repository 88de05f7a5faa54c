/* Matrix products with NEON and its dot product instructions (Armv8.2 and later). The loops are in
 * matmul_neon_body.h. */
#include <arm_neon.h>

#include "kernels/tiles.h"

#define MATMUL_VARIANT matmul_dotprod

enum { BLOCKS_UNROLLED = 8 };

TILE_INLINE int32x4_t dot_16(int32x4_t acc, int8x16_t w, int8x16_t x)
{
    return vdotq_s32(acc, w, x);
}

TILE_INLINE int32x4_t dot_fours(int32x4_t acc, int8x16_t w, int8x16_t x, int lane)
{
    switch (lane) {
    case 0:
        return vdotq_laneq_s32(acc, w, x, 0);
    case 1:
        return vdotq_laneq_s32(acc, w, x, 1);
    case 2:
        return vdotq_laneq_s32(acc, w, x, 2);
    default:
        return vdotq_laneq_s32(acc, w, x, 3);
    }
}

#include "kernels/arm/matmul_neon_body.h"

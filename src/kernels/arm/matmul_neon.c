/* Matrix products with NEON, for processors without dot product instructions. The loops are in
 * matmul_neon_body.h. */
#include <arm_neon.h>

#include "kernels/tiles.h"

#define MATMUL_VARIANT matmul_neon

enum { BLOCKS_UNROLLED = 1 }; /* old processors: small code rather than the last few percent */

/* Products of two bytes are at most 128 * 127: two of them fit 16 bits. */
TILE_INLINE int32x4_t dot_16(int32x4_t acc, int8x16_t w, int8x16_t x)
{
    return vpadalq_s16(acc, vmlal_high_s8(vmull_s8(vget_low_s8(w), vget_low_s8(x)), w, x));
}

TILE_INLINE int32x4_t dot_fours(int32x4_t acc, int8x16_t w, int8x16_t x, int lane)
{
    int32x4_t words = vreinterpretq_s32_s8(x);
    int8x8_t four = vreinterpret_s8_s32(vdup_lane_s32(vget_low_s32(words), 0));
    if (lane == 1)
        four = vreinterpret_s8_s32(vdup_lane_s32(vget_low_s32(words), 1));
    if (lane == 2)
        four = vreinterpret_s8_s32(vdup_lane_s32(vget_high_s32(words), 0));
    if (lane == 3)
        four = vreinterpret_s8_s32(vdup_lane_s32(vget_high_s32(words), 1));
    int16x8_t first = vmull_s8(vget_low_s8(w), four), second = vmull_s8(vget_high_s8(w), four);
    return vpadalq_s16(acc, vpaddq_s16(first, second));
}

#include "kernels/arm/matmul_neon_body.h"

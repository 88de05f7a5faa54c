/* Matrix products with NEON, for processors without dot product instructions. The loops are in
 * matmul_neon_body.h. */
#include <arm_neon.h>

#include "kernels/tiles.h"

#define MATMUL_VARIANT matmul_neon

enum { BLOCKS_UNROLLED = 1 }; /* old processors: small code rather than the last few percent */

/* Products of two bytes are at most 128 * 127: two of them fit 16 bits. */
TILE_INLINE int32x4_t dot_16(int32x4_t acc, int8x16_t w, int8x16_t x)
{
    int16x8_t low = vmull_s8(vget_low_s8(w), vget_low_s8(x));
    int16x8_t high = vmull_high_s8(w, x);
    return vpadalq_s16(acc, vpaddq_s16(low, high));
}

#include "kernels/matmul_neon_body.h"

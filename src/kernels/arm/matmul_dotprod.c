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

#include "kernels/arm/matmul_neon_body.h"

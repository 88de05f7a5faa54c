/* Without dot product instructions sixteen int8 products take three instructions (smull, smlal2,
 * sadalp). Only the multiplications and additions of the products are counted. */
#include "kernels/peak_loops.h"

#include <arm_neon.h>

/* More chains than latency times ports, so that only the ports bound it: 4 cycles, 2 to 4 ports. */
#define CHAINS 16

uint64_t peak_int8_neon(uint64_t rounds)
{
    int32x4_t sums[CHAINS];
    int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(1);
    for (int i = 0; i < CHAINS; i++)
        sums[i] = vdupq_n_s32(i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++) {
            /* Each chain needs its own product; otherwise the compiler computes only one. */
            __asm__ volatile("" : "+w"(b));
            int16x8_t low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
            sums[i] = vpadalq_s16(sums[i], vmlal_high_s8(low, a, b));
        }
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "w"(sums[i]));
    return rounds * CHAINS * sizeof a * 2;
}

uint64_t peak_float_neon(uint64_t rounds)
{
    float32x4_t sums[CHAINS], a = vdupq_n_f32(0.5f), b = vdupq_n_f32(1.0f);
    for (int i = 0; i < CHAINS; i++)
        sums[i] = vdupq_n_f32((float)i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++)
            sums[i] = vfmaq_f32(sums[i], a, b);
        /* Keeps the compiler from merging the rounds. */
        __asm__ volatile("" : "+w"(a), "+w"(b));
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "w"(sums[i]));
    return rounds * CHAINS * sizeof a / sizeof(float) * 2;
}

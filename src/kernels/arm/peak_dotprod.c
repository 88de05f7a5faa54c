/* The peak of NEON's int8 dot product instruction. */
#include "kernels/peak_loops.h"

#include <arm_neon.h>

#define CHAINS 16 /* as in peak_neon.c */

uint64_t peak_int8_dotprod(uint64_t rounds)
{
    int32x4_t sums[CHAINS];
    int8x16_t a = vdupq_n_s8(3), b = vdupq_n_s8(1);
    for (int i = 0; i < CHAINS; i++)
        sums[i] = vdupq_n_s32(i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 16
        for (int i = 0; i < CHAINS; i++)
            sums[i] = vdotq_s32(sums[i], a, b);
        /* Keeps the compiler from merging the rounds. */
        __asm__ volatile("" : "+w"(a), "+w"(b));
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "w"(sums[i]));
    return rounds * CHAINS * sizeof a * 2;
}

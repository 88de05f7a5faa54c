/* The peak of AVX-VNNI's vpdpbusd, on 256 bits. */
#include "kernels/peak_loops.h"

#include <immintrin.h>

#define CHAINS 12 /* as in peak_avx2.c */

uint64_t peak_int8_avxvnni(uint64_t rounds)
{
    __m256i sums[CHAINS], a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(1);
    for (int i = 0; i < CHAINS; i++)
        sums[i] = _mm256_set1_epi32(i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sums[i] = _mm256_dpbusd_avx_epi32(sums[i], a, b);
        /* Keeps the compiler from merging the rounds. */
        __asm__ volatile("" : "+x"(a), "+x"(b));
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "x"(sums[i]));
    return rounds * CHAINS * sizeof a * 2;
}

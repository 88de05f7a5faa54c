/* The peak of VNNI's vpdpbusd and of the fused multiply-add, on 512 bits. */
#include "kernels/peak_loops.h"

#include <immintrin.h>

/* More chains than latency times ports, so that only the ports bound it: 4 or 5 cycles, 2 ports. */
#define CHAINS 12

uint64_t peak_int8_avx512(uint64_t rounds)
{
    __m512i sums[CHAINS], a = _mm512_set1_epi8(3), b = _mm512_set1_epi8(1);

    for (int i = 0; i < CHAINS; i++)
        sums[i] = _mm512_set1_epi32(i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sums[i] = _mm512_dpbusd_epi32(sums[i], a, b);
        /* Keeps the compiler from merging the rounds. */
        __asm__ volatile("" : "+v"(a), "+v"(b));
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "v"(sums[i]));
    return rounds * CHAINS * sizeof a * 2;
}

uint64_t peak_float_avx512(uint64_t rounds)
{
    __m512 sums[CHAINS], a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(1.0f);
    for (int i = 0; i < CHAINS; i++)
        sums[i] = _mm512_set1_ps((float)i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sums[i] = _mm512_fmadd_ps(sums[i], a, b);
        __asm__ volatile("" : "+v"(a), "+v"(b));
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "v"(sums[i]));
    return rounds * CHAINS * sizeof a / sizeof(float) * 2;
}

/* Without VNNI an int8 product takes two instructions (vpmaddubsw, vpaddw) as long as sums fit 16
 * bits, which those of four-bit weights do for a while. Only the multiplications and additions of
 * the product are counted. */
#include "kernels/peak_loops.h"

#include <immintrin.h>

/* More chains than latency times ports, so that only the ports bound it: 4 or 5 cycles, 2 ports. */
#define CHAINS 12

uint64_t peak_int8_avx2(uint64_t rounds)
{
    __m256i sums[CHAINS], a = _mm256_set1_epi8(3), b = _mm256_set1_epi8(1);
    for (int i = 0; i < CHAINS; i++)
        sums[i] = _mm256_set1_epi32(i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++) {
            /* Each chain needs its own product; otherwise the compiler computes only one. */
            __asm__ volatile("" : "+x"(b));
            sums[i] = _mm256_add_epi16(sums[i], _mm256_maddubs_epi16(a, b));
        }
        /* Keeps the compiler from merging the rounds. */
        __asm__ volatile("" : "+x"(a), "+x"(b));
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "x"(sums[i]));
    return rounds * CHAINS * sizeof a * 2;
}

uint64_t peak_float_avx2(uint64_t rounds)
{
    __m256 sums[CHAINS], a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(1.0f);
    for (int i = 0; i < CHAINS; i++)
        sums[i] = _mm256_set1_ps((float)i);
    for (uint64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < CHAINS; i++)
            sums[i] = _mm256_fmadd_ps(sums[i], a, b);
        __asm__ volatile("" : "+x"(a), "+x"(b));
    }
    for (int i = 0; i < CHAINS; i++)
        __asm__ volatile("" : : "x"(sums[i]));
    return rounds * CHAINS * sizeof a / sizeof(float) * 2;
}

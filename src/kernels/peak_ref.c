/* The reference has no special instruction: plain loops, as the compiler translates them. */
#include "kernels/peak_loops.h"

#define LANES 64

uint64_t peak_int8_ref(uint64_t rounds)
{
    int8_t a[LANES], b[LANES];
    int32_t sums[LANES] = {0};
    for (int i = 0; i < LANES; i++)
        a[i] = (int8_t)i, b[i] = (int8_t)(LANES - i);
    for (uint64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < LANES; i++)
            sums[i] += a[i] * b[i] & 0xff;
        __asm__ volatile("" : : "r"(sums), "r"(a), "r"(b) : "memory");
    }
    return rounds * LANES * 2;
}

uint64_t peak_float_ref(uint64_t rounds)
{
    float a[LANES], sums[LANES] = {0};
    for (int i = 0; i < LANES; i++)
        a[i] = (float)i;
    for (uint64_t r = 0; r < rounds; r++) {
        for (int i = 0; i < LANES; i++)
            sums[i] = sums[i] * 0.5f + a[i];
        __asm__ volatile("" : : "r"(sums), "r"(a) : "memory");
    }
    return rounds * LANES * 2;
}

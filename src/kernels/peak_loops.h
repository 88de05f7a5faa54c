/* The loops of kernels_peak_int8 and kernels_peak_float, which peak_x86.c, peak_arm.c and
 * peak_plain.c choose from. */
#ifndef KERNELS_PEAK_LOOPS_H
#define KERNELS_PEAK_LOOPS_H

#include <stdint.h>

uint64_t peak_int8_ref(uint64_t rounds);
uint64_t peak_float_ref(uint64_t rounds);
uint64_t peak_int8_avx2(uint64_t rounds);
uint64_t peak_float_avx2(uint64_t rounds);
uint64_t peak_int8_avxvnni(uint64_t rounds);
uint64_t peak_int8_avx512(uint64_t rounds);
uint64_t peak_float_avx512(uint64_t rounds);
uint64_t peak_int8_neon(uint64_t rounds);
uint64_t peak_float_neon(uint64_t rounds);
uint64_t peak_int8_dotprod(uint64_t rounds);
uint64_t peak_int8_i8mm(uint64_t rounds);

#endif

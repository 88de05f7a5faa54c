/* Measures the most multiply-adds that a variant's instructions can do, to compare the kernels
 * with: loops of that instruction alone, on registers. No state; any thread. */
#ifndef KERNELS_PEAK_H
#define KERNELS_PEAK_H

#include "kernels/kernels.h"

/* Runs `rounds` of the variant's int8 (or float) multiply-add on independent accumulators. Returns
 * the number of operations; a multiply-add is 2. */
uint64_t kernels_peak_int8(const struct kernels *kernels, uint64_t rounds);
uint64_t kernels_peak_float(const struct kernels *kernels, uint64_t rounds);

#endif

/* The most multiply-adds a second that a variant's instructions could do, for measuring how near
 * its kernels come: nothing but the instruction itself, on registers. Any thread. */
#ifndef KERNELS_PEAK_H
#define KERNELS_PEAK_H

#include "kernels/kernels.h"

/* Runs `rounds` of the variant's int8 (or float) multiply-add over independent accumulators; gives
 * the number of operations (a multiply and an addition are 2). */
uint64_t kernels_peak_int8(const struct kernels *kernels, uint64_t rounds);
uint64_t kernels_peak_float(const struct kernels *kernels, uint64_t rounds);

#endif

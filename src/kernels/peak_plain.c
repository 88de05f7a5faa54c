/* Other processors: the plain loops of the reference. */
#include "kernels/peak.h"

#include "kernels/peak_loops.h"

uint64_t kernels_peak_int8(const struct kernels *kernels, uint64_t rounds)
{
    (void)kernels;
    return peak_int8_ref(rounds);
}

uint64_t kernels_peak_float(const struct kernels *kernels, uint64_t rounds)
{
    (void)kernels;
    return peak_float_ref(rounds);
}

/* Chooses the peak loop of a variant in an aarch64 build. */
#include "kernels/peak.h"

#include "kernels/peak_loops.h"
#include "kernels/variants.h"

uint64_t kernels_peak_int8(const struct kernels *kernels, uint64_t rounds)
{
    return kernels->matmul == matmul_dotprod ? peak_int8_dotprod(rounds)
           : kernels->matmul == matmul_neon  ? peak_int8_neon(rounds)
                                             : peak_int8_ref(rounds);
}

uint64_t kernels_peak_float(const struct kernels *kernels, uint64_t rounds)
{
    return kernels == &kernels_ref ? peak_float_ref(rounds) : peak_float_neon(rounds);
}

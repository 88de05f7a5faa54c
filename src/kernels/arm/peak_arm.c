/* Chooses the peak loop of a variant in an aarch64 build. */
#include "kernels/peak.h"

#include "kernels/peak_loops.h"
#include "kernels/variants.h"

uint64_t kernels_peak_int8(const struct kernels *kernels, uint64_t rounds)
{
    return kernels->matmul_panels == matmul_panels_i8mm      ? peak_int8_i8mm(rounds)
           : kernels->matmul_panels == matmul_panels_dotprod ? peak_int8_dotprod(rounds)
           : kernels->matmul_panels == matmul_panels_neon    ? peak_int8_neon(rounds)
                                                             : peak_int8_ref(rounds);
}

uint64_t kernels_peak_float(const struct kernels *kernels, uint64_t rounds)
{
    return kernels == &kernels_ref ? peak_float_ref(rounds) : peak_float_neon(rounds);
}

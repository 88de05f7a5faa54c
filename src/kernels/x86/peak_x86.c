/* Chooses the peak loop of a variant in an x86-64 build. */
#include "kernels/peak.h"

#include "kernels/peak_loops.h"
#include "kernels/variants.h"

uint64_t kernels_peak_int8(const struct kernels *kernels, uint64_t rounds)
{
    return kernels->matmul_panels == matmul_panels_avx512    ? peak_int8_avx512(rounds)
           : kernels->matmul_panels == matmul_panels_avxvnni ? peak_int8_avxvnni(rounds)
           : kernels->matmul_panels == matmul_panels_avx2    ? peak_int8_avx2(rounds)
                                                             : peak_int8_ref(rounds);
}

uint64_t kernels_peak_float(const struct kernels *kernels, uint64_t rounds)
{
    return kernels->matmul == matmul_avx512 ? peak_float_avx512(rounds)
           : kernels->matmul == matmul_avx2 ? peak_float_avx2(rounds)
                                            : peak_float_ref(rounds);
}

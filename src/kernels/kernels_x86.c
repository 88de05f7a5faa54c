/* Variants of an x86-64 build, and what the processor must have for each. */
#include <cpuid.h>

#include "kernels/variants.h"

/* __builtin_cpu_supports asks cpuid, and whether the system saves the wide registers. */
static bool has_avx2(void)
{
    unsigned eax, ebx, ecx = 0, edx;
    bool f16c =
        __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_F16C); /* clang < 17 lacks it */
    return f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vnni");
}

const struct kernels *kernels_variant(enum td_cpu cpu)
{
    __builtin_cpu_init();
    switch (cpu) {
    case TD_CPU_REF:
        return &kernels_ref;
    case TD_CPU_AVX2:
        return has_avx2() ? &kernels_avx2 : NULL;
    case TD_CPU_AVX512:
        return has_avx512() ? &kernels_avx512 : NULL;
    case TD_CPU_NEON:
        return NULL;
    case TD_CPU_AUTO:
        return has_avx512() ? &kernels_avx512 : has_avx2() ? &kernels_avx2 : &kernels_ref;
    }
    return NULL;
}

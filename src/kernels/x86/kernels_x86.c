/* Variants of an x86-64 build, and what the processor must have for each. AVX-VNNI comes with many
 * processors that have AVX2 and no AVX-512. For the user both are one variant, because they give
 * the same bits; only the panels' product differs. A processor without AVX2 has the reference. */
#include <cpuid.h>
#include <pthread.h>

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

/* Leaf 7, subleaf 1, EAX bit 4. Compilers of today know no name for it in all their versions. */
static bool has_avx_vnni(void)
{
    unsigned eax = 0, ebx, ecx, edx;
    return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax & 1u << 4);
}

static struct kernels best_avx2; /* written once */

static void fill_best_avx2(void)
{
    best_avx2 = kernels_avx2;
    if (has_avx_vnni()) {
        best_avx2.name = "avx2-vnni";
        best_avx2.panel_least = 9;
        best_avx2.matmul_panels = matmul_panels_avxvnni;
    }
}

static const struct kernels *avx2(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!has_avx2())
        return NULL;
    pthread_once(&once, fill_best_avx2);
    return &best_avx2;
}

const struct kernels *kernels_variant(enum td_cpu cpu)
{
    __builtin_cpu_init();
    switch (cpu) {
    case TD_CPU_REF:
        return &kernels_ref;
    case TD_CPU_AVX2:
        return avx2();
    case TD_CPU_AVX512:
        return has_avx512() ? &kernels_avx512 : NULL;
    case TD_CPU_NEON:
        return NULL;
    case TD_CPU_AUTO:
        return has_avx512() ? &kernels_avx512 : avx2() != NULL ? avx2() : &kernels_ref;
    }
    return NULL;
}

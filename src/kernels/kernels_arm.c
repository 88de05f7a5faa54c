/* Variants of an aarch64 build. Every such processor has NEON. The dot product instructions are an
 * option of Armv8.2, and nearly all processors since 2018 have them. For the user both are one
 * variant, because they give the same bits; only the matrix product differs. */
#include <asm/hwcap.h>
#include <pthread.h>
#include <sys/auxv.h>

#include "kernels/variants.h"

static struct kernels best; /* written once */

static void fill_best(void)
{
    best = kernels_neon;
    if (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) {
        best.name = "neon-dotprod";
        best.matmul = matmul_dotprod;
    }
}

const struct kernels *kernels_variant(enum td_cpu cpu)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    switch (cpu) {
    case TD_CPU_REF:
        return &kernels_ref;
    case TD_CPU_AUTO:
    case TD_CPU_NEON:
        pthread_once(&once, fill_best);
        return &best;
    case TD_CPU_AVX2:
    case TD_CPU_AVX512:
        return NULL;
    }
    return NULL;
}

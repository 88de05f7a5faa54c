/* Variants of an aarch64 build. NEON is part of every such processor; the dot product instructions
 * came with Armv8.2 (optional there) and are in nearly all that were made since 2018. To the user
 * the two are one variant, because they give the same bits: they differ in the product alone. */
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

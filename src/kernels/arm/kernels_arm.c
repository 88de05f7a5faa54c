/* Variants of an aarch64 build. Every such processor has NEON. The dot product instructions are an
 * option of Armv8.2, and nearly all processors since 2018 have them. The matrix instructions for
 * bytes (i8mm) came with Armv8.6; most phones and servers since 2022 have them. For the user all
 * are one variant, because they give the same bits; only the matrix products differ.
 *
 * SVE is not used: on the processors with 128-bit vectors, which are nearly all that have it, its
 * dot products do as much as NEON's. */
#include <asm/hwcap.h>
#include <pthread.h>
#include <sys/auxv.h>

#include "kernels/variants.h"

static struct kernels best; /* written once */

static void fill_best(void)
{
    best = kernels_neon;
    best.panel_forms = 1u << ACTIVATION_Q8_32 | 1u << ACTIVATION_Q8_256;
    best.panel_least = 9;
    best.panel_prepare = panel_prepare_neon;
    best.matmul_panels = matmul_panels_neon;
    if (!(getauxval(AT_HWCAP) & HWCAP_ASIMDDP))
        return;
    best.name = "neon-dotprod";
    best.matmul = matmul_dotprod;
    best.matmul_panels = matmul_panels_dotprod;
    if (!(getauxval(AT_HWCAP2) & HWCAP2_I8MM))
        return;
    best.name = "neon-i8mm";
    best.panel_prepare = panel_prepare_i8mm;
    best.matmul_panels = matmul_panels_i8mm;
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

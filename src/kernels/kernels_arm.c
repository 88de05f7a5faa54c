/* Variants of an aarch64 build. NEON is part of every such processor; the dot product instructions
 * came with Armv8.2 (optional) and are in all that were made since about 2018. The two are one
 * variant to the user: they give the same bits. */
#include <asm/hwcap.h>
#include <sys/auxv.h>

#include "kernels/variants.h"

const struct kernels *kernels_variant(enum td_cpu cpu)
{
    switch (cpu) {
    case TD_CPU_REF:
        return &kernels_ref;
    case TD_CPU_AUTO:
    case TD_CPU_NEON:
        return getauxval(AT_HWCAP) & HWCAP_ASIMDDP ? &kernels_dotprod : &kernels_neon;
    case TD_CPU_AVX2:
    case TD_CPU_AVX512:
        return NULL;
    }
    return NULL;
}

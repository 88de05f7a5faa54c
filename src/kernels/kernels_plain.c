/* Variants of a build for any other processor: the reference only. */
#include "kernels/variants.h"

const struct kernels *kernels_variant(enum td_cpu cpu)
{
    return cpu == TD_CPU_AUTO || cpu == TD_CPU_REF ? &kernels_ref : NULL;
}

/* Tensor types, sizes of activations, and the choice of a variant. */
#include "kernels/kernels.h"

#include "base/core/assertion.h"

#include <stdatomic.h>
#include <string.h>

#include "base/core/error.h"
#include "kernels/activation.h"
#include "kernels/blocks_low.h"
#include "kernels/formats.h"
#include "kernels/variants.h"

#define ROW(type, number, name, elements, bytes) [type] = {name, elements, bytes},
static const struct tensor_traits traits[TENSOR_TYPE_COUNT] = {TENSOR_TYPES(ROW)};

const struct tensor_traits *tensor_traits_get(uint32_t type)
{
    if (type >= TENSOR_TYPE_COUNT || traits[type].name == NULL)
        return NULL;
    return &traits[type];
}

enum activation_form activation_form_of(enum tensor_type type)
{
    if (block_low_has(type))
        return ACTIVATION_Q8_32;
    switch (traits[type].block_elements) {
    case BLOCK_32:
        return ACTIVATION_Q8_32;
    case SUPER_BLOCK:
        return ACTIVATION_Q8_256;
    default:
        return ACTIVATION_F32;
    }
}

size_t activation_form_bytes(enum activation_form form, size_t cols)
{
    ASSERT((unsigned)form < ACTIVATION_FORM_COUNT);
    switch (form) {
    case ACTIVATION_Q8_32:
        return (cols + ACT32_GROUP - 1) / ACT32_GROUP * ACT32_BYTES;
    case ACTIVATION_Q8_256:
        return (cols + SUPER_BLOCK - 1) / SUPER_BLOCK * ACT256_BYTES;
    default:
        return (cols + 15) / 16 * 16 * sizeof(float);
    }
}

const struct kernels *kernels_get(enum td_cpu cpu, struct td_error *err)
{
    /* Kept: in a virtual machine each question to the processor costs microseconds, and some ask
     * for each row. All threads find the same. */
    static _Atomic(const struct kernels *) best;
    const struct kernels *found = cpu == TD_CPU_AUTO ? atomic_load(&best) : NULL;
    if (found == NULL)
        found = kernels_variant(cpu);
    if (cpu == TD_CPU_AUTO)
        atomic_store(&best, found);
    if (found == NULL)
        error_set(err, TD_UNSUPPORTED,
                  "this CPU or this build lacks the %s kernels; use --cpu=auto",
                  cpu == TD_CPU_AVX512 ? "avx512 (F, BW, DQ, VL, VNNI)"
                  : cpu == TD_CPU_NEON ? "neon (aarch64)"
                                       : "avx2 (AVX2, FMA, F16C)");
    return found;
}

bool kernels_cpu_parse(const char *name, enum td_cpu *out)
{
    static const char *const names[] = {
        [TD_CPU_AUTO] = "auto",     [TD_CPU_REF] = "ref",   [TD_CPU_AVX2] = "avx2",
        [TD_CPU_AVX512] = "avx512", [TD_CPU_NEON] = "neon",
    };
    for (size_t i = 0; name != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            *out = (enum td_cpu)i;
            return true;
        }
    return false;
}

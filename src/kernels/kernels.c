/* Tensor types, sizes of activations, and the choice of a variant. */
#include "kernels/kernels.h"

#include "base/assertion.h"

#include <string.h>

#include "base/error.h"
#include "kernels/activation.h"
#include "kernels/formats.h"
#include "kernels/variants.h"

static const struct tensor_traits traits[TENSOR_TYPE_COUNT] = {
    [TENSOR_F32] = {"F32", 1, 4},
    [TENSOR_F16] = {"F16", 1, 2},
    [TENSOR_Q4_0] = {"Q4_0", BLOCK_32, Q4_0_BYTES},
    [TENSOR_Q4_1] = {"Q4_1", BLOCK_32, Q4_1_BYTES},
    [TENSOR_Q5_0] = {"Q5_0", BLOCK_32, Q5_0_BYTES},
    [TENSOR_Q5_1] = {"Q5_1", BLOCK_32, Q5_1_BYTES},
    [TENSOR_Q8_0] = {"Q8_0", BLOCK_32, Q8_0_BYTES},
    [TENSOR_Q2_K] = {"Q2_K", SUPER_BLOCK, Q2_K_BYTES},
    [TENSOR_Q3_K] = {"Q3_K", SUPER_BLOCK, Q3_K_BYTES},
    [TENSOR_Q4_K] = {"Q4_K", SUPER_BLOCK, Q4_K_BYTES},
    [TENSOR_Q5_K] = {"Q5_K", SUPER_BLOCK, Q5_K_BYTES},
    [TENSOR_Q6_K] = {"Q6_K", SUPER_BLOCK, Q6_K_BYTES},
    [TENSOR_IQ4_NL] = {"IQ4_NL", BLOCK_32, IQ4_NL_BYTES},
    [TENSOR_IQ4_XS] = {"IQ4_XS", SUPER_BLOCK, IQ4_XS_BYTES},
    [TENSOR_BF16] = {"BF16", 1, 2},
    [TENSOR_MXFP4] = {"MXFP4", BLOCK_32, MXFP4_BYTES},
};

const struct tensor_traits *tensor_traits_get(uint32_t type)
{
    if (type >= TENSOR_TYPE_COUNT || traits[type].name == NULL)
        return NULL;
    return &traits[type];
}

enum activation_form activation_form_of(enum tensor_type type)
{
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
    const struct kernels *found = kernels_variant(cpu);
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

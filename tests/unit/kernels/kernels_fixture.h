/* What the checkers of the kernels share: the variants of this CPU, and numbers from a seed. */
#ifndef TESTS_KERNELS_FIXTURE_H
#define TESTS_KERNELS_FIXTURE_H

#include "variants.h"

/* A linear congruential generator, its upper half (Knuth, MMIX's constants). */
static uint64_t random_state = 42;
static inline uint32_t random_u32(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* In [-1, 1). */
static inline float random_float(void)
{
    return (float)(int32_t)random_u32() * 0x1p-31f;
}

/* Calls `check` with each vector variant that this CPU has. */
#define with_variants(check) with_named_variants(check, #check)
static inline void with_named_variants(void (*check)(const struct kernels *), const char *name)
{
    for (const struct variant *v = variants; (v = variant_next(v, name)) != NULL;)
        check(kernels_get(v->cpu, NULL));
}

static inline const struct kernels *reference(void)
{
    return kernels_get(TD_CPU_REF, NULL);
}

#endif

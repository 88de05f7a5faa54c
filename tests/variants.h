/* The kernel variants that a build for this processor family has, and which of them this CPU has:
 * those that it lacks are named and counted as skipped. */
#ifndef TESTS_VARIANTS_H
#define TESTS_VARIANTS_H

#include "kernels/kernels.h"
#include "test.h"

struct variant {
    const char *name; /* as `--cpu` has it */
    enum td_cpu cpu;
    size_t lanes; /* floats of a vector */
};

/* The reference first, then upward. */
static const struct variant variants[] = {
    {"ref", TD_CPU_REF, 1},
#if defined(__x86_64__)
    {"avx2", TD_CPU_AVX2, 8},
    {"avx512", TD_CPU_AVX512, 16},
#elif defined(__aarch64__)
    {"neon", TD_CPU_NEON, 4},
#endif
};
enum { VARIANTS = sizeof variants / sizeof *variants };

/* The variant after `last` (NULL: the first) that this CPU has; NULL at the end. `what` would have
 * been checked with those that it lacks. */
static inline const struct variant *variant_next(const struct variant *last, const char *what)
{
    for (const struct variant *v = last ? last + 1 : variants; v < variants + VARIANTS; v++) {
        struct td_error err = {0};
        char name[128];
        if (kernels_get(v->cpu, &err) != NULL)
            return v;
        snprintf(name, sizeof name, "%s with %s", what, v->name);
        SKIP(name, err.message);
    }
    return NULL;
}

/* Of the variant behind a table. */
static inline size_t variant_lanes(const struct kernels *kernels)
{
    for (size_t i = 0; i < VARIANTS; i++)
        if (kernels_get(variants[i].cpu, NULL) == kernels)
            return variants[i].lanes;
    abort();
}

#endif

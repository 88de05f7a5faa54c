/* Rotary position embedding (RoFormer, Su et al. 2021): the angle of pair i at position p is p *
 * frequency[i]. Linear scaling, YaRN and Llama 3's factors only change the frequencies, so
 * rope_init applies them once. Immutable after rope_init; any thread. */
#ifndef ENGINE_ROPE_H
#define ENGINE_ROPE_H

#include "tandem/types.h"

#define ROPE_PAIRS_MAX 256

enum rope_scaling { ROPE_SCALING_NONE, ROPE_SCALING_LINEAR, ROPE_SCALING_YARN };

struct rope_options {
    uint32_t dimension_count; /* rotated elements of a head: even, at most 2 * ROPE_PAIRS_MAX */
    double base;
    enum rope_scaling scaling;
    double factor;             /* context extension, 1 = none */
    uint32_t original_context; /* YaRN: the context before the extension */
    /* YaRN's beta_fast and beta_slow (Peng et al. 2023, section 3.2). Pairs that turn more often
     * than turns_fast within the original context keep their frequency. Those that turn less often
     * than turns_slow are interpolated. turns_fast > turns_slow > 0. */
    double turns_fast, turns_slow;
    bool unrounded;                 /* the ramp's bounds are not rounded to whole pairs */
    double attention_factor;        /* extra factor on cos and sin; 1 = none */
    const float *frequency_factors; /* [dimension_count / 2] divisors (rope_freqs.weight) or NULL */
};

struct rope {
    uint32_t pair_count;
    double magnitude; /* factor on cos and sin */
    double frequency[ROPE_PAIRS_MAX];
};

void rope_init(struct rope *rope, const struct rope_options *options);
/* Writes the [pair_count] pairs (cos, sin) of one position. */
void rope_angles(const struct rope *rope, uint32_t position, float *cos_sin);

#endif

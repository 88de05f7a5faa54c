/* Computes the frequencies of rotary position embedding once for a model. Every published extension
 * of the context (linear, YaRN, Llama 3's factors, LongRoPE) only changes these numbers, so the
 * forward pass knows none of them. Computed in double: an error in a frequency grows with the
 * position. */
#include "engine/model/rope.h"

#include "base/core/assertion.h"

#include <math.h>

/* The number, with a fraction, of the pair that turns `turns` times within the original context. */
static double yarn_pair_of(const struct rope_options *options, double turns)
{
    const double tau = 6.283185307179586476925;
    return options->dimension_count * log(options->original_context / (turns * tau)) /
           (2.0 * log(options->base));
}

void rope_init(struct rope *rope, const struct rope_options *options)
{
    ASSERT(options->dimension_count % 2 == 0 && options->dimension_count <= 2 * ROPE_PAIRS_MAX);
    ASSERT(options->base > 0 && options->factor > 0);
    ASSERT(options->scaling != ROPE_SCALING_YARN || options->turns_fast > options->turns_slow);
    double scale = options->scaling == ROPE_SCALING_NONE ? 1.0 : 1.0 / options->factor;
    double low = 0, high = 0;
    rope->pair_count = options->dimension_count / 2;
    rope->magnitude = options->attention_factor;
    if (options->scaling == ROPE_SCALING_YARN) {
        low = yarn_pair_of(options, options->turns_fast);
        high = yarn_pair_of(options, options->turns_slow);
        low = fmax(0.0, options->unrounded ? low : floor(low));
        high = fmin(options->dimension_count - 1.0, options->unrounded ? high : ceil(high));
        rope->magnitude *= 1.0 + 0.1 * log(options->factor); /* YaRN, eq. 22 */
    }
    for (uint32_t i = 0; i < rope->pair_count; i++) {
        double frequency = pow(options->base, -2.0 * i / options->dimension_count);
        if (options->frequency_factors)
            frequency /= (double)options->frequency_factors[i];
        double keep = 0; /* share of the original frequency that the pair keeps */
        if (options->scaling == ROPE_SCALING_YARN)
            keep = 1.0 - fmin(1.0, fmax(0.0, (i - low) / fmax(0.001, high - low)));
        rope->frequency[i] = frequency * (scale * (1.0 - keep) + keep);
    }
}

void rope_angles(const struct rope *rope, uint32_t position, float *cos_sin)
{
    for (uint32_t i = 0; i < rope->pair_count; i++) {
        double sine, cosine;
        sincos(position * rope->frequency[i], &sine, &cosine);
        cos_sin[2 * i] = (float)(cosine * rope->magnitude);
        cos_sin[2 * i + 1] = (float)(sine * rope->magnitude);
    }
}

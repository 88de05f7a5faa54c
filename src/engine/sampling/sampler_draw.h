/* Draws a token from a row of logits: from all of them, from what the filters keep, or by mirostat.
 * One thread. */
#ifndef ENGINE_SAMPLER_DRAW_H
#define ENGINE_SAMPLER_DRAW_H

#include "engine/sampling/sampler.h"

/* Whether the choice is always the best token: below this temperature the second best has no
 * probability left in double precision. */
static inline bool sampler_is_greedy(const struct td_sampling *sampling)
{
    return sampling->temperature < 1e-4f && !(sampling->dynamic_range > 0);
}

/* stats: of the row as it is now, with a finite maximum. Advances the random numbers and mirostat's
 * state. Never returns a token whose logit is -INFINITY. */
int32_t sampler_draw(struct sampler *sampler, const struct sampler_row *row,
                     const struct logit_stats *stats);

#endif

/* Penalties that look back at prompt and answer: for tokens that were there, and for tokens that
 * would continue a repetition. The changed logits are recorded, so that repeat_restore can put them
 * back. One thread. */
#ifndef ENGINE_SAMPLER_REPEAT_H
#define ENGINE_SAMPLER_REPEAT_H

#include "engine/sampling/sampler.h"

/* Most changes of one choice: each of the two penalties changes each token of the history once. */
#define REPEAT_CHANGES_MAX (2 * SAMPLER_HISTORY_MAX)

struct repeat_changes {
    int32_t ids[REPEAT_CHANGES_MAX];
    float logits[REPEAT_CHANGES_MAX]; /* before the change */
    uint32_t count;
};

void repeat_apply(const struct sampler *sampler, float *logits, uint32_t vocab_count,
                  struct repeat_changes *changes);
void repeat_restore(float *logits, const struct repeat_changes *changes);

/* Whether a repetition ends with this token, the next one of the text: a breaker ends in it, or it
 * is a mark of the template. Call it once for each token, in order. The sampler must have a
 * tokenizer. */
bool repeat_is_broken_by(struct sampler *sampler, int32_t id);

#endif

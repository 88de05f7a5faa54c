/* Penalties that look back at the prompt and the answer alike: for tokens that were there, and for
 * tokens that would go on with a repetition. What is changed in the logits is noted, to be put
 * back. One thread. */
#ifndef ENGINE_SAMPLER_REPEAT_H
#define ENGINE_SAMPLER_REPEAT_H

#include "engine/sampling/sampler.h"

/* Most changes of one choice: a token of the history each, by each of the two penalties. */
#define REPEAT_CHANGES_MAX (2 * SAMPLER_HISTORY_MAX)

struct repeat_changes {
    int32_t ids[REPEAT_CHANGES_MAX];
    float logits[REPEAT_CHANGES_MAX]; /* before */
    uint32_t count;
};

void repeat_apply(const struct sampler *sampler, float *logits, uint32_t vocab_count,
                  struct repeat_changes *changes);
void repeat_restore(float *logits, const struct repeat_changes *changes);

/* Whether a repetition ends with this token, the next of the text: a breaker ends in it, or it is a
 * mark of the template. Asked once of each token, in order; the sampler has a tokenizer. */
bool repeat_is_broken_by(struct sampler *sampler, int32_t id);

#endif

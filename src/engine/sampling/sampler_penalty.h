/* What is added to logits before anything else: the request's biases, and penalties for tokens that
 * are in the answer already, as in OpenAI's reference ("Frequency and presence penalties"):
 *
 *     logit += bias - count * frequency_penalty - (count > 0) * presence_penalty
 *
 * The count is that in the answer; the prompt does not count. Tokens without bias and count cost
 * nothing. One thread. */
#ifndef ENGINE_SAMPLER_PENALTY_H
#define ENGINE_SAMPLER_PENALTY_H

#include "tandem/types.h"

struct penalty_entry {
    int32_t id;
    uint32_t count; /* in the answer */
    float bias;
    float before; /* the logit that penalty_restore puts back */
};

struct penalty {
    bool counts; /* a penalty is on, so tokens of the answer are counted */
    float presence, frequency;
    struct penalty_entry *entries; /* [count] */
    uint32_t count;
    uint32_t *slots; /* [mask + 1] open addressing by id: entry + 1; twice the room for entries */
    uint32_t mask;
};

TD_MUST_CHECK enum td_status penalty_init(struct penalty *penalty,
                                          const struct td_sampling *sampling, struct td_error *err);
void penalty_deinit(struct penalty *penalty);
/* Counts a token of the answer. Without memory it is not counted, which is no reason to stop. */
void penalty_count(struct penalty *penalty, int32_t id);
/* Changes the logits of all entries; true if it changed any. penalty_restore puts them back. */
bool penalty_apply(struct penalty *penalty, float *logits, uint32_t vocab_count);
void penalty_restore(const struct penalty *penalty, float *logits, uint32_t vocab_count);

#endif

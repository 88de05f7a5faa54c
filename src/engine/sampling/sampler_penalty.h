/* What is added to logits before anything else: the request's biases, and penalties for the tokens
 * of the answer so far. One list of the tokens concerned, so that a choice costs nothing for all
 * others.
 *
 *     logit += bias - count * frequency_penalty - (count > 0) * presence_penalty
 *
 * as in OpenAI's reference, "Frequency and presence penalties"; count is that of the answer, not
 * the prompt's. One thread. */
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
    bool counts; /* tokens of the answer are to be counted */
    float presence, frequency;
    struct penalty_entry *entries; /* [count] */
    uint32_t count;
    uint32_t
        *slots; /* open addressing by id: entry + 1; capacity a power of two, twice the entries' */
    uint32_t mask;
};

TD_MUST_CHECK enum td_status penalty_init(struct penalty *penalty,
                                          const struct td_sampling *sampling, struct td_error *err);
void penalty_deinit(struct penalty *penalty);
/* Notes a token of the answer; without memory it is not counted, which is no reason to stop. */
void penalty_count(struct penalty *penalty, int32_t id);
/* True when a logit was changed. */
bool penalty_apply(struct penalty *penalty, float *logits, uint32_t vocab_count);
void penalty_restore(const struct penalty *penalty, float *logits, uint32_t vocab_count);

#endif

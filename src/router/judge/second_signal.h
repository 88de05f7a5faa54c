/* A second opinion on an answer whose confidence alone does not say enough, from the same model:
 *
 *   p_true     The model is asked whether its answer is right, and the probability of "yes" beside
 *              "no" is read. One pass over some twenty tokens: question and answer are computed
 *              already (Kadavath et al. 2022, "Language Models (Mostly) Know What They Know",
 *              section 3).
 *   agreement  The question is answered k times more, in few tokens and at random. The value is the
 *              share that agrees with the answer (Manakul et al. 2023, "SelfCheckGPT").
 *
 * What it is worth beside the first signal belongs to a model, as the first one's worth does, so
 * `tandem calibrate` measures it:
 *
 *   log-odds(c') = bias + first * log-odds(c) + second * log-odds(s)
 *
 * Pure; any thread. */
#ifndef ROUTER_SECOND_SIGNAL_H
#define ROUTER_SECOND_SIGNAL_H

#include "tandem/types.h"

#include <stdint.h>

enum second_by { SECOND_OFF, SECOND_P_TRUE, SECOND_AGREEMENT };
extern const char *const second_names[]; /* "off", "p_true", "agreement", NULL */

#define SECOND_QUESTION "Is that answer right? Answer yes or no."
#define SECOND_LABELS 2
extern const struct td_str second_labels[SECOND_LABELS]; /* "yes", "no" */

#define SECOND_SAMPLES_MAX 8
/* Of a sample. What an answer says first is what is compared: more would cost as much as the answer
 * that it is to save. */
#define SECOND_TOKENS 48
/* Enough to draw another answer where the model doubts, not enough to draw nonsense. */
#define SECOND_TEMPERATURE 0.7f

struct second_scale {
    enum second_by by; /* SECOND_OFF: nobody measured it */
    double bias, first, second;
};

/* scores: log-probabilities of the labels. */
double second_p_true(const float scores[static SECOND_LABELS]);
/* Never 0 or 1, which `count` samples cannot tell. */
double second_agreement(uint32_t agreed, uint32_t count);
/* 0..1. A first signal of 0 stays 0: what cannot be right is not made likely. */
double second_combine(const struct second_scale *scale, double first, double second);
/* Log-odds, no further than those of 1e-7. */
double second_log_odds(double p);

#endif

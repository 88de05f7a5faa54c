/* A linear chain of labels: probabilities of each word's label, given scores of labels and of
 * neighbours (Lafferty, McCallum, Pereira 2001, Conditional Random Fields, section 3). LABEL_O
 * stands before and after the words of a chain. Pure; any thread. */
#ifndef PRIVACY_TAGGER_CHAIN_H
#define PRIVACY_TAGGER_CHAIN_H

#include "privacy/names/tagger_file.h"

#define CHAIN_MAX 64 /* words of one chain */

struct chain {
    size_t count;
    uint8_t gap[CHAIN_MAX + 1];            /* before each word, and after the last */
    float score[CHAIN_MAX][LABEL_COUNT];   /* in: of each label; then its exponential */
    float forward[CHAIN_MAX][LABEL_COUNT]; /* each row to a scale of its own */
    float backward[CHAIN_MAX][LABEL_COUNT];
    float marginal[CHAIN_MAX][LABEL_COUNT]; /* out: p(label of word i) */
    /* Logarithm of what the scores were divided by; what the forward row was divided by. */
    float scale[CHAIN_MAX], divisor[CHAIN_MAX];
};

/* Exponentials of the weights of two neighbouring labels; pairs that are not allowed are 0. */
struct chain_steps {
    float forward[GAP_COUNT][LABEL_COUNT][LABEL_COUNT];  /* [gap][before][label] */
    float backward[GAP_COUNT][LABEL_COUNT][LABEL_COUNT]; /* [gap][label][before] */
};
void chain_steps_set(struct chain_steps *steps, size_t gap, enum tagger_label before,
                     enum tagger_label label, float weight);

/* Fills everything but count, gap and the scores. */
void chain_run(struct chain *chain, const struct chain_steps *steps);
/* Of a chain that has been run: log of the sum over all labellings. */
double chain_likelihood(const struct chain *chain, const struct chain_steps *steps);

#endif

/* A linear chain of labels: probabilities of each word's label, given scores of labels and of
 * neighbours (Lafferty, McCallum, Pereira 2001, Conditional Random Fields, section 3). Before and
 * behind the words of a chain stands LABEL_O. Pure; any thread. */
#ifndef PRIVACY_TAGGER_CHAIN_H
#define PRIVACY_TAGGER_CHAIN_H

#include "privacy/tagger_file.h"

#define CHAIN_MAX 64 /* words of one chain */

struct chain {
    size_t count;
    uint8_t gap[CHAIN_MAX + 1];            /* before each word, and behind the last */
    float score[CHAIN_MAX][LABEL_COUNT];   /* in: of each label; then its exponential */
    float forward[CHAIN_MAX][LABEL_COUNT]; /* sums to one in each row */
    float backward[CHAIN_MAX][LABEL_COUNT];
    float marginal[CHAIN_MAX][LABEL_COUNT]; /* out: p(label of word i) */
    float likelihood;                       /* log of the sum over all labellings */
};

/* [gap][before][label], exponentials; chain_allowed's others are 0. */
typedef float chain_transitions[GAP_COUNT][LABEL_COUNT][LABEL_COUNT];

/* I-x only behind B-x and I-x. */
bool chain_allowed(enum tagger_label before, enum tagger_label label);
/* Fills everything but count, gap and the scores. */
void chain_run(struct chain *chain, const chain_transitions transitions);

#endif

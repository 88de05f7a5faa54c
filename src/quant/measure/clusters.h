/* Groups of similar questions in some traffic, and words that name each. The sketches of
 * router/judge/similarity.h say which questions are alike.
 *
 * The question with most others near it leads the first cluster; of those that no leader is near
 * to, again the one with most, and so on until a cluster would be too small. Then every question
 * goes to the nearest leader that is near. So the result depends neither on the order of the
 * questions, except between equals, nor on random numbers; and it takes count^2 comparisons of 128
 * bits. Answers are not looked at. */
#ifndef QUANT_CLUSTERS_H
#define QUANT_CLUSTERS_H

#include "router/judge/similarity.h"

/* Bits that a question may differ from its leader. Measured on 18 intents of CLINC150, uneven in
 * number: at 38 bits 0.89 of an intent's questions are in one cluster, and 0.87 of the cluster are
 * that intent's. At SIMILARITY_NEAR clusters of two intents run together (0.90 and 0.72). */
#define CLUSTERS_NEAR 38
#define CLUSTERS_MAX 32
#define CLUSTERS_TEXTS_MAX 20000
#define CLUSTERS_SIZE_MIN 5
#define CLUSTERS_SHARE_MIN 0.01 /* of the questions */
#define CLUSTERS_NAME_BYTES 48
#define CLUSTERS_NONE 255

struct clusters {
    uint8_t *of; /* [text_count] the cluster of each, or CLUSTERS_NONE */
    size_t text_count, count;
    size_t sizes[CLUSTERS_MAX];
    size_t leaders[CLUSTERS_MAX]; /* a text of each */
    /* Up to three words that are frequent in it and rare elsewhere; "" = there are none. */
    char names[CLUSTERS_MAX][CLUSTERS_NAME_BYTES];
};

/* What users have asked: [count], at most CLUSTERS_TEXTS_MAX. **returns new** (clusters_deinit). */
TD_MUST_CHECK enum td_status clusters_find(const struct similarity *similarity,
                                           const struct td_str *texts, size_t count,
                                           struct clusters *out, struct td_error *err);
void clusters_deinit(struct clusters *clusters);

#endif

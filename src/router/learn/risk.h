/* A threshold with a guarantee: conformal risk control.
 *
 * An answer is kept when its score is at or above a bar. The loss of a question at the bar b is
 *   L_i(b) = loss_i  where score_i >= b,  0 where the answer is not kept,
 * which is between 0 and B = 1 and never grows with b. R(b) is its mean over n exchangeable
 * samples. Take the lowest bar that satisfies
 *   (n R(b) + B) / (n + 1) <= risk
 * or any higher one. Then the expected loss on the next question is at most `risk` (Angelopoulos,
 * Bates, Fisch, Lei and Schuster 2022, "Conformal Risk Control", arXiv 2208.02814, theorem 1). The
 * expectation is over the samples as well: a single sample may give a bar that is a little worse.
 * The risk is the share of *all* questions that are kept and wrong.
 *
 * The bar is the lowest score in the samples that satisfies this. It never lies between two scores,
 * which is the safe side. Pure functions; any thread. */
#ifndef ROUTER_RISK_H
#define ROUTER_RISK_H

#include "tandem/types.h"

struct risk_sample {
    double score; /* the higher the surer */
    double loss;  /* 0 = right, 1 = wrong */
};

enum risk_outcome {
    RISK_REACHED,
    RISK_TOO_FEW, /* even without one wrong answer: fewer than count_min samples */
    RISK_TOO_WEAK /* enough samples, but wrong answers stand among the highest scores */
};

struct risk_bar {
    enum risk_outcome outcome;
    double threshold; /* INFINITY unless reached: nothing may be kept */
    size_t count;     /* samples */
    size_t kept;      /* of them at or above the threshold */
    double loss_kept; /* R at the threshold: share of all samples that are kept and wrong */
    double loss_all;  /* R when everything is kept */
    size_t count_min; /* risk_count_min(risk, 0) */
};

/* Sorts the samples, best first. risk in (0, 1). */
void risk_find_bar(struct risk_sample *samples, size_t count, double risk, struct risk_bar *out);

/* The fewest samples with which a bar whose mean loss is `loss` can hold: from (n loss + 1) / (n +
 * 1) <= risk follows n >= (1 - risk) / (risk - loss). SIZE_MAX where loss >= risk: no number of
 * samples is enough. */
size_t risk_count_min(double risk, double loss);

#endif

/* Fits a probe (docs/heads.md) to states of prompts and whether their answers were right: one
 * hidden layer with ReLU, or none, by minibatch Adam on the log loss. Pure arithmetic, the same
 * for the same seed; any thread. */
#ifndef APP_PROBE_FIT_H
#define APP_PROBE_FIT_H

#include "tandem/types.h"

/* Fewer cannot be divided into folds that each have both outcomes a few times. */
#define PROBE_LINES_MIN 50
#define PROBE_OUTCOME_MIN 15
#define PROBE_FOLDS 5

struct probe_data {
    const float *states; /* [count, width] */
    const bool *right;   /* [count] */
    size_t count, width;
};

struct probe_fit_options {
    uint32_t hidden; /* 0 = logistic regression */
    uint64_t seed;
};

/* y = W2 relu(W1 x + b1) + b2 on states as they are; hidden 0: y = W1 x + b1. */
struct probe_fit {
    float *weights[2], *biases[2]; /* W1 [hidden or 1, width], W2 [1, hidden] */
    double auroc;                  /* of states that the fit had not seen: folds of PROBE_FOLDS */
};

/* TD_INVALID when there are too few lines or too few of one outcome, with the counts; TD_NO_MEMORY.
 * *out **returns new** (probe_fit_free). */
TD_MUST_CHECK enum td_status probe_fit(const struct probe_data *data,
                                       const struct probe_fit_options *options,
                                       struct probe_fit *out, struct td_error *err);
void probe_fit_free(struct probe_fit *fit);

/* The chance that a right answer has a higher score than a wrong one, ties counting half; NAN when
 * one outcome is missing or there is no memory. */
double probe_auroc(const double *scores, const bool *right, size_t count);

#endif

/* Training of a router classifier: cross-validated ridge regression, the second layer and its
 * calibration on predictions for lines that were held out, and the file. Deterministic for a
 * seed. */
#ifndef ROUTER_TRAIN_H
#define ROUTER_TRAIN_H

#include "router/learn/examples.h"

struct train_options {
    uint64_t seed;
};

struct train_report {
    size_t lines, columns; /* columns: n-grams that occur at least twice, and dense features */
    size_t labelled[OUTCOME_COUNT], with_task;
    unsigned bits;
    float lambda[OUTCOME_COUNT], task_lambda; /* of the words, as chosen; NAN = not trained */
    /* Of the lines that were held out in turn: mean squared error of p_local and p_strong; share of
     * right tasks. */
    float error[OUTCOME_COUNT], task_accuracy;
};

/* TD_INVALID when the labels do not suffice. */
TD_MUST_CHECK enum td_status train_classifier(const struct examples *examples,
                                              const struct train_options *options, const char *path,
                                              struct train_report *report, struct td_error *err);

#endif

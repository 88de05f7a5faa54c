/* Training of a router classifier: cross-validated ridge regression, then the second layer and its
 * calibration on lines that were held out, then the file. Deterministic for a seed. */
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
    /* On the lines that were held out in turn: mean squared error of p_local and p_strong, and the
     * share of tasks that were right. */
    float error[OUTCOME_COUNT], task_accuracy;
};

/* Writes the classifier to the path. TD_INVALID: there are too few labels. */
TD_MUST_CHECK enum td_status train_classifier(const struct examples *examples,
                                              const struct train_options *options, const char *path,
                                              struct train_report *report, struct td_error *err);

#endif

/* The second layer of a classifier (classifier.h), fitted to the first layer's scores for lines
 * that it had not seen. */
#ifndef ROUTER_CALIBRATE_H
#define ROUTER_CALIBRATE_H

#include "router/judge/classifier_format.h"
#include "router/learn/examples.h"

struct held_out {
    const struct examples *examples;
    const uint32_t *rows; /* [count] which examples */
    size_t count;
    const float *scores; /* [count, stride]: local, strong, tasks */
    size_t stride;
};

/* Fits task_slope, task_offset, task_mean, stack and platt. An outcome or tasks without labels stay
 * zero. */
void calibrate(const struct held_out *held_out, struct classifier_parameters *parameters);

#endif

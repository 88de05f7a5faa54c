/* Fits what a second signal (judge/second_signal.h) is worth beside the first one, and measures it
 * on answers that the fit has not seen. */
#ifndef ROUTER_SECOND_FIT_H
#define ROUTER_SECOND_FIT_H

#include "router/judge/second_signal.h"

#include <stddef.h>

struct second_sample {
    double first, second, right; /* two signals, 0..1; right: 0 or 1 */
};

/* Weights by Newton's method, held near "the first one alone" as far as few samples go. A second
 * signal that speaks against what is right is worth nothing: it gets the weight 0. */
void second_fit(const struct second_sample *samples, size_t count, struct second_scale *scale);

/* On samples that the fit has not seen. NAN unless both outcomes are there. */
struct second_report {
    double auroc_first, auroc_second, auroc_both;
};
/* False without memory. */
TD_MUST_CHECK bool second_measure(const struct second_sample *samples, size_t count,
                                  const struct second_scale *scale, struct second_report *out);

#endif

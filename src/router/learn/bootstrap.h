/* Intervals of means by the bootstrap (Efron 1979, "Bootstrap Methods: Another Look at the
 * Jackknife", Annals of Statistics 7). Rows are drawn again with replacement, and the interval
 * holds the middle of the resulting means (percentile method). The columns of a row stay together,
 * so differences are paired. Pure; the same seed gives the same intervals. */
#ifndef ROUTER_BOOTSTRAP_H
#define ROUTER_BOOTSTRAP_H

#include "tandem/types.h"

#define BOOTSTRAP_ROUNDS 400
#define BOOTSTRAP_COLUMNS_MAX 8

struct bootstrap_interval {
    double mean, low, high; /* NAN when no row has a value */
};

/* values: [count, columns]; NAN: the row has no such value and is left out of that column's mean.
 * share: of means inside the interval, 0.95. TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status bootstrap_means(const double *values, size_t count, size_t columns,
                                             double share, uint64_t seed,
                                             struct bootstrap_interval *out, struct td_error *err);

#endif

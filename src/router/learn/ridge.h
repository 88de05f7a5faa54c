/* Ridge regression with many outputs over sparse rows, by conjugate gradients. All outputs have one
 * loss, classes included. With the calibration that follows, it ranks as well as logistic
 * regression (Rifkin, Klautau 2004, "In defense of one-vs-all classification"), and it is one
 * convex problem with a plain solver.
 *
 *   for each output k:  min  Σ_i m[i][k] (x_i · w_k − y[i][k])² + Σ_j λ[part of j][k] w[j][k]²
 *
 * m is 0 where a row has no label of k. All outputs share each pass over the rows. Single owner. */
#ifndef ROUTER_RIDGE_H
#define ROUTER_RIDGE_H

#include "tandem/types.h"

/* Compressed sparse rows. */
struct sparse {
    const size_t *begin; /* [rows + 1] */
    const uint32_t *column;
    const float *value;
    size_t rows, columns;
};

struct ridge {
    struct sparse x;
    size_t outputs;      /* a multiple of 8 */
    const float *target; /* [rows, outputs] */
    const float *mask;   /* [rows, outputs], 0 or 1 */
    const float *lambda; /* [parts, outputs] */
    const uint8_t *part; /* [columns] which of the lambdas holds a column */
    int steps;
};

/* Improves *weights [columns, outputs]; they may begin as zeros. TD_NO_MEMORY. */
TD_MUST_CHECK enum td_status ridge_solve(const struct ridge *ridge, float *weights,
                                         struct td_error *err);
/* out [outputs] = row · weights */
void ridge_apply(const struct sparse *x, size_t row, const float *weights, size_t outputs,
                 float *out);

#endif

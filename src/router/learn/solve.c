/* Gaussian elimination without pivoting: the matrices here are positive (semi)definite and small,
 * where that is stable. */
#include "router/learn/solve.h"

#include "base/core/assertion.h"

#define PIVOT_MIN 1e-12

void solve_definite(size_t n, double *a, double *b, double *x)
{
    ASSERT(n > 0);
    for (size_t i = 0; i < n; i++) {
        const double *row = a + i * n;
        for (size_t r = i + 1; r < n && row[i] > PIVOT_MIN; r++) {
            double by = a[r * n + i] / row[i];
            for (size_t c = i; c < n; c++)
                a[r * n + c] -= by * row[c];
            b[r] -= by * b[i];
        }
    }
    for (size_t i = n; i-- > 0;) {
        const double *row = a + i * n;
        double rest = b[i];
        for (size_t c = i + 1; c < n; c++)
            rest -= row[c] * x[c];
        x[i] = row[i] > PIVOT_MIN ? rest / row[i] : 0;
    }
}

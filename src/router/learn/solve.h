/* Small systems of linear equations, as a fit by Newton's method or least squares makes them. Pure;
 * any thread. */
#ifndef ROUTER_SOLVE_H
#define ROUTER_SOLVE_H

#include <stddef.h>

/* a x = b for a positive (semi)definite a [n, n] by elimination without pivoting; overwrites a and
 * b. An unknown whose pivot has gone is 0. */
void solve_definite(size_t n, double *a, double *b, double *x);

#endif

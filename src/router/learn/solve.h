/* Small systems of linear equations, as Newton's method and least squares make them. Pure; any
 * thread. */
#ifndef ROUTER_SOLVE_H
#define ROUTER_SOLVE_H

#include <stddef.h>

/* Solves a x = b for a positive (semi)definite a [n, n]. Overwrites a and b. An unknown whose pivot
 * is zero becomes 0. */
void solve_definite(size_t n, double *a, double *b, double *x);

#endif

/* Sorting numbers, for medians and quantiles. No state; any thread. */
#ifndef BASE_SORT_H
#define BASE_SORT_H

#include <stddef.h>
#include <stdlib.h>

static inline int sort_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts in ascending order. The values must not be NAN. */
static inline void sort_doubles(double *values, size_t count)
{
    qsort(values, count, sizeof *values, sort_compare_doubles);
}

#endif

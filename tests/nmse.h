/* How far logits are from those that they should be. */
#ifndef TESTS_NMSE_H
#define TESTS_NMSE_H

#include <stddef.h>

/* Sum of squared differences over sum of squares of what is expected (golden index.json,
 * "nmse"). */
static inline double nmse(const float *x, const float *expected, size_t count)
{
    double difference = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        double d = (double)x[i] - (double)expected[i];
        difference += d * d;
        size += (double)expected[i] * (double)expected[i];
    }
    return difference / size;
}

#endif

#include "base/ratio.h"

#include <math.h>

/* Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference", J. Amer.
 * Statist. Assoc. 22. For k of n: (k + z²/2 ± z sqrt(k (n - k) / n + z²/4)) / (n + z²). The
 * interval stays within 0..1 and is valid for few samples and extreme shares. */
void ratio_share_interval(double count, double of, double *low, double *high)
{
    const double z = RATIO_Z95;
    double half = z * sqrt(count * (of - count) / of + z * z / 4);
    double middle = count + z * z / 2, all = of + z * z;
    *low = fmin(fmax((middle - half) / all, 0), 1);
    *high = fmin(fmax((middle + half) / all, 0), 1);
}

double ratio_value(const struct ratio_sums *sums)
{
    return sums->x > 0 ? sums->y / sums->x : (double)NAN;
}

/* Cochran 1977, "Sampling Techniques", 3rd edition, equation 6.13: the variance of y - R x over the
 * pairs, divided by the count and by the square of the mean of x. */
double ratio_error(const struct ratio_sums *sums)
{
    double value = ratio_value(sums);
    if (!(sums->count >= 2) || isnan(value))
        return (double)NAN;
    double squares = sums->yy - 2 * value * sums->xy + value * value * sums->xx;
    return sqrt(fmax(squares, 0) * sums->count / (sums->count - 1)) / sums->x;
}

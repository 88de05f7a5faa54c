/* The ratio of two totals, and how far the truth may be from it. A ratio estimator: of pairs (x, y)
 * it says what one x comes to in y. Plain data; pure functions. */
#ifndef BASE_RATIO_H
#define BASE_RATIO_H

#define RATIO_Z95 1.959964 /* standard errors on either side of an interval at 95 % */

/* Sums over pairs. */
struct ratio_sums {
    double count, x, y, xx, xy, yy;
};

double ratio_value(const struct ratio_sums *sums); /* NAN without any x */
/* The standard error of the value; NAN for fewer than two pairs. */
double ratio_error(const struct ratio_sums *sums);

/* The interval at 95 % of a share, of which `count` among `of` were seen (Wilson). */
void ratio_share_interval(double count, double of, double *low, double *high);

#endif

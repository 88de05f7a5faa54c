/* Ratios of totals and shares, with intervals that hold as often as they say. */
#include "base/ratio.h"

#include "base/crypto/rng.h"

#include "test.h"

#include <math.h>

static void add(struct ratio_sums *sums, double x, double y)
{
    sums->count++;
    sums->x += x, sums->y += y;
    sums->xx += x * x, sums->xy += x * y, sums->yy += y * y;
}

static void test_a_constant_ratio_has_no_error(void)
{
    struct ratio_sums sums = {0};
    CHECK(isnan(ratio_value(&sums)) && isnan(ratio_error(&sums)));
    add(&sums, 10, 30);
    CHECK(ratio_value(&sums) == 3 && isnan(ratio_error(&sums)));
    add(&sums, 5, 15);
    CHECK(ratio_value(&sums) == 3 && ratio_error(&sums) < 1e-6);
}

/* Of 2,000 samples the truth lies in the interval in 95 %, give or take. */
static void test_the_interval_holds_the_truth_as_often_as_it_says(void)
{
    struct rng rng;
    rng_init(&rng, 7);
    int held = 0;
    for (int sample = 0; sample < 2000; sample++) {
        struct ratio_sums sums = {0};
        for (int i = 0; i < 50; i++) {
            double x = 10 + 90 * rng_double(&rng);
            add(&sums, x, x * (1 + rng_double(&rng))); /* 1.5 on the average */
        }
        held += fabs(ratio_value(&sums) - 1.5) <= RATIO_Z95 * ratio_error(&sums);
    }
    CHECK(held >= 1840 && held <= 1950);
}

static void test_the_interval_of_a_share_stays_a_share(void)
{
    double low, high;
    ratio_share_interval(0, 10, &low, &high);
    CHECK(low == 0 && fabs(high - 0.2775) < 1e-4); /* Wilson's, for 0 of 10 */
    ratio_share_interval(10, 10, &low, &high);
    CHECK(fabs(low - 0.7225) < 1e-4 && high == 1);
}

int main(void)
{
    RUN(test_a_constant_ratio_has_no_error);
    RUN(test_the_interval_holds_the_truth_as_often_as_it_says);
    RUN(test_the_interval_of_a_share_stays_a_share);
    return test_finish();
}

/* The frequencies after scaling, computed by hand from YaRN's section 3.2 for 8 dimensions. */
#include "engine/model/rope.h"

#include "test.h"

#include <math.h>

static const struct rope_options yarn = {.dimension_count = 8,
                                         .base = 10000.0,
                                         .scaling = ROPE_SCALING_YARN,
                                         .factor = 4.0,
                                         .original_context = 1000,
                                         .turns_fast = 32.0,
                                         .turns_slow = 1.0,
                                         .attention_factor = 1.0};

/* Pairs turn 1000 / 2 pi * 10^-i = 159, 15.9, 1.59 and 0.159 times. */
static void test_yarn_keeps_fast_pairs_and_interpolates_slow_ones(void)
{
    struct rope rope;
    rope_init(&rope, &yarn);
    CHECK(rope.pair_count == 4);
    CHECK(fabs(rope.frequency[0] - 1.0) < 1e-12);
    CHECK(fabs(rope.frequency[3] - 0.001 / 4) < 1e-12);
    CHECK(fabs(rope.magnitude - (1.0 + 0.1 * log(4.0))) < 1e-12);
}

static void test_yarn_s_bounds_come_from_the_file(void)
{
    struct rope_options wide = yarn;
    struct rope own, other;
    wide.turns_fast = 1e4; /* no pair turns that often: the first one is interpolated in part */
    wide.turns_slow = 50.0;
    rope_init(&own, &yarn);
    rope_init(&other, &wide);
    CHECK(fabs(other.frequency[1] - 0.1 / 4) < 1e-12); /* 15.9 turns are slow now */
    CHECK(fabs(own.frequency[1] - 0.1 / 4) > 1e-3);
}

int main(void)
{
    RUN(test_yarn_keeps_fast_pairs_and_interpolates_slow_ones);
    RUN(test_yarn_s_bounds_come_from_the_file);
    return test_finish();
}

/* Latencies of tiers: quantiles, fading, and what is unknown. */
#include "tier/tier.h"

#include "base/str.h"
#include "test.h"

#include <math.h>

static bool about(double value, double expected)
{
    return fabs(value - expected) <= 0.1 * expected; /* half a bucket has 9 % */
}

static void test_nothing_is_known_of_few(void)
{
    struct tier_latency *latency = tier_latency_new(2);
    struct tier_state state;
    for (int i = 0; i < 4; i++)
        tier_latency_add(latency, 0, 100, 1000, 0);
    tier_latency_read(latency, 0, 0, &state);
    CHECK(state.ttft_p95_ms == 0 && state.total_p50_ms == 0);
    tier_latency_add(latency, 0, 100, 1000, 0);
    tier_latency_read(latency, 0, 0, &state);
    CHECK(about(state.ttft_p95_ms, 100) && about(state.total_p50_ms, 1000));
    tier_latency_read(latency, 1, 0, &state);
    CHECK(state.total_p95_ms == 0);
    tier_latency_read(latency, 2, 0, &state); /* no such tier */
    CHECK(state.total_p95_ms == 0);
    tier_latency_free(latency);
}

static void test_quantiles_are_near_the_true_ones(void)
{
    struct tier_latency *latency = tier_latency_new(1);
    struct tier_state state;
    for (int i = 1; i <= 2000; i++)
        tier_latency_add(latency, 0, i, 10.0 * i, 0);
    tier_latency_read(latency, 0, 0, &state);
    CHECK(about(state.ttft_p95_ms, 1900) && about(state.total_p50_ms, 10000) &&
          about(state.total_p95_ms, 19000));
    tier_latency_free(latency);
}

static void test_what_is_new_outweighs_what_is_old(void)
{
    struct tier_latency *latency = tier_latency_new(1);
    struct tier_state state;
    for (int i = 0; i < 100; i++)
        tier_latency_add(latency, 0, 80, 200, 0);
    for (int i = 0; i < 50; i++) /* 100 count as 6 after four half-lives */
        tier_latency_add(latency, 0, 400, 900, 1200000);
    tier_latency_read(latency, 0, 1200000, &state);
    CHECK(about(state.ttft_p95_ms, 400) && about(state.total_p50_ms, 900));
    tier_latency_read(latency, 0, 4000000, &state); /* nobody asked for a long time */
    CHECK(state.ttft_p95_ms == 0);
    tier_latency_free(latency);
}

static void test_extremes_stay_within_the_histogram(void)
{
    struct tier_latency *latency = tier_latency_new(1);
    struct tier_state state;
    for (int i = 0; i < 10; i++) {
        tier_latency_add(latency, 0, 0, 1e300, 0);
        tier_latency_add(latency, 0, -5, INFINITY, 0);
        tier_latency_add(latency, 0, (double)NAN, (double)NAN, 0);
    }
    tier_latency_read(latency, 0, 0, &state);
    CHECK(state.ttft_p95_ms > 0 && isfinite(state.total_p95_ms));
    tier_latency_free(latency);
}

static void test_a_reload_takes_over_what_was_measured(void)
{
    struct tier_latency *before = tier_latency_new(1), *after = tier_latency_new(2);
    struct tier_state state;
    for (int i = 0; i < 10; i++)
        tier_latency_add(before, 0, 50, 60, 0);
    tier_latency_copy(before, 0, after, 1);
    tier_latency_copy(before, 1, after, 0); /* no such tier */
    tier_latency_read(after, 1, 0, &state);
    CHECK(about(state.ttft_p95_ms, 50));
    tier_latency_read(after, 0, 0, &state);
    CHECK(state.ttft_p95_ms == 0);
    tier_latency_free(before);
    tier_latency_free(after);
}

static void test_what_was_given_up_counts_as_a_wait_and_not_as_an_answer(void)
{
    struct tier_latency *latency = tier_latency_new(1);
    struct tier_state state;
    CHECK(tier_latency_ttft(latency, 0, 0.9, 0) == 0); /* nothing is known */
    for (int i = 0; i < 8; i++)
        tier_latency_add_wait(latency, 0, 100, 0);
    tier_latency_read(latency, 0, 0, &state);
    CHECK(state.total_p50_ms == 0);
    /* Never less than the measured time, and at most a bucket more. */
    double usual = tier_latency_ttft(latency, 0, 0.5, 0);
    CHECK(usual >= 100 && usual < 119);
    for (int i = 0; i < 2; i++)
        tier_latency_add(latency, 0, 900, 1000, 0);
    CHECK(tier_latency_ttft(latency, 0, 0.8, 0) == usual);
    CHECK(tier_latency_ttft(latency, 0, 0.9, 0) >= 900);
    CHECK(tier_latency_ttft(latency, 1, 0.9, 0) == 0); /* no such tier */
    tier_latency_add_wait(latency, 1, 100, 0);
    CHECK(tier_latency_ttft(latency, 0, 0.5, 3600000) == 0); /* long ago */
    tier_latency_free(latency);
}

int main(void)
{
    RUN(test_nothing_is_known_of_few);
    RUN(test_quantiles_are_near_the_true_ones);
    RUN(test_what_is_new_outweighs_what_is_old);
    RUN(test_extremes_stay_within_the_histogram);
    RUN(test_a_reload_takes_over_what_was_measured);
    RUN(test_what_was_given_up_counts_as_a_wait_and_not_as_an_answer);
    return test_finish();
}

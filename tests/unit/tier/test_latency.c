/* Latencies of tiers: quantiles, fading, and what is unknown. */
#include "tier/tier.h"

#include "base/core/str.h"
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

/* However long the machine has been up, a measurement counts half after five minutes, and fewer
 * than five tell nothing. Who reads how often does not change that. */
static void test_measurements_fade_with_their_age_alone(void)
{
    static const uint64_t clocks[] = {0, 7, 5000000000}, steps[] = {31000, 100000, 300000};
    static const struct {
        int count;
        uint64_t known_ms, forgotten_ms; /* ages; within 30 s */
    } rows[] = {{5, 0, 62000}, {10, 269000, 331000}, {40, 869000, 931000}};
    for (size_t c = 0; c < sizeof clocks / sizeof *clocks; c++)
        for (size_t s = 0; s < sizeof steps / sizeof *steps; s++)
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                struct tier_latency *latency = tier_latency_new(1);
                struct tier_state state;
                uint64_t age = 0, end = rows[r].forgotten_ms + 300000;
                for (int i = 0; i < rows[r].count; i++)
                    tier_latency_add(latency, 0, 80, 200, clocks[c]);
                for (; age < end; age += steps[s]) {
                    tier_latency_read(latency, 0, clocks[c] + age, &state);
                    double ms = tier_latency_ttft(latency, 0, 0.5, clocks[c] + age);
                    CHECK(age > rows[r].known_ms || (ms > 0 && about(state.total_p50_ms, 200)));
                    CHECK(age < rows[r].forgotten_ms || (ms == 0 && state.total_p50_ms == 0));
                }
                tier_latency_free(latency);
            }
}

/* Waits may be all that comes of a tier, so they too let what is older fade. */
static void test_old_waits_weigh_little_beside_new_ones(void)
{
    struct tier_latency *latency = tier_latency_new(1);
    for (int i = 0; i < 100; i++)
        tier_latency_add_wait(latency, 0, 100, 0);
    for (int i = 0; i < 50; i++) /* 100 count as 6 after four half-lives */
        tier_latency_add_wait(latency, 0, 3000, 1200000);
    CHECK(tier_latency_ttft(latency, 0, 0.5, 1200000) >= 3000);
    tier_latency_free(latency);
}

static void test_extremes_stay_within_the_histogram(void)
{
    const double nan_ms = (double)NAN, most = 2097152; /* 35 minutes */
    const struct {
        double given, read;
    } rows[] = {{0, 1},          {-5, 1},
                {nan_ms, 1},     {0.001, 1},
                {1, 1},          {1.9, 1.9},
                {1e6, 1e6},      {2e6, 2e6},
                {2097151, most}, {2097153, most},
                {1e300, most},   {1e19, most},
                {1.8e6, 1.8e6},  {(double)INFINITY, most}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tier_latency *latency = tier_latency_new(1);
        struct tier_state state;
        for (int k = 0; k < 5; k++)
            tier_latency_add(latency, 0, rows[i].given, rows[i].given, 0);
        tier_latency_read(latency, 0, 0, &state);
        CHECK(about(state.ttft_p95_ms, rows[i].read) && about(state.total_p50_ms, rows[i].read) &&
              about(state.total_p95_ms, rows[i].read));
        tier_latency_free(latency);
    }
}

/* Else a tier whose slow answers are always stopped would look like a fast one. */
static void test_what_was_stopped_took_longer_than_the_wait_for_it(void)
{
    static const double waits[] = {0, 0.3, 1, 7, 40, 100, 333, 1000, 4500, 60000};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        for (int began = 0; began < 2; began++) {
            struct tier_latency *latency = tier_latency_new(1);
            struct tier_state state;
            double waited = waits[i], first = began ? waited / 2 : 0, least = fmax(waited, 1);
            for (int k = 0; k < 8; k++)
                tier_latency_add_cut(latency, 0, first, waited, 0);
            tier_latency_read(latency, 0, 0, &state);
            CHECK(state.total_p50_ms > waited && state.total_p50_ms < 1.3 * least);
            if (first > 1) /* its first text came in time, and that is known */
                CHECK(about(state.ttft_p95_ms, first));
            else if (!began)
                CHECK(state.ttft_p95_ms > waited && state.ttft_p95_ms < 1.3 * least);
            tier_latency_free(latency);
        }
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
    RUN(test_measurements_fade_with_their_age_alone);
    RUN(test_what_was_stopped_took_longer_than_the_wait_for_it);
    RUN(test_old_waits_weigh_little_beside_new_ones);
    RUN(test_extremes_stay_within_the_histogram);
    RUN(test_a_reload_takes_over_what_was_measured);
    RUN(test_what_was_given_up_counts_as_a_wait_and_not_as_an_answer);
    return test_finish();
}

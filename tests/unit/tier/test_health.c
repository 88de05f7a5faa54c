/* Passive health: when a tier rests, for how long, and what ends it. */
#include "tier/tier.h"

#include "test.h"

static void fail_times(struct tier_health *health, size_t tier, int times, uint64_t now_ms)
{
    for (int i = 0; i < times; i++)
        tier_health_report(health, tier, false, now_ms);
}

static void test_three_failures_in_a_row_rest_a_tier_for_a_second(void)
{
    struct tier_health *health = tier_health_new(2);
    REQUIRE(health);
    fail_times(health, 0, 2, 1000);
    CHECK(tier_health_usable(health, 0, 1000));
    fail_times(health, 0, 1, 1000);
    CHECK(!tier_health_usable(health, 0, 1000) && !tier_health_usable(health, 0, 1999));
    CHECK(tier_health_usable(health, 0, 2000) && tier_health_usable(health, 1, 1000));
    tier_health_free(health);
}

static void test_a_success_between_failures_clears(void)
{
    struct tier_health *health = tier_health_new(1);
    REQUIRE(health);
    fail_times(health, 0, 2, 0);
    tier_health_report(health, 0, true, 0);
    fail_times(health, 0, 2, 0);
    CHECK(tier_health_usable(health, 0, 0));
    tier_health_free(health);
}

static void test_rests_double_to_thirty_seconds_and_start_over_after_a_success(void)
{
    static const uint64_t rests_ms[] = {1000, 2000, 4000, 8000, 16000, 30000, 30000};
    struct tier_health *health = tier_health_new(1);
    REQUIRE(health);
    uint64_t now_ms = 5000;
    fail_times(health, 0, 2, now_ms);
    for (size_t i = 0; i < sizeof rests_ms / sizeof *rests_ms; i++) {
        fail_times(health, 0, 1, now_ms); /* now one failed probe is enough */
        CHECK(!tier_health_usable(health, 0, now_ms + rests_ms[i] - 1));
        now_ms += rests_ms[i];
        CHECK(tier_health_usable(health, 0, now_ms));
    }
    tier_health_report(health, 0, true, now_ms);
    fail_times(health, 0, 3, now_ms);
    CHECK(tier_health_usable(health, 0, now_ms + 1000));
    tier_health_free(health);
}

static void test_late_failures_of_before_the_rest_do_not_lengthen_it(void)
{
    struct tier_health *health = tier_health_new(1);
    REQUIRE(health);
    fail_times(health, 0, 50, 0); /* fifty exchanges were running */
    CHECK(tier_health_usable(health, 0, 1000));
    tier_health_free(health);
}

static void test_an_index_out_of_range_is_never_usable(void)
{
    struct tier_health *health = tier_health_new(1);
    REQUIRE(health);
    tier_health_report(health, 1, true, 0);
    CHECK(!tier_health_usable(health, 1, 0));
    tier_health_free(health);
    tier_health_free(NULL);
}

int main(void)
{
    RUN(test_three_failures_in_a_row_rest_a_tier_for_a_second);
    RUN(test_a_success_between_failures_clears);
    RUN(test_rests_double_to_thirty_seconds_and_start_over_after_a_success);
    RUN(test_late_failures_of_before_the_rest_do_not_lengthen_it);
    RUN(test_an_index_out_of_range_is_never_usable);
    return test_finish();
}

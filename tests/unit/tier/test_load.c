/* What is under way at tiers, and the wait that is learnt of servers. */
#include "tier/tier.h"

#include "test.h"

#include <math.h>

static const struct tier_ops server_ops = {0};
static struct tier server = {.ops = &server_ops};
static const struct tier_ask ask = {.prompt_tokens = 10};

static struct tier_state read_state(struct tier_load *load, size_t tier_index)
{
    struct tier_state state = {.ttft_p95_ms = 300, .total_p50_ms = 500, .total_p95_ms = 900};
    tier_load_forecast(load, tier_index, &server, &ask, &state);
    return state;
}

static void begin_many(struct tier_load *load, size_t tier_index, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK(tier_load_begin(load, tier_index) == i);
}

static void test_a_server_that_takes_turns_has_a_wait(void)
{
    struct tier_load *load = tier_load_new(2);
    begin_many(load, 0, 10);
    CHECK(read_state(load, 0).wait_ms == 0); /* nothing is learnt yet */
    for (uint32_t others = 0; others < 10; others++)
        tier_load_learn(load, 0, others, 200 + 100.0 * others);
    struct tier_state state = read_state(load, 0);
    CHECK(fabs(state.wait_ms - 1000) < 1);
    CHECK(state.forecast_ttft_ms >= 1000 && state.forecast_total_ms >= 1500);
    CHECK(read_state(load, 1).wait_ms == 0); /* another tier */
    for (int i = 0; i < 10; i++)
        tier_load_end(load, 0);
    state = read_state(load, 0);
    CHECK(state.wait_ms == 0 && state.forecast_ttft_ms == 300 && state.forecast_total_ms == 900);
    tier_load_free(load);
}

static void test_a_cloud_with_room_has_none_however_slow_it_is(void)
{
    struct tier_load *load = tier_load_new(1);
    static const double noise[] = {0, 900, 300, 1500, 100, 700, 1200, 200, 1000, 400};
    begin_many(load, 0, 100);
    for (uint32_t i = 0; i < 200; i++)
        tier_load_learn(load, 0, i * 7 % 50, 3000 + noise[i * 3 % 10]);
    CHECK(read_state(load, 0).wait_ms == 0);
    tier_load_free(load);
}

static void test_one_load_explains_nothing(void)
{
    struct tier_load *load = tier_load_new(1);
    begin_many(load, 0, 5);
    for (uint32_t i = 0; i < 50; i++)
        tier_load_learn(load, 0, 4 + i % 2, 1000.0 * (i % 2));
    CHECK(read_state(load, 0).wait_ms == 0);
    tier_load_free(load);
}

static void test_what_is_new_counts(void)
{
    struct tier_load *load = tier_load_new(1);
    begin_many(load, 0, 20);
    for (uint32_t i = 0; i < 40; i++)
        tier_load_learn(load, 0, i % 20, 500.0 * (i % 20));
    CHECK(read_state(load, 0).wait_ms > 9000);
    for (uint32_t i = 0; i < 400; i++) /* it got more machines */
        tier_load_learn(load, 0, i % 20, 250);
    CHECK(read_state(load, 0).wait_ms < 1);
    tier_load_free(load);
}

static void test_expected_requests_count_and_may_be_dropped(void)
{
    struct tier_load *load = tier_load_new(1);
    tier_load_expect(load, 0);
    tier_load_expect(load, 0);
    CHECK(tier_load_count(load, 0) == 2);
    tier_load_drop(load, 0);
    CHECK(tier_load_begin(load, 0) == 0 && tier_load_count(load, 0) == 2);
    tier_load_drop(load, 0);
    tier_load_end(load, 0);
    CHECK(tier_load_count(load, 0) == 0);
    tier_load_free(load);
}

static void test_a_reload_keeps_what_was_learnt(void)
{
    struct tier_load *before = tier_load_new(1), *after = tier_load_new(2);
    begin_many(before, 0, 5);
    for (uint32_t others = 0; others < 10; others++)
        tier_load_learn(before, 0, others, 100.0 * others);
    tier_load_copy(before, 0, after, 1);
    CHECK(read_state(after, 1).wait_ms == 0); /* nothing is under way in this one */
    begin_many(after, 1, 5);
    CHECK(fabs(read_state(after, 1).wait_ms - 500) < 1);
    tier_load_copy(before, 1, after, 0); /* no such tier */
    tier_load_free(before);
    tier_load_free(after);
}

int main(void)
{
    RUN(test_a_server_that_takes_turns_has_a_wait);
    RUN(test_a_cloud_with_room_has_none_however_slow_it_is);
    RUN(test_one_load_explains_nothing);
    RUN(test_what_is_new_counts);
    RUN(test_expected_requests_count_and_may_be_dropped);
    RUN(test_a_reload_keeps_what_was_learnt);
    return test_finish();
}

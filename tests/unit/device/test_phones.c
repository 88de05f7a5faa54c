/* Two phones of a summer (fake_phone.h), with and without what the device does about its heat. */
#include "fake_phone.h"

#include "test.h"

#include <math.h>

static struct fake_phone_result plain, eased;

/* Mean error of the forecasts: by how much longer or shorter an answer took, as a share of what was
 * forecast. Of answers on which the one by the peak errs by at least peak_errs; those of the first
 * minutes teach. */
static double mean_error(const struct fake_phone_result *result, double peak_errs, size_t *count)
{
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < result->answer_count; i++) {
        const struct fake_phone_answer *answer = &result->answers[i];
        if (answer->begin_s < 300 || answer->took_s / answer->peak_s - 1 < peak_errs)
            continue;
        sum += fabs(answer->took_s / answer->forecast_s - 1);
        ++*count;
    }
    return *count ? sum / (double)*count : 0;
}

static bool run_both(const struct fake_phone_kind *kind)
{
    struct fake_phone_use use = {
        .minutes = 30, .answer_tokens = 256, .pause_s = 1, .cloud_tokens_s = 40};
    bool good = fake_phone_run(kind, &use, &plain);
    use.eases = true;
    return good && fake_phone_run(kind, &use, &eased);
}

static void check_eased(void)
{
    CHECK(eased.p95_token_ms <= 0.75 * plain.p95_token_ms);
    CHECK(eased.below_share >= 0.9);
    CHECK(eased.shortest_level_s >= 60);
    CHECK(eased.tokens > 0.25 * (eased.tokens + eased.cloud_tokens)); /* it still works itself */
}

static void test_a_phone_that_slows_itself_by_half_stays_cool_and_fast(void)
{
    size_t count;
    REQUIRE(run_both(&fake_phone_a));
    check_eased();
    CHECK(mean_error(&plain, 0.6, &count) <= 0.2 && count >= 20);
}

static void test_a_phone_that_swings_between_fast_and_slow_stays_cool_and_fast(void)
{
    size_t count;
    REQUIRE(run_both(&fake_phone_b));
    check_eased();
    CHECK(mean_error(&plain, 0.6, &count) <= 0.2 && count >= 5);
}

static void test_what_may_not_leave_is_answered_on_a_hot_phone(void)
{
    struct fake_phone_use use = {.minutes = 30, .answer_tokens = 256, .pause_s = 1};
    REQUIRE(fake_phone_run(&fake_phone_a, &use, &plain));
    use.eases = true;
    REQUIRE(fake_phone_run(&fake_phone_a, &use, &eased));
    CHECK(eased.p95_token_ms <= 1.15 * plain.p95_token_ms); /* little slower than by its kernel */
    CHECK(eased.cloud_tokens == 0 && eased.answer_count > 50);
    CHECK(eased.below_share >= 0.9 && eased.shortest_level_s >= 60);
}

static void test_a_phone_that_is_used_now_and_then_is_left_alone(void)
{
    const struct fake_phone_use use = {
        .eases = true, .minutes = 30, .answer_tokens = 128, .pause_s = 30, .cloud_tokens_s = 40};
    REQUIRE(fake_phone_run(&fake_phone_a, &use, &eased));
    CHECK(eased.switches == 0 && eased.cloud_tokens == 0 && eased.below_share > 0.999);
}

int main(void)
{
    RUN(test_a_phone_that_slows_itself_by_half_stays_cool_and_fast);
    RUN(test_a_phone_that_swings_between_fast_and_slow_stays_cool_and_fast);
    RUN(test_what_may_not_leave_is_answered_on_a_hot_phone);
    RUN(test_a_phone_that_is_used_now_and_then_is_left_alone);
    return test_finish();
}

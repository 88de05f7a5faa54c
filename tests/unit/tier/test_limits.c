/* What a tier may be asked in a minute, and how often again. */
#include "tier/limits.h"

#include "test.h"

static void test_a_minute_counts_sixty_seconds_and_forgets_them_one_by_one(void)
{
    struct minute minute = {0};
    for (uint64_t second = 100; second < 110; second++)
        minute_add(&minute, 1, second * 1000 + 400);
    CHECK(minute_wait_ms(&minute, 11, 110000) == 0);
    CHECK(minute_wait_ms(&minute, 0, 110000) == 0); /* no limit */
    CHECK(minute_wait_ms(&minute, 10, 110000) == 50000);
    CHECK(minute_wait_ms(&minute, 8, 110250) == 51750);
    CHECK(minute_wait_ms(&minute, 10, 159999) == 1);
    CHECK(minute_wait_ms(&minute, 10, 160000) == 0 && minute.sum == 9);
    CHECK(minute_wait_ms(&minute, 1, 1000000) == 0 && minute.sum == 0);
}

static void test_a_count_that_is_absurd_is_bounded(void)
{
    struct minute minute = {0};
    minute_add(&minute, UINT32_MAX, 5000);
    minute_add(&minute, UINT32_MAX, 5001);
    CHECK(minute.sum == UINT32_MAX);
    CHECK(minute_wait_ms(&minute, UINT32_MAX, 5000) == 60000);
    CHECK(minute_wait_ms(&minute, 1, 65000) == 0);
}

static void test_retries_are_at_most_a_tenth_of_the_requests(void)
{
    struct retry_budget budget;
    retry_budget_init(&budget, 0);
    int retries = 0;
    for (int i = 0; i < 1000; i++) {
        retry_budget_pay(&budget);
        retries += retry_budget_take(&budget, (uint64_t)i * 10); /* an outage: every one fails */
    }
    CHECK(retries >= 60 && retries <= 100);
}

static void test_a_quiet_time_has_one_retry_and_saves_up_no_more(void)
{
    struct retry_budget budget;
    retry_budget_init(&budget, 0);
    CHECK(retry_budget_take(&budget, 0) && !retry_budget_take(&budget, 1000));
    CHECK(!retry_budget_take(&budget, 30000) && retry_budget_take(&budget, 70000));
    CHECK(retry_budget_take(&budget, 86400000) && !retry_budget_take(&budget, 86400000));
    for (int i = 0; i < 100000; i++)
        retry_budget_pay(&budget);
    int burst = 0;
    while (retry_budget_take(&budget, 86400000))
        burst++;
    CHECK(burst == 10);
}

int main(void)
{
    RUN(test_a_minute_counts_sixty_seconds_and_forgets_them_one_by_one);
    RUN(test_a_count_that_is_absurd_is_bounded);
    RUN(test_retries_are_at_most_a_tenth_of_the_requests);
    RUN(test_a_quiet_time_has_one_retry_and_saves_up_no_more);
    return test_finish();
}

/* What keys and tenants may use: limits of a minute that no edge of a window cheats, and budgets
 * that count what really was used. */
#include "base/time/clock.h"
#include "exchange/limits/meter.h"
#include "test.h"

#include <math.h>
#include <time.h>

static uint64_t now_ms;       /* monotonic */
static uint64_t wall_base_ms; /* wall time = base + now */

static uint64_t read_monotonic(void *ctx)
{
    (void)ctx;
    return now_ms * 1000000;
}

static uint64_t read_wall(void *ctx)
{
    (void)ctx;
    return wall_base_ms + now_ms;
}

static const struct clock test_clock = {read_monotonic, read_wall, NULL};

static uint64_t local_ms(int year, int month, int day, int hour)
{
    struct tm local = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = day,
                       .tm_hour = hour,
                       .tm_isdst = -1};
    return (uint64_t)mktime(&local) * 1000;
}

static struct meters *begin(const char *whom, const struct key_terms *terms)
{
    now_ms = 1000000;
    wall_base_ms = local_ms(2026, 11, 29, 12) - now_ms;
    struct meters *meters = meters_new(&test_clock);
    CHECK(meters && meters_set(meters, whom, terms, NULL) == TD_OK);
    return meters;
}

static bool enter(struct meters *meters, uint32_t prompt, uint32_t answer, struct meter_hold *hold,
                  struct meter_verdict *verdict)
{
    const struct meter_ask ask = {"one", "two", prompt, answer};
    return meters_enter(meters, &ask, hold, verdict);
}

static bool ask_once(struct meters *meters)
{
    struct meter_hold hold;
    struct meter_verdict verdict;
    bool ok = enter(meters, 1, 1, &hold, &verdict);
    if (ok)
        meters_leave(meters, &hold, 2, 0);
    return ok;
}

static void test_no_minute_has_more_requests_than_the_limit(void)
{
    const struct key_terms terms = {.requests_per_minute = 10, .weight = 1};
    struct meters *meters = begin("kone", &terms);
    uint64_t let_in[400];
    int count = 0;
    /* Somebody who tries all the time, and hardest at the edges. */
    for (uint64_t end = now_ms + 200000; now_ms < end; now_ms += 137)
        for (int i = 0; i < 12 && count < 400; i++)
            if (ask_once(meters))
                let_in[count++] = now_ms;
    CHECK(count >= 30 && count <= 40);
    for (int i = 0; i + 10 < count; i++)
        CHECK(let_in[i + 10] - let_in[i] >= 59000); /* counted by second */
    meters_free(meters);
}

static void test_a_refusal_says_when_to_come_back_and_what_is_left(void)
{
    const struct key_terms terms = {.requests_per_minute = 2, .weight = 1};
    struct meters *meters = begin("kone", &terms);
    struct meter_hold hold;
    struct meter_verdict verdict;
    CHECK(enter(meters, 1, 1, &hold, &verdict) && verdict.requests.limit == 2);
    CHECK(verdict.requests.left == 1 && verdict.requests.reset_ms == 60000);
    CHECK(verdict.prompt_tokens.limit == 0);
    meters_leave(meters, &hold, 2, 0);
    now_ms += 10000;
    CHECK(ask_once(meters));
    CHECK(!enter(meters, 1, 1, &hold, &verdict) && verdict.what == METER_REQUESTS);
    CHECK(!verdict.of_tenant && verdict.wait_ms == 50000 && verdict.requests.left == 0);
    CHECK(!hold.of[0] && !hold.of[1]);
    now_ms += verdict.wait_ms;
    CHECK(ask_once(meters) && !ask_once(meters));
    meters_free(meters);
}

static void test_tokens_are_reserved_and_settled_by_what_was_used(void)
{
    const struct key_terms terms = {.tokens_per_minute = 1000, .weight = 1};
    struct meters *meters = begin("kone", &terms);
    struct meter_hold first, second;
    struct meter_verdict verdict;
    CHECK(enter(meters, 100, 700, &first, &verdict) && verdict.prompt_tokens.left == 200);
    CHECK(!enter(meters, 100, 700, &second, &verdict) && verdict.what == METER_TOKENS);
    CHECK(verdict.wait_ms == 60000);
    meters_leave(meters, &first, 150, 0); /* it was short */
    CHECK(enter(meters, 100, 700, &second, &verdict) && verdict.prompt_tokens.left == 50);
    meters_leave(meters, &second, 2000, 0); /* and this one longer than it had said */
    CHECK(!enter(meters, 1, 1, &second, &verdict) && verdict.prompt_tokens.left == 0);
    now_ms += 60000;
    CHECK(enter(meters, 1, 1, &second, &verdict) && verdict.prompt_tokens.left == 998);
    meters_leave(meters, &second, 2, 0);
    /* More than a minute can ever have is refused for good; a long answer only waits its turn. */
    CHECK(!enter(meters, 1001, 1, &second, &verdict) && verdict.what == METER_TOO_LARGE);
    now_ms += 60000;
    CHECK(enter(meters, 10, 1000000, &second, &verdict) && verdict.prompt_tokens.left == 0);
    meters_leave(meters, &second, 10, 0);
    CHECK(enter(meters, 1, 1, &second, &verdict) && verdict.prompt_tokens.left == 988);
    meters_leave(meters, &second, 2, 0);
    meters_free(meters);
}

static void test_an_answer_that_ends_a_minute_later_takes_nothing_back_from_others(void)
{
    const struct key_terms terms = {.tokens_per_minute = 1000, .weight = 1};
    struct meters *meters = begin("kone", &terms);
    struct meter_hold slow, other;
    struct meter_verdict verdict;
    CHECK(enter(meters, 100, 900, &slow, &verdict));
    now_ms += 61000;
    CHECK(enter(meters, 400, 100, &other, &verdict));
    meters_leave(meters, &slow, 200, 0);
    CHECK(verdict.prompt_tokens.left == 500);
    meters_leave(meters, &other, 500, 0);
    CHECK(!enter(meters, 400, 200, &other, &verdict));
    meters_free(meters);
}

static void test_a_tenant_limits_all_of_its_keys(void)
{
    const struct key_terms of_tenant = {.requests_per_minute = 2, .weight = 1};
    struct meters *meters = begin("ttwo", &of_tenant);
    const struct meter_ask one = {"one", "two", 1, 1}, other = {"other", "two", 1, 1},
                           stranger = {"other", "three", 1, 1};
    struct meter_hold hold;
    struct meter_verdict verdict;
    CHECK(meters_set(meters, "kone", &key_terms_none, NULL) == TD_OK);
    CHECK(meters_enter(meters, &one, &hold, &verdict));
    meters_leave(meters, &hold, 1, 0);
    CHECK(meters_enter(meters, &other, &hold, &verdict));
    meters_leave(meters, &hold, 1, 0);
    CHECK(!meters_enter(meters, &one, &hold, &verdict) && verdict.of_tenant);
    CHECK(meters_enter(meters, &stranger, &hold, &verdict) && !hold.of[0] && !hold.of[1]);
    meters_leave(meters, &hold, 1, 0);
    meters_free(meters);
}

static void test_a_spent_budget_refuses_until_its_period_ends(void)
{
    struct key_terms terms = {.usd = {1, 5}, .weight = 1};
    struct meters *meters = begin("kone", &terms);
    struct meter_hold hold;
    struct meter_verdict verdict;
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_leave(meters, &hold, 10, 0.6);
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_promise(meters, &hold, 0.5); /* others must not spend it as well */
    struct meter_hold second;
    CHECK(!enter(meters, 1, 1, &second, &verdict) && verdict.what == METER_SPENT);
    CHECK(verdict.wait_ms == 1000 && verdict.period == KEY_DAY && !verdict.tokens);
    meters_promise(meters, &hold, -0.5);
    meters_leave(meters, &hold, 10, 0.4);
    CHECK(!enter(meters, 1, 1, &hold, &verdict) && verdict.what == METER_SPENT);
    CHECK(verdict.wait_ms == 12 * 3600000);
    now_ms += verdict.wait_ms; /* midnight: the month goes on */
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_leave(meters, &hold, 10, 4);
    CHECK(!enter(meters, 1, 1, &hold, &verdict));
    now_ms += 24 * 3600000; /* the first of December */
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_leave(meters, &hold, 10, 0);
    meters_free(meters);
}

static void test_a_key_may_go_on_with_what_costs_nothing(void)
{
    struct key_terms terms = {.usd = {1, 0}, .tokens = {0, 100}, .local_when_spent = true};
    struct meters *meters = begin("kone", &terms);
    struct meter_hold hold;
    struct meter_verdict verdict;
    struct meter_budget budget;
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_look(meters, &hold, &budget);
    CHECK(budget.name && budget.used < 0.01 && budget.left_usd > 0.99 && budget.frees);
    CHECK(meters_have_room(meters, &hold, 0.5) && !meters_have_room(meters, &hold, 1.5));
    meters_leave(meters, &hold, 10, 2);
    CHECK(enter(meters, 1, 1, &hold, &verdict)); /* its plan has only tiers without a price */
    meters_look(meters, &hold, &budget);
    CHECK(budget.used >= 1 && !budget.frees && strstr(budget.period, "day"));
    meters_leave(meters, &hold, 200, 0);
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_look(meters, &hold, &budget);
    CHECK(budget.used > 2);
    meters_leave(meters, &hold, 1, 0);
    const struct meter_hold none = {.tokens = 0};
    meters_look(meters, &none, &budget);
    CHECK(!budget.name && isinf(budget.left_usd));
    meters_free(meters);
}

static double sum_usd(const struct key_spent *spent, size_t count, const char *period)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += strcmp(spent[i].period, period) == 0 ? spent[i].usd : 0;
    return sum;
}

static void test_what_was_spent_is_told_once_and_given_back_when_it_cannot_be_kept(void)
{
    struct meters *meters = begin("kone", &key_terms_none);
    struct meter_hold hold;
    struct meter_verdict verdict;
    struct key_spent spent[8];
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_leave(meters, &hold, 10, 0.25);
    size_t count = meters_take(meters, spent, 8);
    CHECK(count == 2 && sum_usd(spent, count, "2026-11-29") > 0.24);
    CHECK(sum_usd(spent, count, "2026-11") > 0.24 && strcmp(spent[0].whom, "kone") == 0);
    CHECK(meters_take(meters, spent, 8) == 0);
    meters_give_back(meters, spent, count);
    CHECK(enter(meters, 1, 1, &hold, &verdict));
    meters_leave(meters, &hold, 10, 0.25);
    now_ms += 24 * 3600000; /* yesterday's is not lost */
    count = meters_take(meters, spent, 8);
    CHECK(count == 2 && fabs(sum_usd(spent, count, "2026-11-29") - 0.5) < 1e-9);
    CHECK(meters_take(meters, spent, 8) == 0);
    meters_restore(
        meters, &(struct key_spent){.whom = "kone", .period = "2026-11", .usd = 7, .tokens = 70});
    meters_restore(
        meters, &(struct key_spent){.whom = "kone", .period = "2026-10", .usd = 9, .tokens = 90});
    CHECK(meters_take(meters, spent, 8) == 0);
    const struct key_terms terms = {.usd = {0, 7.4}, .weight = 1};
    CHECK(meters_set(meters, "kone", &terms, NULL) == TD_OK);
    CHECK(!enter(meters, 1, 1, &hold, &verdict) && verdict.period == KEY_MONTH);
    meters_free(meters);
}

int main(void)
{
    RUN(test_no_minute_has_more_requests_than_the_limit);
    RUN(test_a_refusal_says_when_to_come_back_and_what_is_left);
    RUN(test_tokens_are_reserved_and_settled_by_what_was_used);
    RUN(test_an_answer_that_ends_a_minute_later_takes_nothing_back_from_others);
    RUN(test_a_tenant_limits_all_of_its_keys);
    RUN(test_a_spent_budget_refuses_until_its_period_ends);
    RUN(test_a_key_may_go_on_with_what_costs_nothing);
    RUN(test_what_was_spent_is_told_once_and_given_back_when_it_cannot_be_kept);
    return test_finish();
}

/* Days, promises and the table's end; then exchanges that draw from budgets. */
#include "exchange/limits/spending.h"

#include "world.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#define DAY_MS 86400000u

struct hands {
    uint64_t wall_ms;
    struct clock clock;
};

static uint64_t hands_monotonic(void *ctx)
{
    return ((struct hands *)ctx)->wall_ms * 1000000;
}

static uint64_t hands_wall(void *ctx)
{
    return ((struct hands *)ctx)->wall_ms;
}

static void hands_init(struct hands *hands)
{
    *hands = (struct hands){.wall_ms = 20000ull * DAY_MS + DAY_MS / 2,
                            .clock = {hands_monotonic, hands_wall, hands}};
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void test_a_promise_counts_until_it_is_settled(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 100);
    uint64_t a = spending_key("day", NULL, "anna"), b = spending_key("day", NULL, "ben");
    CHECK(a != b && a != spending_key("da", NULL, "yanna"));
    CHECK(a != spending_key("day", "t1", "anna") &&
          spending_key("day", "t1", "anna") != spending_key("day", "t2", "anna"));
    spending_promise(spending, a, 2);
    CHECK(near(spending_today(spending, a), 2) && near(spending_today(spending, b), 0));
    spending_settle(spending, a, 2, 0.5);
    CHECK(near(spending_today(spending, a), 0.5));
    spending_free(spending);
}

static void test_a_new_day_begins_with_nothing_spent(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 100);
    uint64_t key = spending_key("day", NULL, "");
    spending_settle(spending, key, 0, 3);
    spending_promise(spending, key, 1);
    hands.wall_ms += DAY_MS;
    CHECK(near(spending_today(spending, key), 1)); /* what still runs is still promised */
    spending_free(spending);
}

static void test_who_comes_to_a_full_table_shares_an_entry(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 20);
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "u%d", i);
        spending_settle(spending, spending_key("day", NULL, name), 0, 1);
    }
    CHECK(near(spending_today(spending, spending_key("day", NULL, "u3")), 1));
    CHECK(near(spending_today(spending, spending_key("day", NULL, "u999")), 990));
    /* A neighbour has room all the same, and none of those who share is its user. */
    for (int i = 0; i < 100; i++) {
        char name[16];
        snprintf(name, sizeof name, "u%d", i);
        spending_settle(spending, spending_key("day", "t1", name), 0, 1);
    }
    CHECK(near(spending_today(spending, spending_key("day", "t1", "u4")), 1));
    CHECK(near(spending_today(spending, spending_key("day", "t1", "u99")), 95));
    CHECK(near(spending_today(spending, spending_key("day", NULL, "u999")), 990));
    /* A new day has room again; what is promised stays, with its own. */
    spending_promise(spending, spending_key("day", NULL, "u3"), 2);
    hands.wall_ms += DAY_MS;
    CHECK(near(spending_today(spending, spending_key("day", NULL, "u3")), 2));
    CHECK(near(spending_today(spending, spending_key("day", NULL, "u999")), 0));
    spending_settle(spending, spending_key("day", NULL, "u999"), 0, 1);
    CHECK(near(spending_today(spending, spending_key("day", NULL, "u998")), 0));
    spending_free(spending);
}

static void test_tokens_are_those_of_24_hours(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 10);
    spending_add_tokens(spending, 100);
    hands.wall_ms += DAY_MS - 3600000;
    spending_add_tokens(spending, 10);
    CHECK(near(spending_day_tokens(spending), 110));
    hands.wall_ms += 3600000;
    CHECK(near(spending_day_tokens(spending), 10));
    hands.wall_ms += 10ull * DAY_MS;
    CHECK(near(spending_day_tokens(spending), 0));
    spending_free(spending);
}

static void test_tokens_of_other_hours_count_where_they_are_of_the_last_24(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 10);
    uint64_t now = hands.wall_ms / 3600000;
    spending_add_tokens_of(spending, now - 23, 7);
    spending_add_tokens_of(spending, now - 24, 100);
    spending_add_tokens_of(spending, now + 1, 100);
    spending_add_tokens_of(spending, UINT64_MAX, 100);
    CHECK(near(spending_day_tokens(spending), 7));
    hands.wall_ms += 3600000;
    CHECK(near(spending_day_tokens(spending), 0));
    spending_free(spending);
}

static void test_a_day_begins_at_local_midnight(void)
{
    struct hands hands;
    hands_init(&hands); /* noon in UTC */
    setenv("TZ", "UTC", 1);
    tzset();
    CHECK(spending_day_begin_ms(&hands.clock) == 20000ull * DAY_MS);
    setenv("TZ", "IST-5:30", 1);
    tzset();
    CHECK(spending_day_begin_ms(&hands.clock) == 20000ull * DAY_MS - 19800000u);
    setenv("TZ", "UTC", 1);
    tzset();
}

/* --- exchanges --- */

struct budgeted {
    struct world world;
    struct hands hands;
    struct budget budget;
};

static void budgeted_init(struct budgeted *b, enum budget_per per, double usd)
{
    world_init(&b->world);
    hands_init(&b->hands);
    b->budget = (struct budget){.name = "team", .per = per, .usd_per_day = usd};
    b->world.policy.budgets = &b->budget;
    b->world.policy.budget_count = 1;
    b->world.services.spending = spending_new(&b->hands.clock, 100);
    b->world.request.mode = TD_MODE_PREFER_CLOUD;
    b->world.request.tokens_max = 100;
}

static void budgeted_deinit(struct budgeted *b)
{
    spending_free(b->world.services.spending);
    world_deinit(&b->world);
}

static void test_a_spent_budget_leaves_the_local_tier_and_says_so(void)
{
    struct budgeted b;
    budgeted_init(&b, BUDGET_PER_ALL, 0.0001);
    world_script(&b.world, CLOUD, cloudy);
    world_script(&b.world, LOCAL, sure);
    world_run(&b.world);
    CHECK(strcmp(b.world.tier, "openai") == 0 && !b.world.degraded);
    CHECK(spending_today(b.world.services.spending, spending_key("team", NULL, "")) >= 0.0001);
    world_run(&b.world);
    CHECK(strcmp(b.world.tier, "local") == 0 && b.world.degraded);
    CHECK(strstr(b.world.disclosure, "budget 'team' is spent") != NULL);
    CHECK(world_has_reason(&b.world, REASON_REMOVED_BUDGET, "openai"));
    b.hands.wall_ms += DAY_MS;
    world_run(&b.world);
    CHECK(strcmp(b.world.tier, "openai") == 0);
    budgeted_deinit(&b);
}

static void test_budgets_of_users_are_apart(void)
{
    struct budgeted b;
    budgeted_init(&b, BUDGET_PER_USER, 0.0001);
    world_script(&b.world, CLOUD, cloudy);
    world_script(&b.world, LOCAL, sure);
    b.world.request.user = "anna";
    world_run(&b.world);
    world_run(&b.world);
    CHECK(strcmp(b.world.tier, "local") == 0);
    b.world.request.user = "ben";
    world_run(&b.world);
    CHECK(strcmp(b.world.tier, "openai") == 0);
    b.world.request.user = NULL; /* nobody's budget */
    world_run(&b.world);
    CHECK(strcmp(b.world.tier, "openai") == 0);
    budgeted_deinit(&b);
}

/* Exchanges that run at once are held back by what the others may come to cost. */
static void test_running_exchanges_hold_their_promise(void)
{
    struct budgeted b;
    struct td_error err = {0};
    budgeted_init(&b, BUDGET_PER_ALL, 0.001);
    world_script(&b.world, CLOUD, cloudy);
    REQUIRE(world_start(&b.world, &err) == TD_OK);
    /* 100 prompt tokens at 1 and 100 of an answer at 10 USD a million */
    CHECK(near(spending_today(b.world.services.spending, spending_key("team", NULL, "")), 0.0011));
    exchange_cancel(b.world.exchange);
    b.world.exchange = NULL;
    virtual_loop_run(&b.world.loop, 1000);
    CHECK(near(spending_today(b.world.services.spending, spending_key("team", NULL, "")), 0));
    budgeted_deinit(&b);
}

static void test_without_a_free_tier_a_spent_budget_refuses_with_its_name(void)
{
    struct budgeted b;
    budgeted_init(&b, BUDGET_PER_ALL, 0.0001);
    world_script(&b.world, CLOUD, cloudy);
    b.world.request.mode = TD_MODE_ONLY_CLOUD;
    world_run(&b.world);
    world_run(&b.world);
    CHECK(b.world.status == TD_BUSY && strstr(b.world.message, "budget 'team'"));
    budgeted_deinit(&b);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    RUN(test_a_promise_counts_until_it_is_settled);
    RUN(test_a_new_day_begins_with_nothing_spent);
    RUN(test_who_comes_to_a_full_table_shares_an_entry);
    RUN(test_tokens_are_those_of_24_hours);
    RUN(test_tokens_of_other_hours_count_where_they_are_of_the_last_24);
    RUN(test_a_day_begins_at_local_midnight);
    RUN(test_a_spent_budget_leaves_the_local_tier_and_says_so);
    RUN(test_budgets_of_users_are_apart);
    RUN(test_running_exchanges_hold_their_promise);
    RUN(test_without_a_free_tier_a_spent_budget_refuses_with_its_name);
    return test_finish();
}

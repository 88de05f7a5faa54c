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

/* Each part of a key counts, and where one part ends and the next begins. */
static void test_who_differs_in_anything_has_a_budget_of_his_own(void)
{
    static const struct {
        const char *budget, *tenant, *whom;
    } all[] = {
        {"day", NULL, ""},      {"day", NULL, "a"},     {"day", NULL, "t1a"}, {"dayt1", NULL, "a"},
        {"day", "t1", "a"},     {"day", "t2", "a"},     {"day", "t1", ""},    {"day", "t1a", ""},
        {"week", "t1", "a"},    {"week", NULL, "a"},    {"day", "t", "1a"},   {"day", "", "a"},
        {"day", "cafe", "ann"}, {"day", "c", "afeann"},
    };
    enum { COUNT = sizeof all / sizeof *all };
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 100);
    uint64_t keys[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        keys[i] = spending_key(all[i].budget, all[i].tenant, all[i].whom);
        CHECK(keys[i] == spending_key(all[i].budget, all[i].tenant, all[i].whom));
        spending_settle(spending, keys[i], 0, (double)(i + 1));
    }
    /* The first byte of a key is its tenant's group; two tenants of one group are still two. */
    uint64_t of_t1 = spending_key("day", "t1", "a");
    for (int i = 2, groups = 0; groups < 3; i++) {
        char tenant[16];
        snprintf(tenant, sizeof tenant, "t%d", i);
        uint64_t key = spending_key("day", tenant, "a");
        groups += key >> 56 == of_t1 >> 56;
        CHECK(key != of_t1 && i < 10000);
    }
    for (size_t i = 0; i < COUNT; i++)
        CHECK(near(spending_today(spending, keys[i]), (double)(i + 1)));
    spending_free(spending);
}

static void test_the_id_of_a_key_is_of_16_digits_that_the_secret_and_the_key_decide(void)
{
    static const uint8_t secret[KEYED_KEY_BYTES] = {1}, other[KEYED_KEY_BYTES] = {2};
    static const char digest[] = "0123456789abcdef0123456789abcdef";
    char id[SPENDING_KEY_ID_BYTES + 1], again[SPENDING_KEY_ID_BYTES + 1];
    memset(id, '!', sizeof id);
    spending_key_id(secret, digest, id);
    CHECK(strlen(id) == 16 && strspn(id, "0123456789abcdef") == 16);
    CHECK(id[SPENDING_KEY_ID_BYTES] == '!'); /* no byte beyond */
    CHECK(strncmp(id, digest, 8) != 0);      /* it tells nothing of the digest */
    spending_key_id(secret, "0123456789abcdefANYTHING", again);
    CHECK(strcmp(id, again) == 0); /* the first 16 digits count */
    spending_key_id(secret, "0123456789abcdee", again);
    CHECK(strcmp(id, again) != 0);
    spending_key_id(other, digest, again);
    CHECK(strcmp(id, again) != 0);
}

/* What is paid replaces what was promised; several promises to one are added up. */
static void test_promises_are_added_and_never_below_nothing(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 10);
    uint64_t key = spending_key("day", NULL, "anna");
    spending_promise(spending, key, 2);
    spending_promise(spending, key, 3);
    CHECK(near(spending_today(spending, key), 5) && near(spending_spent(spending, key), 0));
    spending_settle(spending, key, 2, 0.5);
    CHECK(near(spending_today(spending, key), 3.5) && near(spending_spent(spending, key), 0.5));
    spending_settle(spending, key, 3, 0.25);
    CHECK(near(spending_today(spending, key), 0.75) && near(spending_spent(spending, key), 0.75));
    spending_settle(spending, key, 9, 0); /* more than was promised gives nobody money */
    CHECK(near(spending_today(spending, key), 0.75));
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

/* A day later a full table is an empty one, for each tenant and for newcomers. */
static void test_a_full_table_has_all_its_room_again_on_the_next_day(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 20);
    for (int day = 0; day < 3; day++) {
        for (int i = 0; i < 100; i++) {
            char name[16];
            snprintf(name, sizeof name, "d%d-%d", day, i);
            spending_settle(spending, spending_key("day", NULL, name), 0, 1);
        }
        for (int i = 0; i < 10; i++) { /* half of the room is one tenant's */
            char name[16];
            snprintf(name, sizeof name, "d%d-%d", day, i);
            CHECK(near(spending_today(spending, spending_key("day", NULL, name)), 1));
        }
        CHECK(near(spending_today(spending, spending_key("day", NULL, "newcomer")), 90));
        hands.wall_ms += DAY_MS;
    }
    spending_free(spending);
}

/* What is promised over midnight stays promised once, also twice over, and what was spent goes. */
static void test_over_midnight_only_promises_stay(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 10);
    uint64_t own = spending_key("day", NULL, "anna");
    spending_settle(spending, own, 0, 7);
    spending_promise(spending, own, 2);
    hands.wall_ms += DAY_MS / 2 - 1; /* the last millisecond of the day */
    CHECK(near(spending_today(spending, own), 9));
    for (int day = 0; day < 2; day++) {
        hands.wall_ms += day ? DAY_MS : 1;
        CHECK(near(spending_today(spending, own), 2) && near(spending_spent(spending, own), 0));
        hands.wall_ms += 3600000; /* later that day nothing is lost */
        spending_settle(spending, own, 0, 1);
        hands.wall_ms += 3600000;
        CHECK(near(spending_today(spending, own), 3));
        hands.wall_ms -= 2 * 3600000;
    }
    for (int i = 0; i < 50; i++) { /* those who share an entry promise together */
        char name[16];
        snprintf(name, sizeof name, "u%d", i);
        spending_promise(spending, spending_key("day", NULL, name), 1);
    }
    double shared = spending_today(spending, spending_key("day", NULL, "u49"));
    CHECK(shared >= 40);
    hands.wall_ms += DAY_MS;
    CHECK(near(spending_today(spending, own), 2));
    double all = 0;
    for (int i = 0; i < 4; i++) {
        char name[16];
        snprintf(name, sizeof name, "u%d", i);
        all += spending_today(spending, spending_key("day", NULL, name));
    }
    CHECK(near(all, 4)); /* their own entries */
    CHECK(near(spending_today(spending, spending_key("day", NULL, "u49")), shared));
    spending_free(spending);
}

static void test_a_clock_that_is_put_back_counts_no_hour_twice(void)
{
    struct hands hands;
    hands_init(&hands);
    struct spending *spending = spending_new(&hands.clock, 10);
    spending_add_tokens(spending, 5);
    spending_add_tokens_of(spending, hands.wall_ms / 3600000, 2);
    CHECK(near(spending_day_tokens(spending), 7));
    hands.wall_ms -= 3600000;
    CHECK(near(spending_day_tokens(spending), 0)); /* what is of the future is not known */
    spending_add_tokens(spending, 3);
    hands.wall_ms += 24 * 3600000ull;
    CHECK(near(spending_day_tokens(spending), 0));
    for (int hour = 0; hour < 30; hour++) {
        spending_add_tokens(spending, 1);
        CHECK(near(spending_day_tokens(spending), hour < 24 ? hour + 1 : 24));
        hands.wall_ms += 3600000;
    }
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
    CHECK(spending_day_left_ms(&hands.clock) == DAY_MS / 2 - 19800000u);
    setenv("TZ", "UTC", 1);
    tzset();
    CHECK(spending_day_left_ms(&hands.clock) == DAY_MS / 2);
    /* The day on which Berlin's clocks go on by an hour: 2025-03-30, from its midnight. */
    setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
    tzset();
    hands.wall_ms = 1743289200000;
    CHECK(spending_day_left_ms(&hands.clock) == 23 * (uint64_t)3600000);
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

/* Whose money an exchange is paid with, and that of nobody else. */
static void test_a_budget_is_drawn_on_by_those_whom_it_is_for(void)
{
    static const struct app apps[] = {{.name = "mail", .key = "digest-1"}};
    static const struct {
        enum budget_per per;
        const char *user, *tenant, *key, *key_id, *caller; /* of the request */
        const char *of_tenant, *whom;                      /* of the budget */
    } cases[] = {
        {BUDGET_PER_ALL, "anna", "t1", "digest-1", "k1", "c", NULL, ""},
        {BUDGET_PER_USER, "anna", NULL, NULL, NULL, NULL, NULL, "anna"},
        {BUDGET_PER_USER, "anna", "t1", "digest-1", "k1", "c", "t1", "anna"},
        {BUDGET_PER_USER, NULL, "t1", NULL, "k1", "c", "t1", "k1"},
        {BUDGET_PER_USER, NULL, NULL, NULL, NULL, "c", NULL, "c"},
        {BUDGET_PER_USER, NULL, NULL, NULL, NULL, NULL, NULL, ""},
        {BUDGET_PER_APP, "anna", "t1", "digest-1", "k1", "c", NULL, "mail"},
        {BUDGET_PER_APP, "anna", "t1", "digest-2", "k1", "c", NULL, ""},
        {BUDGET_PER_APP, "anna", NULL, NULL, NULL, NULL, NULL, ""},
        {BUDGET_PER_ROUTE, "anna", "t1", "digest-1", "k1", "c", NULL, "auto"},
        {BUDGET_PER_KEY, "anna", "t1", "digest-1", "k1", "c", NULL, "k1"},
        {BUDGET_PER_KEY, "anna", "t1", NULL, NULL, "c", NULL, "c"},
        {BUDGET_PER_KEY, "anna", "t1", NULL, NULL, NULL, NULL, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct budgeted b;
        budgeted_init(&b, cases[i].per, 1);
        struct td_request *request = &b.world.request;
        struct spending *spending = b.world.services.spending;
        b.world.policy.apps = apps;
        b.world.policy.app_count = 1;
        request->user = cases[i].user;
        request->tenant = cases[i].tenant;
        request->key = cases[i].key;
        request->key_id = cases[i].key_id;
        request->caller = cases[i].caller;
        world_script(&b.world, CLOUD, cloudy);
        world_run(&b.world);
        uint64_t key = spending_key("team", cases[i].of_tenant, cases[i].whom);
        /* 100 tokens at 1 and two at 10 USD a million; nothing stays promised */
        double usd = spending_spent(spending, key);
        if (!near(usd, 120e-6))
            fprintf(stderr, "case %zu\n", i);
        CHECK(near(usd, 120e-6) && near(spending_today(spending, key), usd));
        CHECK(near(spending_day_tokens(spending), 102));
        budgeted_deinit(&b);
    }
}

/* The signals say what was known before the request itself. */
static void test_the_tokens_of_the_day_are_told_to_the_next_request(void)
{
    struct budgeted b;
    budgeted_init(&b, BUDGET_PER_ALL, 1);
    world_script(&b.world, CLOUD, cloudy);
    world_run(&b.world);
    CHECK(strstr(ledger_seen.signals, "\"day_tokens\":0"));
    world_run(&b.world);
    CHECK(strstr(ledger_seen.signals, "\"day_tokens\":102"));
    budgeted_deinit(&b);
}

/* An answer is promised with what it may have, up to 1024 tokens, by the dearest tier. */
static void test_the_promise_is_for_the_dearest_answer_that_the_plan_leads_to(void)
{
    static const struct {
        uint32_t tokens_max;
        double usd;
    } cases[] = {{1, 110e-6},      {1023, 10330e-6},       {1024, 10340e-6},
                 {1025, 10340e-6}, {UINT32_MAX, 10340e-6}, {0, 10340e-6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int last = 0; last < 2; last++) { /* whether the dearest is the first or the last */
            struct budgeted b;
            struct td_error err = {0};
            uint64_t key = spending_key("team", NULL, "");
            budgeted_init(&b, BUDGET_PER_ALL, 100);
            b.world.request.tokens_max = cases[i].tokens_max;
            b.world.request.mode = last ? TD_MODE_PREFER_LOCAL : TD_MODE_PREFER_CLOUD;
            world_script(&b.world, CLOUD, cloudy);
            world_script(&b.world, LOCAL, sure);
            REQUIRE(world_start(&b.world, &err) == TD_OK);
            CHECK(near(spending_today(b.world.services.spending, key), cases[i].usd));
            CHECK(near(spending_spent(b.world.services.spending, key), 0));
            exchange_cancel(b.world.exchange);
            b.world.exchange = NULL;
            virtual_loop_run(&b.world.loop, 1000);
            budgeted_deinit(&b);
        }
    }
}

/* What is spent comes back with the day, what is only promised at any time. */
static void test_a_refusal_for_a_budget_says_when_to_come_back(void)
{
    for (int promised = 0; promised < 2; promised++) {
        struct budgeted b;
        uint64_t key = spending_key("team", NULL, "");
        budgeted_init(&b, BUDGET_PER_ALL, 1);
        b.world.services.clock = &b.hands.clock;
        b.world.request.mode = TD_MODE_ONLY_CLOUD;
        spending_settle(b.world.services.spending, key, 0, promised ? 0.5 : 1);
        if (promised)
            spending_promise(b.world.services.spending, key, 0.5);
        world_run(&b.world);
        CHECK(b.world.status == TD_BUSY);
        CHECK(b.world.retry_after_s == (promised ? 0 : DAY_MS / 2 / 1000));
        budgeted_deinit(&b);
    }
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
    RUN(test_who_differs_in_anything_has_a_budget_of_his_own);
    RUN(test_the_id_of_a_key_is_of_16_digits_that_the_secret_and_the_key_decide);
    RUN(test_promises_are_added_and_never_below_nothing);
    RUN(test_a_new_day_begins_with_nothing_spent);
    RUN(test_who_comes_to_a_full_table_shares_an_entry);
    RUN(test_a_full_table_has_all_its_room_again_on_the_next_day);
    RUN(test_over_midnight_only_promises_stay);
    RUN(test_a_clock_that_is_put_back_counts_no_hour_twice);
    RUN(test_tokens_are_those_of_24_hours);
    RUN(test_tokens_of_other_hours_count_where_they_are_of_the_last_24);
    RUN(test_a_day_begins_at_local_midnight);
    RUN(test_a_spent_budget_leaves_the_local_tier_and_says_so);
    RUN(test_budgets_of_users_are_apart);
    RUN(test_a_budget_is_drawn_on_by_those_whom_it_is_for);
    RUN(test_the_tokens_of_the_day_are_told_to_the_next_request);
    RUN(test_the_promise_is_for_the_dearest_answer_that_the_plan_leads_to);
    RUN(test_a_refusal_for_a_budget_says_when_to_come_back);
    RUN(test_running_exchanges_hold_their_promise);
    RUN(test_without_a_free_tier_a_spent_budget_refuses_with_its_name);
    return test_finish();
}

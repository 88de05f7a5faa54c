/* What attempts cost, how servers count tokens, and the account; by several threads. */
#include "exchange/limits/account.h"
#include "exchange/limits/cost.h"
#include "exchange/limits/token_counts.h"

#include "test.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const struct tier_facts cloud = {.name = "cloud",
                                        .model = "big",
                                        .input_usd_per_mtok = 2,
                                        .cached_input_usd_per_mtok = 0.5,
                                        .output_usd_per_mtok = 10};

static void test_cached_tokens_have_their_own_price(void)
{
    struct tier_usage usage = {.prompt_tokens = 100, .completion_tokens = 20, .cached_tokens = 60};
    CHECK(fabs(cost_usd(&cloud, &usage) - (40 * 2 + 60 * 0.5 + 20 * 10) / 1e6) < 1e-15);
    usage.cached_tokens = 1000; /* never more than there were */
    CHECK(fabs(cost_usd(&cloud, &usage) - (100 * 0.5 + 20 * 10) / 1e6) < 1e-15);
}

static void test_what_came_is_estimated(void)
{
    const struct token_ratio ratio = {.prompt = 1, .answer = 2};
    static const struct {
        struct cost_seen seen;
        uint32_t tokens;
    } cases[] = {
        {{100, 0, 0, 0}, 0},
        {{100, 0, 41, 0}, 21},  /* twice a quarter of the bytes, rounded up */
        {{100, 7, 41, 0}, 7},   /* counted tokens need no estimate */
        {{100, 0, 0, 80}, 20},  /* nothing but reasoning yet */
        {{100, 0, 40, 60}, 20}, /* the ratio holds what comes beside an answer */
        {{100, 0, UINT64_MAX, 0}, UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tier_usage usage = cost_usage_seen(&cases[i].seen, &ratio);
        CHECK(usage.prompt_tokens == 100 && usage.completion_tokens == cases[i].tokens);
        CHECK(!usage.exact);
    }
}

/* What a text would have cost elsewhere: a server that makes more tokens of it charges more. */
static void test_a_text_costs_by_the_servers_own_count_of_tokens(void)
{
    static const struct {
        struct token_ratio ratio;
        uint32_t prompt;
        uint64_t answer_bytes;
        double usd;
    } cases[] = {
        {{.prompt = 1, .answer = 1}, 1000, 400, (1000 * 2 + 100 * 10) / 1e6},
        {{.prompt = 2, .answer = 1}, 1000, 400, (2000 * 2 + 100 * 10) / 1e6},
        {{.prompt = 0.5, .answer = 1}, 1000, 400, (500 * 2 + 100 * 10) / 1e6},
        {{.prompt = 1, .answer = 3}, 1000, 400, (1000 * 2 + 300 * 10) / 1e6},
        {{.prompt = 1, .answer = 0.5}, 1000, 400, (1000 * 2 + 50 * 10) / 1e6},
        {{.prompt = 2, .answer = 1, .cached = 0.25},
         1000,
         0,
         (1500 * 2 + 500 * 0.5) / 1e6}, /* the share is of the server's own tokens */
        {{.prompt = 1, .answer = 1}, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double usd = cost_of_text(&cloud, &cases[i].ratio, cases[i].prompt, cases[i].answer_bytes);
        CHECK(fabs(usd - cases[i].usd) < 1e-15);
    }
}

static void test_a_ratio_is_learnt_from_five_usages_and_bounded(void)
{
    struct token_counts *counts = token_counts_new();
    struct token_ratio ratio;
    struct token_sums one = {1, 100, 130, 13, 10, 25};
    REQUIRE(counts != NULL);
    for (int i = 0; i < TOKEN_COUNTS_MIN; i++) {
        token_counts_read(counts, &cloud, &ratio);
        CHECK(!ratio.learnt && ratio.prompt == 1 && ratio.answer == 1 && ratio.cached == 0);
        token_counts_add(counts, "cloud", "big", &one);
    }
    token_counts_read(counts, &cloud, &ratio);
    CHECK(ratio.learnt && fabs(ratio.prompt - 1.3) < 1e-9 && fabs(ratio.answer - 2.5) < 1e-9);
    CHECK(fabs(ratio.cached - 0.1) < 1e-9);
    struct tier_facts other = cloud;
    other.model = "another";
    token_counts_read(counts, &other, &ratio);
    CHECK(!ratio.learnt); /* another model counts otherwise */
    struct token_sums lie = {100, 1, 1e12, 0, 1, 1e12};
    token_counts_add(counts, "cloud", "big", &lie);
    token_counts_read(counts, &cloud, &ratio);
    CHECK(ratio.prompt == 64 && ratio.answer == 64);
    struct token_sums few = {100, 1e12, 1, 0, 1e12, 1};
    token_counts_add(counts, "cloud", "less", &few);
    other.model = "less";
    token_counts_read(counts, &other, &ratio);
    CHECK(ratio.learnt && ratio.prompt == 0.125 && ratio.answer == 0.125);
    token_counts_read(NULL, &cloud, &ratio);
    CHECK(!ratio.learnt && ratio.prompt == 1);
    token_counts_free(counts);
}

static void test_old_usages_are_forgotten_and_models_are_bounded(void)
{
    struct token_counts *counts = token_counts_new();
    struct token_ratio ratio;
    const struct token_sums old = {1, 10, 10, 0, 10, 10}, new = {1, 10, 20, 0, 10, 20};
    REQUIRE(counts != NULL);
    for (int i = 0; i < 2000; i++)
        token_counts_add(counts, "cloud", "big", &old);
    for (int i = 0; i < 10000; i++)
        token_counts_add(counts, "cloud", "big", &new);
    token_counts_read(counts, &cloud, &ratio);
    CHECK(ratio.prompt > 1.98 && ratio.prompt <= 2 && ratio.answer > 1.98 && ratio.answer <= 2);
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "m%d", i);
        token_counts_add(counts, "cloud", name, &old);
    }
    token_counts_read(counts, &cloud, &ratio);
    CHECK(ratio.learnt);
    token_counts_free(counts);
}

static void test_a_tier_and_a_model_are_told_apart_and_without_any_text_nothing_is_learnt(void)
{
    static const struct {
        struct token_sums sums;
        bool learnt;
    } cases[] = {
        {{TOKEN_COUNTS_MIN, 10, 20, 0, 10, 20}, true},
        {{TOKEN_COUNTS_MIN - 1, 10, 20, 0, 10, 20}, false},
        {{TOKEN_COUNTS_MIN, 0, 20, 0, 10, 20}, false},
        {{TOKEN_COUNTS_MIN, 10, 20, 0, 0, 20}, false},
        {{TOKEN_COUNTS_MIN, 10, 0, 5, 10, 20}, true}, /* a share of nothing is nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct token_counts *counts = token_counts_new();
        struct token_ratio ratio;
        REQUIRE(counts != NULL);
        token_counts_add(counts, "clo", "udbig", &cases[i].sums);
        token_counts_add(counts, "cloudb", "ig", &cases[i].sums);
        token_counts_add(counts, "clouX", "big", &cases[i].sums);
        token_counts_read(counts, &cloud, &ratio);
        CHECK(!ratio.learnt);
        token_counts_add(counts, "cloud", "big", &cases[i].sums);
        token_counts_read(counts, &cloud, &ratio);
        CHECK(ratio.learnt == cases[i].learnt && isfinite(ratio.cached));
        CHECK(!ratio.learnt || ratio.answer == 2);
        token_counts_free(counts);
    }
}

/* Each tier has its own sums; what is degraded counts apart, and nothing for who got nothing. */
static void test_the_account_has_the_costs_of_each_tier(void)
{
    static const struct account_entry entries[] = {
        {"cloud", 1, 10, 0.5, ANSWER_FULL},   {"local", 0, 20, 0, ANSWER_FULL},
        {"cloud", 2, 40, 0, ANSWER_DEGRADED}, {NULL, 4, 80, 0.25, ANSWER_NONE},
        {"clou", 8, 0, 0, ANSWER_FULL},       {"cloud2", 16, 0, 0, ANSWER_FULL},
    };
    static const struct {
        const char *name;
        double usd;
        uint64_t refused;
    } tiers[] = {{"cloud", 3, 2}, {"local", 0, 0}, {"", 4, 0}, {"clou", 8, 0}, {"cloud2", 16, 1}};
    struct account *account = account_new();
    struct account_numbers numbers;
    REQUIRE(account != NULL);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
        account_add(account, &entries[i]);
    account_refuse_usage(account, "cloud");
    account_refuse_usage(account, "cloud");
    account_refuse_usage(account, "cloud2");
    account_read(account, &numbers);
    REQUIRE(numbers.tier_count == sizeof tiers / sizeof *tiers);
    for (size_t i = 0; i < numbers.tier_count; i++) {
        CHECK(strcmp(numbers.tiers[i].name, tiers[i].name) == 0);
        CHECK(numbers.tiers[i].cost_usd == tiers[i].usd);
        CHECK(numbers.tiers[i].usages_refused == tiers[i].refused);
    }
    CHECK(numbers.all_cloud_usd == 30 && numbers.degraded_all_cloud_usd == 40);
    CHECK(numbers.estimated_usd == 0.75);
    account_free(account);
}

static void test_of_more_tiers_than_fit_the_last_ones_share_a_place(void)
{
    struct account *account = account_new();
    struct account_numbers numbers;
    char name[2 * ACCOUNT_NAME_BYTES];
    REQUIRE(account != NULL);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < ACCOUNT_TIERS_MAX + 2; i++) {
            memset(name, 'x', sizeof name);
            snprintf(name, sizeof name, "t%02d", i);
            if (i == 0) /* longer than a name is kept: found again all the same */
                name[3] = 'y';
            name[sizeof name - 1] = '\0';
            account_add(account, &(struct account_entry){.tier = name, .cost_usd = 1});
        }
    account_read(account, &numbers);
    REQUIRE(numbers.tier_count == ACCOUNT_TIERS_MAX + 1);
    for (int i = 0; i < ACCOUNT_TIERS_MAX; i++) {
        snprintf(name, sizeof name, "t%02d", i);
        CHECK(strncmp(numbers.tiers[i].name, name, 3) == 0 && numbers.tiers[i].cost_usd == 2);
    }
    CHECK(strlen(numbers.tiers[0].name) == ACCOUNT_NAME_BYTES - 1);
    CHECK(strcmp(numbers.tiers[ACCOUNT_TIERS_MAX].name, "other") == 0);
    CHECK(numbers.tiers[ACCOUNT_TIERS_MAX].cost_usd == 4);
    account_free(account);
}

static void *account_adder(void *ctx)
{
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i % 50); /* more than it keeps apart */
        const struct account_entry entry = {
            .tier = i % 10 ? name : NULL,
            .cost_usd = 1,
            .all_cloud_usd = 2,
            .estimated_usd = 0.5,
            .standing = (enum answer_standing)(i % 3),
        };
        account_add(ctx, &entry);
        account_refuse_usage(ctx, name);
    }
    return NULL;
}

static void test_the_account_adds_up_over_threads_and_tiers(void)
{
    struct account *account = account_new();
    pthread_t threads[4];
    struct account_numbers numbers;
    REQUIRE(account != NULL);
    for (int i = 0; i < 4; i++)
        REQUIRE(pthread_create(&threads[i], NULL, account_adder, account) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    account_read(account, &numbers);
    double cost = 0;
    uint64_t refused = 0;
    for (size_t i = 0; i < numbers.tier_count; i++) {
        cost += numbers.tiers[i].cost_usd;
        refused += numbers.tiers[i].usages_refused;
    }
    CHECK(numbers.tier_count == ACCOUNT_TIERS_MAX + 1 && cost == 4000 && refused == 4000);
    CHECK(strcmp(numbers.tiers[ACCOUNT_TIERS_MAX].name, "other") == 0);
    CHECK(numbers.estimated_usd == 2000);
    CHECK(numbers.all_cloud_usd == 4 * 333 * 2 && numbers.degraded_all_cloud_usd == 4 * 333 * 2);
    account_free(account);
}

int main(void)
{
    RUN(test_cached_tokens_have_their_own_price);
    RUN(test_what_came_is_estimated);
    RUN(test_a_text_costs_by_the_servers_own_count_of_tokens);
    RUN(test_a_tier_and_a_model_are_told_apart_and_without_any_text_nothing_is_learnt);
    RUN(test_the_account_has_the_costs_of_each_tier);
    RUN(test_of_more_tiers_than_fit_the_last_ones_share_a_place);
    RUN(test_a_ratio_is_learnt_from_five_usages_and_bounded);
    RUN(test_old_usages_are_forgotten_and_models_are_bounded);
    RUN(test_the_account_adds_up_over_threads_and_tiers);
    return test_finish();
}

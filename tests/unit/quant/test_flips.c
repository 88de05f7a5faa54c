/* Groups whose answers flip: exact values, then planted flips in simulated traffic. */
#include "quant/measure/flips.h"

#include "base/crypto/rng.h"
#include "test.h"

#include <math.h>

#define LINES 2000
#define GROUPS 20 /* of 5 % each */
#define SEEDS 100

static bool is_near(double a, double b)
{
    return fabs(a - b) < 1e-9 * fmax(1, fabs(b));
}

static void test_tails_are_those_of_the_books(void)
{
    /* Fisher's tea: 8 cups, 4 of each; all 4 right by chance: 1/70, at least 3: 17/70. */
    CHECK(is_near(flips_draw_tail(8, 4, 4, 4), 1.0 / 70));
    CHECK(is_near(flips_draw_tail(8, 4, 4, 3), 17.0 / 70));
    CHECK(is_near(flips_draw_tail(8, 4, 4, 0), 1));
    CHECK(is_near(flips_draw_tail(8, 7, 5, 4), 1)); /* fewer are not possible */
    CHECK(is_near(flips_draw_tail(8, 4, 4, 5), 0));
    CHECK(is_near(flips_draw_tail(10, 0, 4, 1), 0));
    CHECK(is_near(flips_binomial_tail(10, 0.5, 10), 1.0 / 1024));
    CHECK(is_near(flips_binomial_tail(10, 0.5, 9), 11.0 / 1024));
    CHECK(is_near(flips_binomial_tail(5, 0, 1), 0) && is_near(flips_binomial_tail(5, 1, 5), 1));
}

static void test_p_values_are_adjusted_by_holm(void)
{
    struct flips_group groups[3] = {
        {.count = 20, .flips = 1}, {.count = 20, .flips = 9}, {.count = 20, .flips = 2}};
    struct flips_group all = {.count = 60, .flips = 12};
    struct td_error err = {0};
    REQUIRE(flips_judge(groups, 3, &all, (double)NAN, &err) == TD_OK);
    CHECK(is_near(groups[1].p, 3 * flips_draw_tail(60, 12, 20, 9)));
    CHECK(is_near(groups[2].p, fmin(1, 2 * flips_draw_tail(60, 12, 20, 2))));
    CHECK(groups[0].p >= groups[2].p);
    CHECK(groups[1].stands_out && !groups[0].stands_out && !groups[2].stands_out);
    CHECK(groups[1].low < 0.45 && groups[1].high > 0.45 && groups[1].low > 0.2);
    CHECK(!groups[1].over_limit); /* without a limit */
}

static void test_a_limit_is_broken_only_by_enough_lines(void)
{
    struct flips_group groups[2] = {{.count = 3, .flips = 1}, {.count = 300, .flips = 60}};
    struct flips_group all = {.count = 303, .flips = 61};
    struct td_error err = {0};
    REQUIRE(flips_judge(groups, 2, &all, 0.1, &err) == TD_OK);
    CHECK(!groups[0].over_limit && groups[1].over_limit && all.over_limit);
    CHECK(!groups[0].stands_out && !groups[1].stands_out); /* they are the same */
}

/* Lines of GROUPS groups; a line flips with `share`, in group 7 with `planted`. */
static void play(struct rng *rng, double share, double planted, struct flips_group groups[GROUPS],
                 struct flips_group *all)
{
    memset(groups, 0, GROUPS * sizeof *groups);
    *all = (struct flips_group){.count = LINES};
    for (size_t i = 0; i < LINES; i++) {
        size_t group = i % GROUPS;
        bool flip = rng_double(rng) < (group == 7 ? planted : share);
        groups[group].count++;
        groups[group].flips += flip;
        all->flips += flip;
    }
}

static void test_a_planted_cluster_is_named_and_no_other(void)
{
    size_t found = 0, false_ones = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rng rng;
        struct flips_group groups[GROUPS], all;
        struct td_error err = {0};
        rng_init(&rng, seed);
        play(&rng, 0.03, 0.4, groups, &all);
        REQUIRE(flips_judge(groups, GROUPS, &all, (double)NAN, &err) == TD_OK);
        CHECK((double)all.flips < 0.07 * LINES); /* the mean looks fine */
        for (size_t g = 0; g < GROUPS; g++)
            *(g == 7 ? &found : &false_ones) += groups[g].stands_out;
    }
    printf("planted: named %zu times of %d, others %zu\n", found, SEEDS, false_ones);
    CHECK(found == SEEDS && false_ones <= 5);
}

static void test_without_a_cause_no_cluster_is_accused(void)
{
    size_t accused = 0, over = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct rng rng;
        struct flips_group groups[GROUPS], all;
        struct td_error err = {0};
        rng_init(&rng, 1000 + seed);
        play(&rng, 0.03, 0.03, groups, &all);
        REQUIRE(flips_judge(groups, GROUPS, &all, 0.03, &err) == TD_OK);
        for (size_t g = 0; g < GROUPS; g++) {
            accused += groups[g].stands_out;
            over += groups[g].over_limit;
        }
    }
    printf("no cause: accused %zu, over the limit %zu\n", accused, over);
    CHECK(accused <= 5 && over <= 5);
}

int main(void)
{
    RUN(test_tails_are_those_of_the_books);
    RUN(test_p_values_are_adjusted_by_holm);
    RUN(test_a_limit_is_broken_only_by_enough_lines);
    RUN(test_a_planted_cluster_is_named_and_no_other);
    RUN(test_without_a_cause_no_cluster_is_accused);
    return test_finish();
}

/* Tables of outcomes, intervals by the bootstrap, and which plans are worth their cost. */
#include "router/learn/pareto.h"

#include "base/core/str.h"
#include "base/crypto/rng.h"
#include "router/learn/bootstrap.h"
#include "test.h"

#include <math.h>

/* --- bootstrap --- */

static void test_intervals_hold_the_truth_in_95_of_100_runs(void)
{
    struct rng rng;
    int held = 0, paired_narrower = 0;
    rng_init(&rng, 17);
    for (int run = 0; run < 200; run++) {
        double values[300][3]; /* a, b = a + .1 or so, b - a */
        struct bootstrap_interval out[3];
        for (size_t i = 0; i < 300; i++) {
            values[i][0] = rng_double(&rng);
            values[i][1] = values[i][0] + 0.2 * rng_double(&rng);
            values[i][2] = values[i][1] - values[i][0];
        }
        REQUIRE(bootstrap_means(values[0], 300, 3, 0.95, (uint64_t)run, out, NULL) == TD_OK);
        held += out[0].low <= 0.5 && 0.5 <= out[0].high;
        paired_narrower += out[2].high - out[2].low < out[0].high - out[0].low;
        CHECK(out[0].low <= out[0].mean && out[0].mean <= out[0].high);
    }
    CHECK(held >= 184 && held <= 196 + 3); /* 95 % +- 3 */
    CHECK(paired_narrower == 200);
}

static void test_missing_values_are_left_out_and_runs_repeat(void)
{
    double values[4][2] = {{1, NAN}, {2, NAN}, {NAN, NAN}, {3, NAN}};
    struct bootstrap_interval one[2], two[2];
    REQUIRE(bootstrap_means(values[0], 4, 2, 0.95, 1, one, NULL) == TD_OK);
    REQUIRE(bootstrap_means(values[0], 4, 2, 0.95, 1, two, NULL) == TD_OK);
    CHECK(one[0].mean == 2 && one[0].low >= 1 && one[0].high <= 3);
    CHECK(isnan(one[1].mean) && isnan(one[1].low));
    CHECK(one[0].low == two[0].low && one[0].high == two[0].high);
}

/* --- tables --- */

static bool refused(const char *text, const char *word)
{
    struct outcomes outcomes;
    struct td_error err = {0};
    bool ok = outcomes_read(str_from(text), &outcomes, &err) == TD_OK;
    outcomes_deinit(&outcomes);
    return !ok && strstr(err.message, word);
}

#define CLOUD_OF "\"cloud\":{\"right\":1,\"cost_usd\":0.01,\"ms\":900}"

static void test_tables_are_read_and_broken_lines_refused(void)
{
    struct outcomes outcomes;
    struct td_error err = {0};
    REQUIRE(outcomes_read(STR("{\"id\":\"ex_1\",\"p_local\":0.5,\"local\":{\"right\":true,"
                              "\"cost_usd\":0,\"ms\":100,\"confidence\":0.75}," CLOUD_OF "}\n\n"
                              "{\"local\":{\"right\":0.5,\"cost_usd\":0,\"ms\":1}," CLOUD_OF "}"),
                          &outcomes, &err) == TD_OK);
    CHECK(outcomes.count == 2 && strcmp(outcomes.rows[0].id, "ex_1") == 0);
    CHECK(outcomes.rows[0].confidence == 0.75 && isnan(outcomes.rows[0].probe));
    CHECK(isnan(outcomes.rows[1].confidence) && outcomes.rows[1].local.right == 0.5);
    outcomes_deinit(&outcomes);
    CHECK(refused("", "no outcomes") && refused("{", "line 1") && refused("[]", "object"));
    CHECK(refused("{" CLOUD_OF "}", "\"local\""));
    CHECK(refused("{\"local\":{\"right\":2,\"cost_usd\":0,\"ms\":1}," CLOUD_OF "}", "local.right"));
    CHECK(refused("{\"local\":{\"right\":1,\"cost_usd\":-1,\"ms\":1}," CLOUD_OF "}",
                  "local.cost_usd"));
    CHECK(refused("{\"local\":{\"right\":1,\"cost_usd\":0}," CLOUD_OF "}", "local.ms"));
    CHECK(refused("{\"p_local\":\"x\",\"local\":{\"right\":1,\"cost_usd\":0,\"ms\":1}," CLOUD_OF
                  "}",
                  "p_local"));
    CHECK(refused("{\"id\":7,\"local\":{\"right\":1,\"cost_usd\":0,\"ms\":1}," CLOUD_OF "}",
                  "\"id\""));
}

/* --- plans --- */

static struct outcomes make(struct outcome_row *rows, size_t count, uint64_t seed)
{
    struct rng rng;
    rng_init(&rng, seed);
    for (size_t i = 0; i < count; i++) {
        double ease = rng_double(&rng);
        rows[i] = (struct outcome_row){
            .local = {rng_double(&rng) < ease, 0.0001, 200},
            .cloud = {rng_double(&rng) < 0.9, 0.002, 900},
            .confidence = ease,
            .p_local = 0.5 * ease + 0.5 * rng_double(&rng),
            .probe = NAN,
        };
    }
    return (struct outcomes){rows, count, count};
}

static const struct pareto_plan *plan_of(const struct pareto *pareto, enum pareto_pattern pattern)
{
    for (size_t i = 0; i < pareto->count; i++)
        if (pareto->plans[i].pattern == pattern)
            return &pareto->plans[i];
    return NULL;
}

static void test_each_pattern_pays_for_what_it_asks(void)
{
    struct outcome_row rows[2] = {
        {.local = {1, 0.1, 100},
         .cloud = {1, 1, 900},
         .confidence = 0.9,
         .p_local = 0.9,
         .probe = 0.9},
        {.local = {0, 0.1, 100},
         .cloud = {1, 1, 900},
         .confidence = 0.1,
         .p_local = 0.1,
         .probe = 0.1},
    };
    struct outcomes outcomes = {rows, 2, 2};
    static struct pareto pareto;
    REQUIRE(pareto_find(&outcomes, &pareto, NULL) == TD_OK);
    const struct pareto_plan *plan = plan_of(&pareto, PARETO_LOCAL);
    CHECK(plan->share_local == 1 && plan->right == 0.5 && fabs(plan->cost_usd - 0.1) < 1e-12);
    plan = plan_of(&pareto, PARETO_CLOUD);
    CHECK(plan->share_local == 0 && plan->right == 1 && plan->ms == 900);
    plan = plan_of(&pareto, PARETO_G0);
    REQUIRE(plan != NULL);
    CHECK(plan->right == 1 && fabs(plan->cost_usd - 0.55) < 1e-12 && plan->ms == 500);
    plan = plan_of(&pareto, PARETO_G1);
    REQUIRE(plan != NULL);
    CHECK(plan->right == 1 && fabs(plan->cost_usd - 0.56) < 1e-12 && plan->ms == 510);
    plan = plan_of(&pareto, PARETO_G3);
    REQUIRE(plan != NULL);
    CHECK(plan->right == 1 && fabs(plan->cost_usd - 0.6) < 1e-12 && plan->ms == 550 &&
          plan->ms_p95 == 1000);
}

static void test_the_front_is_what_no_plan_beats(void)
{
    static struct outcome_row rows[2000];
    static struct pareto pareto;
    struct outcomes outcomes = make(rows, 2000, 5);
    REQUIRE(pareto_find(&outcomes, &pareto, NULL) == TD_OK);
    CHECK(!plan_of(&pareto, PARETO_G1)); /* no row has a probe */
    size_t best = 0;
    for (size_t i = 0; i < pareto.count; i++) {
        const struct pareto_plan *a = &pareto.plans[i];
        best += a->best;
        for (size_t j = 0; a->best && j < pareto.count; j++) {
            const struct pareto_plan *b = &pareto.plans[j];
            CHECK(!(b->cost_usd < a->cost_usd && b->right > a->right && b->ms < a->ms));
        }
    }
    CHECK(best > 5 && best < pareto.count);
    CHECK(plan_of(&pareto, PARETO_LOCAL)->best); /* the cheapest */
    static double right[2000];
    double sum = 0;
    const struct pareto_plan *plan = plan_of(&pareto, PARETO_G0_G3);
    pareto_quality(&outcomes, plan, right);
    for (size_t i = 0; i < 2000; i++)
        sum += right[i];
    CHECK(fabs(sum / 2000 - plan->right) < 1e-12);
}

static void test_scores_that_are_all_the_same_make_no_plan(void)
{
    struct outcome_row rows[3];
    static struct pareto pareto;
    struct outcomes outcomes = make(rows, 3, 1);
    for (size_t i = 0; i < 3; i++)
        rows[i].confidence = rows[i].p_local = 0.5;
    REQUIRE(pareto_find(&outcomes, &pareto, NULL) == TD_OK);
    CHECK(pareto.count == 2);
    outcomes.count = 0;
    REQUIRE(pareto_find(&outcomes, &pareto, NULL) == TD_OK && pareto.count == 0);
}

int main(void)
{
    RUN(test_intervals_hold_the_truth_in_95_of_100_runs);
    RUN(test_missing_values_are_left_out_and_runs_repeat);
    RUN(test_tables_are_read_and_broken_lines_refused);
    RUN(test_each_pattern_pays_for_what_it_asks);
    RUN(test_the_front_is_what_no_plan_beats);
    RUN(test_scores_that_are_all_the_same_make_no_plan);
    return test_finish();
}

#include "router/learn/risk.h"

#include "base/crypto/rng.h"
#include "router/learn/tune.h"
#include "test.h"

#include <math.h>

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-12;
}

static void test_the_samples_needed_are_those_of_the_formula(void)
{
    /* (1 - risk) / (risk - loss), rounded up. */
    CHECK(risk_count_min(0.05, 0) == 19 && risk_count_min(0.05, 0.025) == 38);
    CHECK(risk_count_min(0.05, 0.04) == 95);
    CHECK(risk_count_min(0.02, 0) == 49 && risk_count_min(0.02, 0.01) == 98);
    CHECK(risk_count_min(0.02, 0.016) == 245);
    CHECK(risk_count_min(0.10, 0) == 9 && risk_count_min(0.10, 0.05) == 18);
    CHECK(risk_count_min(0.05, 0.05) == SIZE_MAX && risk_count_min(0.05, 0.2) == SIZE_MAX);
}

static void test_the_bar_is_the_lowest_that_holds(void)
{
    /* 99 answers, every tenth from the top wrong: (k + 1) / 100 <= 0.05 keeps four wrong ones. */
    struct risk_sample samples[99];
    for (size_t i = 0; i < 99; i++)
        samples[i] = (struct risk_sample){1 - 0.01 * (double)i, i % 10 == 9};
    struct risk_bar bar;
    risk_find_bar(samples, 99, 0.05, &bar);
    CHECK(bar.outcome == RISK_REACHED && bar.kept == 49);
    CHECK(near(bar.threshold, 1 - 0.01 * 48) && near(bar.loss_kept, 4 / 99.0));
    CHECK(near(bar.loss_all, 9 / 99.0) && bar.count_min == 19);
}

static void test_equal_scores_stand_or_fall_together(void)
{
    struct risk_sample samples[40];
    for (size_t i = 0; i < 40; i++)
        samples[i] = (struct risk_sample){i < 20 ? 0.9 : 0.5, i == 30 || i == 31};
    struct risk_bar bar;
    risk_find_bar(samples, 40, 0.05, &bar); /* allowed: 41 * 0.05 - 1 = 1.05 */
    CHECK(bar.outcome == RISK_REACHED && bar.kept == 20 && near(bar.threshold, 0.9));
    CHECK(bar.loss_kept == 0);
}

static void test_a_score_of_wrong_answers_may_be_made_good_by_nothing_below(void)
{
    struct risk_sample samples[60];
    for (size_t i = 0; i < 60; i++) /* the surest three are wrong: 61 * 0.05 - 1 = 2.05 allowed */
        samples[i] = (struct risk_sample){1 - 0.01 * (double)i, i < 3};
    struct risk_bar bar;
    risk_find_bar(samples, 60, 0.05, &bar);
    CHECK(bar.outcome == RISK_REACHED && bar.kept == 2);
    for (size_t i = 0; i < 60; i++)
        samples[i] = (struct risk_sample){0.7, i < 4};
    risk_find_bar(samples, 60, 0.05, &bar);
    CHECK(bar.outcome == RISK_TOO_WEAK && bar.kept == 0 && isinf(bar.threshold));
}

static void test_too_few_samples_reach_nothing(void)
{
    struct risk_sample samples[19];
    struct risk_bar bar;
    for (size_t i = 0; i < 19; i++)
        samples[i] = (struct risk_sample){0.5, 0};
    risk_find_bar(samples, 18, 0.05, &bar);
    CHECK(bar.outcome == RISK_TOO_FEW && isinf(bar.threshold) && bar.count_min == 19);
    risk_find_bar(samples, 19, 0.05, &bar);
    CHECK(bar.outcome == RISK_REACHED && bar.kept == 19);
    risk_find_bar(samples, 0, 0.05, &bar);
    CHECK(bar.outcome == RISK_TOO_FEW && bar.loss_all == 0);
}

/* A question's score is uniform and its answer right with a probability of its own that grows with
 * the score, so that the true risk of a bar has a closed form: the integral from b to 1 of
 * 0.6 (1 - s)^2 is 0.2 (1 - b)^3. */
static struct risk_sample draw(struct rng *rng)
{
    double score = rng_double(rng);
    return (struct risk_sample){score, rng_double(rng) < 0.6 * (1 - score) * (1 - score)};
}

static double true_risk(double bar)
{
    double rest = bar > 1 ? 0 : 1 - bar;
    return 0.2 * rest * rest * rest;
}

static void test_over_resamples_the_mean_risk_taken_is_at_most_the_one_asked(void)
{
    static const double risks[] = {0.02, 0.05, 0.1};
    static const size_t counts[] = {60, 200, 1000};
    struct rng rng;
    rng_init(&rng, 11);
    for (size_t r = 0; r < 3; r++) {
        for (size_t c = 0; c < 3; c++) {
            double taken = 0, kept = 0;
            for (int resample = 0; resample < 200; resample++) {
                struct risk_sample samples[1000];
                struct risk_bar bar;
                for (size_t i = 0; i < counts[c]; i++)
                    samples[i] = draw(&rng);
                risk_find_bar(samples, counts[c], risks[r], &bar);
                taken += true_risk(bar.threshold) / 200;
                kept += (bar.threshold > 1 ? 0 : 1 - bar.threshold) / 200;
            }
            CHECK(taken <= risks[r] + 0.01);
            /* Not by keeping nothing: with many samples it comes near to what can be kept. */
            double most = cbrt(risks[r] / 0.2) < 1 ? cbrt(risks[r] / 0.2) : 1;
            CHECK(counts[c] < 1000 || kept > most - 0.08);
        }
    }
}

/* --- by task --- */

static void add(struct judged_answers *labelled, double score, double right, const char *task)
{
    struct td_error err = {0};
    struct td_str name = {task, task ? strlen(task) : 0};
    CHECK(judged_answers_add(labelled, score, right, name, &err) == TD_OK);
}

static void test_tasks_with_samples_enough_get_their_own_bar(void)
{
    struct judged_answers labelled = {0};
    struct td_error err = {0};
    static struct tune_result result;
    for (int i = 0; i < 100; i++) { /* chat: always right; maths: right from .5 on; rare: few */
        add(&labelled, i / 100.0, 1, "chat");
        add(&labelled, i / 100.0, i >= 50, "maths");
        if (i < 10)
            add(&labelled, 0.9, 0, "rare");
        if (i < 30)
            add(&labelled, i / 100.0, 1, NULL);
    }
    const struct tune_options options = {THRESHOLD_G3, 0.05, true};
    REQUIRE(tune(&labelled, &options, &result, &err) == TD_OK);
    const struct thresholds *thresholds = &result.thresholds;
    CHECK(thresholds->task_count == 2 && result.reached && result.count == 240);
    CHECK(near(thresholds_find(thresholds, "chat"), 0));
    CHECK(near(thresholds_find(thresholds, "maths"), 0.46)); /* 101 * .05 - 1: four wrong */
    /* "rare" and answers without a task share the rest: 41 * .05 - 1 allows one wrong, and ten
     * stand at the top. */
    CHECK(isinf(thresholds_find(thresholds, "rare")) && isinf(thresholds_find(thresholds, "")));
    CHECK(result.rest.outcome == RISK_TOO_WEAK && result.rest.count == 40);
    CHECK(near(result.loss_kept, 4 / 240.0) && result.kept == 154);
    const struct tune_options together = {THRESHOLD_G3, 0.05, false};
    REQUIRE(tune(&labelled, &together, &result, &err) == TD_OK);
    CHECK(result.thresholds.task_count == 0 && result.rest.count == 240);
    judged_answers_deinit(&labelled);
}

static void test_no_answers_are_too_few(void)
{
    struct judged_answers labelled = {0};
    struct td_error err = {0};
    static struct tune_result result;
    const struct tune_options options = {THRESHOLD_G1, 0.1, true};
    REQUIRE(tune(&labelled, &options, &result, &err) == TD_OK);
    CHECK(!result.reached && result.rest.outcome == RISK_TOO_FEW);
}

int main(void)
{
    RUN(test_the_samples_needed_are_those_of_the_formula);
    RUN(test_the_bar_is_the_lowest_that_holds);
    RUN(test_equal_scores_stand_or_fall_together);
    RUN(test_a_score_of_wrong_answers_may_be_made_good_by_nothing_below);
    RUN(test_too_few_samples_reach_nothing);
    RUN(test_over_resamples_the_mean_risk_taken_is_at_most_the_one_asked);
    RUN(test_tasks_with_samples_enough_get_their_own_bar);
    RUN(test_no_answers_are_too_few);
    return test_finish();
}
